//! What is logged.

use std::str::FromStr;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// Levels by module: `info`, or `info,covergence::cluster=debug`. It is a filter layer by itself.
pub type LogFilter = Targets;

/// Reads a filter.
///
/// # Errors
/// When it is none, in words for people.
pub fn log_filter(text: &str) -> Result<LogFilter, String> {
    for directive in text.split(',') {
        // `Targets` takes a word alone for a module, so that `inof` would switch everything else off, and nothing for `error`.
        let is_level = !directive.is_empty() && LevelFilter::from_str(directive).is_ok();
        if !is_level && !directive.contains('=') {
            return Err(format!(
                "{directive:?} is no level; give error, warn, info, debug, trace or off, \
                 and for a module alone, module=level"
            ));
        }
    }
    let filter: LogFilter = text.parse().map_err(|error| format!("{error}"))?;
    // What the client library says of a failed request we say ourselves, with what it was for.
    Ok(if text.contains(CLIENT) {
        filter
    } else {
        filter.with_target(CLIENT, LevelFilter::OFF)
    })
}

/// The module of the client library, which logs each answer that is an error as one.
const CLIENT: &str = "kube_client";

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn modules_may_have_levels_of_their_own() {
        let filter = log_filter("warn,covergence::cluster=debug").unwrap();
        assert!(filter.would_enable("covergence::cluster::read", &Level::DEBUG));
        assert!(!filter.would_enable("covergence::source", &Level::INFO));
        assert!(filter.would_enable("hyper", &Level::WARN));
    }

    #[test]
    fn the_client_library_is_heard_only_when_it_is_named() {
        let heard = |text| {
            let filter = log_filter(text).unwrap();
            filter.would_enable("kube_client::client", &Level::ERROR)
        };
        assert!(!heard("debug"));
        assert!(heard("info,kube_client=debug"));
    }

    #[test]
    fn a_slip_of_the_pen_does_not_switch_the_log_off() {
        let error = log_filter("inof").unwrap_err();
        assert!(error.starts_with("\"inof\" is no level"), "{error}");
        for text in ["", "info,", "covergence=loud", "info;debug"] {
            log_filter(text).unwrap_err();
        }
    }
}
