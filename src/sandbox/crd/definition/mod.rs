//! Definitions themselves: their defaults, their rules, and how they become kinds.

mod defaults;
mod established;
mod extensions;
mod rules;
mod structural;
mod versions;

pub use self::defaults::default;
pub use self::established::established;
pub use self::rules::validate;
