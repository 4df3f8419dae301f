//! One line of the log.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde_json::Value;
use tracing::Level;

use super::super::diagnostics::printable;
use super::fields::Fields;

const DIM: Style = Style::new().dimmed();

/// What a line is made of.
pub(super) struct Line<'a> {
    pub time: Timestamp,
    pub level: Level,
    pub target: &'a str,
    pub fields: Fields,
}

impl Line<'_> {
    /// One JSON object. A field cannot take the place of what every line has.
    pub(super) fn json(&self) -> String {
        let mut object = self.fields.0.clone();
        object.entry("message").or_insert_with(|| "".into());
        object.insert("time".into(), self.moment().into());
        let level = self.level.as_str().to_ascii_lowercase();
        object.insert("level".into(), level.into());
        object.insert("target".into(), self.target.into());
        format!("{}\n", Value::Object(object))
    }

    /// The moment, the level, the message, and the fields as `name=value`.
    pub(super) fn text(&self, coloured: bool) -> String {
        let style = |style: Style| if coloured { style } else { Style::new() };
        let (dim, strong) = (style(DIM), style(level_style(self.level)));
        let fields = &self.fields.0;
        let message = fields.get("message").map(plain).unwrap_or_default();
        let mut line = format!(
            "{dim}{}{dim:#} {strong}{:>5}{strong:#} {}",
            self.moment(),
            self.level.as_str(),
            printable(&message)
        );
        for (name, value) in fields.iter().filter(|(name, _)| *name != "message") {
            let value = printable(&quoted(&plain(value)));
            // Writing to a String cannot fail.
            let _ = write!(line, " {dim}{name}={dim:#}{value}");
        }
        line.push('\n');
        line
    }

    /// RFC 3339 with milliseconds, in UTC.
    fn moment(&self) -> String {
        format!("{:.3}", self.time)
    }
}

fn level_style(level: Level) -> Style {
    match level {
        Level::ERROR => AnsiColor::Red.on_default().bold(),
        Level::WARN => AnsiColor::Yellow.on_default().bold(),
        Level::INFO => AnsiColor::Green.on_default(),
        Level::DEBUG => AnsiColor::Blue.on_default(),
        _ => DIM,
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Puts quotes around what would not be one word, and escapes in it what would break the line.
fn quoted(text: &str) -> String {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || c == '"' || c == '=';
    if text.is_empty() || text.contains(breaks) {
        format!("{text:?}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn line(fields: Value) -> Line<'static> {
        let Value::Object(fields) = fields else {
            panic!("fields are an object");
        };
        Line {
            time: "2026-01-31T09:30:00.25Z".parse().unwrap(),
            level: Level::INFO,
            target: "covergence::reconcile",
            fields: Fields(fields),
        }
    }

    #[test]
    fn text_is_one_line_whatever_it_says() {
        let line = line(json!({
            "message": "the server said:\nno\u{1b}[2J",
            "error": "a\n2026-01-31T09:30:00.250Z ERROR forged",
            "name": "\u{1b}]0;x\u{7}",
            "empty": "",
            "count": 3,
            "flipped": "a\u{202e}b",
        }));
        assert_eq!(
            line.text(false),
            "2026-01-31T09:30:00.250Z  INFO the server said:\u{fffd}no\u{fffd}[2J count=3 empty=\"\" \
             error=\"a\\n2026-01-31T09:30:00.250Z ERROR forged\" flipped=a\u{fffd}b name=\"\\u{1b}]0;x\\u{7}\"\n"
        );
    }

    #[test]
    fn colours_do_not_change_the_words() {
        let line = line(json!({ "message": "applied", "sync": "shop/pets" }));
        let coloured = line.text(true);
        assert!(coloured.contains('\u{1b}'));
        assert_eq!(
            anstream::adapter::strip_str(&coloured).to_string(),
            line.text(false)
        );
    }

    #[test]
    fn json_has_the_fields_beside_what_every_line_has() {
        let line =
            line(json!({ "message": "a\nb", "sync": "shop/pets", "count": 3, "level": "forged" }));
        let text = line.json();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!({
                "time": "2026-01-31T09:30:00.250Z",
                "level": "info",
                "target": "covergence::reconcile",
                "message": "a\nb",
                "sync": "shop/pets",
                "count": 3,
            })
        );
    }
}
