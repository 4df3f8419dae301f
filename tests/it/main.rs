//! One integration binary, one file per behaviour.

mod load_reading;
