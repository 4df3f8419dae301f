//! `-w`: look again and again, and tell what has changed.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{self, Write};
use std::time::Duration;

use tokio::time::sleep;

use super::diagnostics::printable;
use super::error::CliError;
use crate::reconcile::now;

/// Between two looks: soon enough for people, and seldom enough for an API server.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// What is seen, a line for each object, by what it is called.
pub type Lines = BTreeMap<String, String>;

/// Looks again every two seconds and shows what has changed, as before and after, until something cannot be read at all
/// or printed. A server that is away for a while is told once and waited for.
pub async fn follow<T: PartialEq>(
    mut before: T,
    look: impl AsyncFn() -> Result<T, CliError>,
    show: impl Fn(&T, &T) -> Result<(), CliError>,
) -> Result<Infallible, CliError> {
    let mut away = false;
    loop {
        sleep(LOOK_AGAIN).await;
        match look().await {
            Ok(after) => {
                away = false;
                if after != before {
                    show(&before, &after)?;
                    before = after;
                }
            }
            Err(CliError::Cluster(error)) if error.is_transient() => {
                if !away {
                    let text = printable(&format!("{error}; looking again"));
                    writeln!(anstream::stderr(), "{text}")?;
                }
                away = true;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Prints the lines that are new or other than before, and what is gone, each with the time.
pub fn print_changes(before: &Lines, after: &Lines) -> io::Result<()> {
    let time = now();
    let mut out = anstream::stdout().lock();
    for change in changes(before, after) {
        writeln!(out, "{time}  {}", printable(&change))?;
    }
    Ok(())
}

fn changes(before: &Lines, after: &Lines) -> Vec<String> {
    let changed = after
        .iter()
        .filter(|(name, line)| before.get(*name) != Some(line))
        .map(|(name, line)| format!("{name}  {line}"));
    let gone = before
        .keys()
        .filter(|name| !after.contains_key(*name))
        .map(|name| format!("{name}  gone"));
    changed.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::cluster::ClusterError;

    #[test]
    fn only_differences_are_told() {
        let lines = |lines: &[(&str, &str)]| -> Lines {
            let owned = lines.iter().map(|(k, v)| ((*k).into(), (*v).into()));
            owned.collect()
        };
        let before = lines(&[("a", "True"), ("b", "True"), ("c", "True")]);
        let after = lines(&[("a", "True"), ("b", "False"), ("d", "True")]);
        assert_eq!(changes(&before, &after), ["b  False", "d  True", "c  gone"]);
    }

    #[tokio::test(start_paused = true)]
    async fn it_goes_on_over_an_outage_and_ends_with_an_error_that_stays() {
        let answers = RefCell::new(vec![
            Err(ClusterError::Forbidden("no more".into())),
            Ok(3),
            Err(ClusterError::Unreachable("away".into())),
            Ok(2),
            Ok(1),
        ]);
        let shown = RefCell::new(Vec::new());
        let look = async || Ok(answers.borrow_mut().pop().unwrap()?);
        let show = |before: &i32, after: &i32| {
            shown.borrow_mut().push((*before, *after));
            Ok(())
        };
        let ended = follow(1, look, show).await;
        assert!(matches!(
            ended,
            Err(CliError::Cluster(ClusterError::Forbidden(_)))
        ));
        assert_eq!(*shown.borrow(), [(1, 2), (2, 3)]);
    }
}
