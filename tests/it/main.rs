//! One integration binary, one file per behaviour.

mod load_printing;
mod load_reading;
