//! The same requests, sent to a sandbox and to a real API server: what they answer must not differ.
//!
//! Differences that are meant are listed in `src/sandbox/DIFFERENCES.md`, and named in [`rules`]; no other is let pass.

mod align;
mod answer;
pub mod definition;
pub mod generate;
mod normal;
mod pair;
mod random;
mod rules;
mod sequence;
mod shrink;
mod step;
mod told;

pub use normal::sorted;
pub use pair::Pair;
pub use random::{Plan, survey};
pub use sequence::Story;
pub use step::{CONFIG_MAPS, POD_TEMPLATES, SERVICES};
