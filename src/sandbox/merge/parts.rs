//! The parts of a set by name.

use std::borrow::Borrow as _;

use super::set::FieldSet;

/// Parts by name, in the order of the names. There are few of them: in a vector they take less room and time than in a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts(Vec<(Box<str>, FieldSet)>);

impl Parts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &FieldSet)> {
        self.0.iter().map(|(name, part)| (name.borrow(), part))
    }

    pub(super) fn get(&self, name: &str) -> Option<&FieldSet> {
        let place = self.place(name).ok()?;
        self.0.get(place).map(|(_, part)| part)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut FieldSet> {
        let place = self.place(name).ok()?;
        self.0.get_mut(place).map(|(_, part)| part)
    }

    /// Puts a part in, in the place of one of the same name.
    pub(super) fn insert(&mut self, name: Box<str>, part: FieldSet) {
        // Most come in order.
        if self.0.last().is_none_or(|(last, _)| *last < name) {
            return self.0.push((name, part));
        }
        match self.place(&name) {
            Err(place) => self.0.insert(place, (name, part)),
            Ok(place) => {
                if let Some((_, known)) = self.0.get_mut(place) {
                    *known = part;
                }
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Ok(place) = self.place(name) {
            self.0.remove(place);
        }
    }

    /// Adds all of others.
    pub(super) fn add(&mut self, others: &Self) {
        for (name, other) in &others.0 {
            match self.get_mut(name) {
                Some(part) => part.add(other),
                None => self.insert(name.clone(), other.clone()),
            }
        }
    }

    /// Takes out all that is in others.
    pub(super) fn subtract(&mut self, others: &Self) {
        if others.is_empty() {
            return;
        }
        self.0.retain_mut(|(name, part)| {
            let Some(other) = others.get(name) else {
                return true;
            };
            part.subtract(other);
            !part.is_empty()
        });
    }

    /// What is in both.
    pub(super) fn common(&self, others: &Self) -> Self {
        let both = self.0.iter().filter_map(|(name, part)| {
            let both = part.common(others.get(name)?);
            (!both.is_empty()).then(|| (name.clone(), both))
        });
        Self(both.collect())
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0
            .binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }
}
