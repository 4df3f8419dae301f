//! The long-running service: watches, converges, repairs.

mod queue;
