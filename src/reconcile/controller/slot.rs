//! A value that one part replaces and others look at.

use std::sync::{Arc, PoisonError, RwLock};

/// A value that one part replaces and others look at; nobody waits longer than a copy of a pointer takes.
#[derive(Debug)]
pub struct Slot<T>(RwLock<Option<Arc<T>>>);

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self(RwLock::new(None))
    }
}

impl<T> Slot<T> {
    /// What is in it, if anything.
    pub fn get(&self) -> Option<Arc<T>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Puts something into it, or takes it out.
    pub fn set(&self, value: Option<Arc<T>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = value;
    }
}
