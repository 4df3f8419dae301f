use std::collections::VecDeque;
use std::sync::Mutex;

use futures_util::{FutureExt, stream};

use super::*;

type Line = Result<Event<u32>, ClusterError>;

/// What the server does next. Objects are named by their versions.
enum Act {
    List(Result<(&'static [u32], u32), ClusterError>),
    /// Events, and after how many seconds the watch ends.
    Watch(Result<(Vec<Line>, u64), ClusterError>),
}

/// A server that does what is written here, and then nothing for ever; and all that was seen of it.
#[derive(Default)]
struct Script {
    acts: Mutex<VecDeque<Act>>,
    log: Mutex<Vec<String>>,
    begin: Mutex<Option<Instant>>,
    /// After how long a kind that is not there may be there.
    defined: Option<Duration>,
}

impl Script {
    fn log(&self, what: String) {
        self.log.lock().unwrap().push(what);
    }

    fn next(&self) -> Option<Act> {
        self.acts.lock().unwrap().pop_front()
    }

    /// Seconds since the last request.
    fn pause(&self) -> u64 {
        let now = Instant::now();
        let last = self.begin.lock().unwrap().replace(now);
        last.map_or(0, |last| (now - last).as_secs())
    }
}

impl Feed for Script {
    type Object = u32;

    async fn list(&self) -> Result<Listed<u32>, ClusterError> {
        self.log(format!("list after {} s", self.pause()));
        match self.next() {
            Some(Act::List(answer)) => answer.map(|(items, version)| Listed {
                items: items.to_vec(),
                version: version.to_string(),
            }),
            Some(Act::Watch(_)) => panic!("a watch was expected"),
            None => std::future::pending().await,
        }
    }

    async fn watch(
        &self,
        from: String,
    ) -> Result<impl Stream<Item = Result<Event<u32>, ClusterError>> + Send + Unpin, ClusterError>
    {
        self.log(format!("watch from {from} after {} s", self.pause()));
        match self.next() {
            Some(Act::Watch(answer)) => answer.map(|(events, seconds)| {
                let end = sleep(Duration::from_secs(seconds)).map(|()| None);
                let end = stream::once(end).filter_map(std::future::ready);
                Box::pin(stream::iter(events).chain(end))
            }),
            Some(Act::List(_)) => panic!("a list was expected"),
            None => std::future::pending().await,
        }
    }
}

impl Sink<u32> for Script {
    fn replace(&self, listed: Listed<u32>) {
        self.log(format!("all {:?}", listed.items));
    }

    fn apply(&self, object: u32) {
        self.log(format!("applied {object}"));
    }

    fn delete(&self, object: u32) {
        self.log(format!("deleted {object}"));
    }

    fn resume(&self) {}

    async fn may_be_there(&self) {
        match self.defined {
            Some(after) => sleep(after).await,
            None => std::future::pending().await,
        }
    }

    fn trouble(&self, error: &ClusterError) {
        self.log(error.to_string());
    }
}

fn applied(version: u32) -> Line {
    Ok(Event::Applied(version, version.to_string()))
}

fn unreachable() -> ClusterError {
    ClusterError::Unreachable("reset".into())
}

/// All that happens within an hour.
async fn hour(acts: impl IntoIterator<Item = Act>) -> Vec<String> {
    hour_of(Script::default(), acts).await
}

async fn hour_of(script: Script, acts: impl IntoIterator<Item = Act>) -> Vec<String> {
    script.acts.lock().unwrap().extend(acts);
    let followed = timeout(Duration::from_secs(3600), follow(&script, &script)).await;
    assert!(followed.is_err(), "it never ends");
    script.log.into_inner().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_goes_on_from_the_last_version_at_once() {
    let mark = Ok(Event::Bookmark("30".into()));
    let log = hour([
        Act::List(Ok((&[3, 5], 10))),
        Act::Watch(Ok((
            vec![applied(12), Ok(Event::Deleted(12, "13".into()))],
            250,
        ))),
        Act::Watch(Ok((vec![mark], 280))),
    ])
    .await;
    assert_eq!(
        log,
        [
            "list after 0 s",
            "all [3, 5]",
            "watch from 10 after 0 s",
            "applied 12",
            "deleted 12",
            "watch from 13 after 250 s",
            "watch from 30 after 280 s",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_loses_nothing_and_is_tried_ever_more_slowly() {
    let mut acts = vec![
        Act::List(Ok((&[3], 10))),
        Act::Watch(Ok((vec![applied(12), Err(unreachable())], 0))),
    ];
    acts.extend((0..8).map(|_| Act::Watch(Err(unreachable()))));
    acts.push(Act::Watch(Ok((vec![applied(13), Err(unreachable())], 0))));
    let log = hour(acts).await;
    assert_eq!(
        log.iter().filter(|line| line.starts_with("list")).count(),
        1
    );
    let pauses: Vec<u64> = log
        .iter()
        .filter_map(|line| line.strip_prefix("watch from 12 after ")?.split(' ').next())
        .map(|seconds| seconds.parse().unwrap())
        .collect();
    assert_eq!(pauses.len(), 9, "{log:?}");
    assert!(pauses[0] <= 1, "{pauses:?}");
    assert!(pauses.iter().all(|pause| *pause <= 30), "{pauses:?}");
    assert!(
        pauses.iter().skip(6).all(|pause| *pause >= 15),
        "{pauses:?}"
    );
    // Once it works again, the next trouble is tried soon.
    let last = log.last().unwrap();
    assert!(
        ["watch from 13 after 0 s", "watch from 13 after 1 s"].contains(&last.as_str()),
        "{last}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_is_a_reason_to_list_anew() {
    let expired = || ClusterError::Expired("too old resource version".into());
    let log = hour([
        Act::List(Ok((&[3], 10))),
        // As an event, and as an answer.
        Act::Watch(Ok((vec![applied(12), Err(expired())], 0))),
        Act::List(Ok((&[3, 12, 20], 20))),
        Act::Watch(Err(expired())),
        Act::List(Ok((&[40], 40))),
    ])
    .await;
    let log: Vec<&str> = log
        .iter()
        .map(|line| line.split(" after").next().unwrap())
        .collect();
    assert_eq!(
        log,
        [
            "list",
            "all [3]",
            "watch from 10",
            "applied 12",
            "list",
            "all [3, 12, 20]",
            "watch from 20",
            "list",
            "all [40]",
            "watch from 40",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_only_people_can_change_is_tried_slowly() {
    let forbidden = || ClusterError::Forbidden("no".into());
    let gone = ClusterError::NotFound("the server could not find the requested resource".into());
    let mut acts: Vec<Act> = (0..8).map(|_| Act::List(Err(forbidden()))).collect();
    acts.push(Act::List(Err(gone)));
    acts.push(Act::List(Ok((&[3], 10))));
    acts.push(Act::Watch(Err(forbidden())));
    let log = hour(acts).await;
    let pauses: Vec<u64> = log
        .iter()
        .filter_map(|line| line.strip_prefix("list after ")?.split(' ').next())
        .map(|seconds| seconds.parse().unwrap())
        .collect();
    assert_eq!(pauses.len(), 11, "{log:?}");
    assert!((5..=10).contains(&pauses[1]), "{pauses:?}");
    let slow = &pauses[6..];
    assert!(slow.iter().all(|p| (150..=300).contains(p)), "{pauses:?}");
    assert!(log.contains(&"not allowed: no".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_was_not_there_is_tried_as_soon_as_it_is_defined() {
    let script = Script {
        defined: Some(Duration::from_secs(2)),
        ..Script::default()
    };
    let gone = || Act::List(Err(ClusterError::NotFound("no such resource".into())));
    // Discovery may lag behind the definition.
    let log = hour_of(script, [gone(), gone(), Act::List(Ok((&[3], 10)))]).await;
    assert_eq!(
        log,
        [
            "list after 0 s",
            "no such resource",
            "list after 2 s",
            "no such resource",
            "list after 2 s",
            "all [3]",
            "watch from 10 after 0 s",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_each_watch_at_once_is_not_flooded() {
    let acts = std::iter::once(Act::List(Ok((&[], 1))));
    let watches = (0..200).map(|_| Act::Watch(Ok((Vec::new(), 0))));
    let log = hour(acts.chain(watches)).await;
    let watches = log.iter().filter(|line| line.starts_with("watch")).count();
    assert!((120..=250).contains(&watches), "{watches}");
}

#[test]
fn watches_do_not_all_end_together() {
    let lengths: std::collections::BTreeSet<u32> = (0..100).map(|_| watch_seconds()).collect();
    assert!(lengths.len() > 10, "{lengths:?}");
    let silence = u32::try_from(SILENCE.as_secs()).unwrap();
    assert!(
        lengths
            .iter()
            .all(|s| (240..=290).contains(s) && *s < silence)
    );
}
