//! Tokens that nobody guesses.

use std::hash::{BuildHasher as _, RandomState};

/// 128 bits in hexadecimal.
///
/// A [`RandomState`] has keys from the operating system, and its hash (SipHash) does not give them away.
pub fn token() -> String {
    let keys = RandomState::new();
    format!("{:016x}{:016x}", keys.hash_one(1), keys.hash_one(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_comes_twice() {
        let token = token();
        assert_eq!(token.len(), 32);
        assert_ne!(token, super::token());
    }
}
