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
    text.parse().map_err(|error| format!("{error}"))
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn modules_may_have_levels_of_their_own() {
        let filter = log_filter("warn,covergence::cluster=debug").unwrap();
        assert!(filter.would_enable("covergence::cluster::read", &Level::DEBUG));
        assert!(!filter.would_enable("covergence::source", &Level::INFO));
        assert!(filter.would_enable("kube_client", &Level::WARN));
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
