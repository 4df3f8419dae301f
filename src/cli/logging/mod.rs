//! The log of a long run, on stderr: lines for people, or JSON for programs.
//!
//! A line carries the fields of the spans it was written in, as if they were its own; where names are the same, those of the
//! event win over those of a span, and inner spans over outer ones. So `jq 'select(.sync == "shop/pets")'` and
//! `grep sync=shop/pets` find all that concerns a Sync, and nobody has to know how spans are nested.

mod fields;
mod filter;
mod line;

use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use jiff::Timestamp;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Registry, reload};

use self::fields::Fields;
pub use self::filter::{LogFilter, log_filter};
use self::line::Line;
use super::error::CliError;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// `2026-01-31T09:30:00.250Z  INFO applied object="Service shop/pets" sync=shop/pets`, coloured on a terminal.
    Text,
    /// One JSON object in a line: `time`, `level`, `target`, `message`, and the fields beside them.
    Json,
}

/// Changes what is logged while the process runs.
#[derive(Clone, Debug)]
pub struct LogHandle(reload::Handle<LogFilter, Registry>);

impl LogHandle {
    /// Logs what this filter lets pass, from now on.
    ///
    /// # Errors
    /// When nothing is logged any more.
    pub fn set(&self, filter: LogFilter) -> io::Result<()> {
        self.0.reload(filter).map_err(io::Error::other)
    }
}

/// Starts logging to stderr, for the whole process.
///
/// # Errors
/// When something logs already.
pub fn init(format: LogFormat, filter: LogFilter) -> Result<LogHandle, CliError> {
    let coloured = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    let lines = Lines {
        write: move |line: &Line<'_>| {
            let line = match format {
                LogFormat::Text => line.text(coloured),
                LogFormat::Json => line.json(),
            };
            // Nobody is left to tell when this fails.
            let _ = io::stderr().lock().write_all(line.as_bytes());
        },
    };
    let (filter, handle) = reload::Layer::new(filter);
    let subscriber = tracing_subscriber::registry().with(filter).with(lines);
    tracing::subscriber::set_global_default(subscriber).map_err(io::Error::other)?;
    Ok(LogHandle(handle))
}

/// Makes a line of each event.
struct Lines<W> {
    write: W,
}

impl<S, W> Layer<S> for Lines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Fn(&Line<'_>) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        let spans = context.event_scope(event).into_iter();
        for span in spans.flat_map(|scope| scope.from_root()) {
            if let Some(of_span) = span.extensions().get::<Fields>() {
                fields.extend(of_span);
            }
        }
        event.record(&mut fields);
        let metadata = event.metadata();
        (self.write)(&Line {
            time: Timestamp::now(),
            level: *metadata.level(),
            target: metadata.target(),
            fields,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::{debug, info, info_span, subscriber};

    use super::*;

    /// What is logged meanwhile, without times.
    fn logged(run: impl FnOnce(&LogHandle)) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let layer = Lines {
            write: move |line: &Line<'_>| {
                let text = line.text(false);
                let (_, rest) = text.split_once(' ').unwrap();
                kept.lock().unwrap().push(rest.trim().to_owned());
            },
        };
        let (filter, handle) = reload::Layer::new("info".parse().unwrap());
        let subscriber = tracing_subscriber::registry().with(filter).with(layer);
        subscriber::with_default(subscriber, || run(&LogHandle(handle)));
        let lines = lines.lock().unwrap();
        lines.clone()
    }

    #[test]
    fn a_line_has_the_fields_of_its_spans_and_the_nearest_win() {
        let lines = logged(|_| {
            let _sync = info_span!("sync", sync = "shop/pets", revision = tracing::field::Empty);
            let sync = _sync.enter();
            info!("read");
            _sync.record("revision", "main@sha1:1");
            let object = info_span!("object", object = "Service shop/pets").entered();
            info!(revision = "other", count = 3, "applied");
            drop(object);
            info!("done");
            drop(sync);
            info!("outside");
        });
        assert_eq!(
            lines,
            [
                "INFO read sync=shop/pets",
                r#"INFO applied count=3 object="Service shop/pets" revision=other sync=shop/pets"#,
                "INFO done revision=main@sha1:1 sync=shop/pets",
                "INFO outside",
            ]
        );
    }

    #[test]
    fn the_filter_changes_at_run_time() {
        let lines = logged(|handle| {
            debug!("not yet");
            handle.set("debug".parse().unwrap()).unwrap();
            debug!("now");
            handle.set("warn".parse().unwrap()).unwrap();
            info!("no more");
        });
        assert_eq!(lines, ["DEBUG now"]);
    }
}
