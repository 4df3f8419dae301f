//! Integration tests: one binary, one file per behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
mod boundaries;
mod cli;
mod generated;
mod load_printing;
mod load_reading;
mod source_directory;
mod source_git_local;
mod source_git_remote;
mod source_git_ssh;
mod support;
