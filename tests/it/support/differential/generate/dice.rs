//! Chance, and small values.

use fastrand::Rng;
use serde_json::{Map, Value, json};

pub struct Dice(Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    /// Both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        self.0.u32(low..=high)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.0.usize(0..from.len())]
    }

    /// A field, which is often left out.
    pub fn some(
        &mut self,
        object: &mut Value,
        percent: u32,
        name: &str,
        value: impl FnOnce(&mut Self) -> Value,
    ) {
        if self.chance(percent) {
            object[name] = value(self);
        }
    }

    pub fn word(&mut self) -> Value {
        (*self.pick(&["x", "y", "z"])).into()
    }

    /// Some of a few keys with small values.
    pub fn words(&mut self) -> Value {
        let mut words = Map::new();
        for key in ["a", "b", "c"] {
            if self.chance(45) {
                words.insert(key.to_owned(), self.word());
            }
        }
        words.into()
    }

    /// Some of these, in their order.
    pub fn few(&mut self, from: &[Value]) -> Value {
        let few = from.iter().filter(|_| self.chance(45));
        few.cloned().collect()
    }

    /// At least one of these, in their order.
    pub fn one_or_more(&mut self, from: &[Value]) -> Vec<Value> {
        match self.few(from) {
            Value::Array(few) if !few.is_empty() => few,
            _ => vec![self.pick(from).clone()],
        }
    }

    pub fn metadata(&mut self) -> Value {
        let mut metadata = json!({ "name": "$NAME" });
        self.some(&mut metadata, 50, "labels", Self::words);
        self.some(&mut metadata, 30, "annotations", Self::words);
        self.some(&mut metadata, 6, "finalizers", |dice| {
            dice.few(&["x.io/a", "x.io/b"].map(Value::from))
        });
        self.some(&mut metadata, 5, "ownerReferences", |dice| {
            dice.few(&["a", "b"].map(|name| {
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("uid-{name}") })
            }))
        });
        metadata
    }
}
