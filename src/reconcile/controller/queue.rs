//! Work by key: each key runs alone, runs again when it was asked for meanwhile, and never waits for another's failures.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::Debug;
use std::future::poll_fn;
use std::hash::Hash;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue;

/// Why a key is to run; reasons of several calls add up until it does.
pub trait Reasons: Default + Send + 'static {
    /// Takes in the reasons of another call.
    fn add(&mut self, other: Self);

    /// Tells whether a run that is only waiting should give way to them.
    fn interrupts(&self) -> bool;
}

/// Asks for runs. Cheap to clone.
pub struct Queue<K, R>(mpsc::UnboundedSender<(K, R)>);

impl<K, R> Clone for Queue<K, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, R> Queue<K, R> {
    /// Makes a queue and what [`work`] takes from it.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<(K, R)>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Asks for a run as soon as may be.
    pub fn add(&self, key: K, reasons: R) {
        // Nobody is left to run anything when this fails.
        let _ = self.0.send((key, reasons));
    }
}

/// One run of a key.
pub struct Job<K, R> {
    /// What to look at.
    pub key: K,
    /// Why.
    pub reasons: R,
    /// Is cancelled when the run should give way: to newer reasons, or to the end of everything.
    pub give_way: CancellationToken,
}

/// When a key runs again without being asked for; `None` when it does not.
pub type Again = Option<Duration>;

/// Runs what is asked for until `stop`, then lets the runs in hand end.
///
/// At most `most` keys run at once, in the order in which they were asked for. A run that panics ends only itself.
/// `depth` is told how many keys wait each time that changes.
pub async fn work<K, R, F>(
    mut asked: mpsc::UnboundedReceiver<(K, R)>,
    most: usize,
    stop: CancellationToken,
    depth: impl Fn(usize),
    run: impl Fn(Job<K, R>) -> F,
) where
    K: Clone + Debug + Ord + Hash + Send + 'static,
    R: Reasons,
    F: Future<Output = Again> + Send + 'static,
{
    let mut state = State {
        ready: VecDeque::new(),
        waiting: BTreeMap::new(),
        running: HashMap::new(),
        keys: HashMap::new(),
        delayed: DelayQueue::new(),
        alarms: HashMap::new(),
    };
    let mut runs = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some((key, reasons)) = asked.recv() => {
                state.ask(key, reasons);
                // Many requests often come at once, and are as well taken in at once.
                while let Ok((key, reasons)) = asked.try_recv() {
                    state.ask(key, reasons);
                }
            }
            Some(ended) = runs.join_next_with_id(), if !runs.is_empty() => {
                let (id, again) = match ended {
                    Ok((id, again)) => (id, again),
                    Err(error) => {
                        tracing::error!("a run ended badly: {error}");
                        (error.id(), Some(AFTER_A_PANIC))
                    }
                };
                state.ended(id, again);
            }
            key = state.alarm() => state.ask(key, R::default()),
        }
        while state.running.len() < most {
            let Some(job) = state.next(&stop) else { break };
            let (key, give_way) = (job.key.clone(), job.give_way.clone());
            let id = runs.spawn(run(job)).id();
            state.keys.insert(id, key.clone());
            state.running.insert(key, give_way);
        }
        depth(state.ready.len());
    }
    while runs.join_next().await.is_some() {}
}

/// A run that panics may do so again: it gets its turn, but not all the time.
const AFTER_A_PANIC: Duration = Duration::from_secs(60);

struct State<K, R> {
    /// Keys whose turn comes, in order; each is in `waiting` too.
    ready: VecDeque<K>,
    /// Why keys are to run.
    waiting: BTreeMap<K, R>,
    /// Keys that run, and how to ask them to give way.
    running: HashMap<K, CancellationToken>,
    keys: HashMap<Id, K>,
    delayed: DelayQueue<K>,
    alarms: HashMap<K, delay_queue::Key>,
}

impl<K: Clone + Ord + Hash, R: Reasons> State<K, R> {
    fn ask(&mut self, key: K, reasons: R) {
        if let Some(alarm) = self.alarms.remove(&key) {
            self.delayed.try_remove(&alarm);
        }
        if let Some(give_way) = self.running.get(&key)
            && reasons.interrupts()
        {
            give_way.cancel();
        }
        match self.waiting.get_mut(&key) {
            Some(known) => known.add(reasons),
            None => {
                self.waiting.insert(key.clone(), reasons);
                if !self.running.contains_key(&key) {
                    self.ready.push_back(key);
                }
            }
        }
    }

    fn next(&mut self, stop: &CancellationToken) -> Option<Job<K, R>> {
        let key = self.ready.pop_front()?;
        let reasons = self.waiting.remove(&key).unwrap_or_default();
        Some(Job {
            key,
            reasons,
            give_way: stop.child_token(),
        })
    }

    fn ended(&mut self, id: Id, again: Again) {
        let Some(key) = self.keys.remove(&id) else {
            return;
        };
        self.running.remove(&key);
        if self.waiting.contains_key(&key) {
            self.ready.push_back(key);
        } else if let Some(delay) = again {
            let alarm = self.delayed.insert(key.clone(), delay);
            self.alarms.insert(key, alarm);
        }
    }

    /// Waits for the next key whose time has come; for ever when there is none.
    async fn alarm(&mut self) -> K {
        let key = poll_fn(|cx| match self.delayed.poll_expired(cx) {
            Poll::Ready(Some(expired)) => Poll::Ready(expired.into_inner()),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        })
        .await;
        self.alarms.remove(&key);
        key
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::time::{Instant, sleep};

    use super::*;

    #[derive(Default)]
    struct Why(Vec<&'static str>);

    impl Reasons for Why {
        fn add(&mut self, other: Self) {
            self.0.extend(other.0);
        }

        fn interrupts(&self) -> bool {
            self.0.contains(&"source")
        }
    }

    type Log = Arc<Mutex<Vec<String>>>;

    /// A run takes a second, or until it is asked to give way, and writes down when it began and why.
    fn start(again: Again, most: usize) -> (Queue<&'static str, Why>, Log, CancellationToken) {
        let (queue, asked) = Queue::new();
        let (log, stop) = (Log::default(), CancellationToken::new());
        let (begin, notes) = (Instant::now(), log.clone());
        let run = move |job: Job<&'static str, Why>| {
            let line = format!(
                "{} {} {:?}",
                begin.elapsed().as_secs(),
                job.key,
                job.reasons.0
            );
            notes.lock().unwrap().push(line);
            async move {
                assert_ne!(job.key, "bad");
                tokio::select! {
                    () = sleep(Duration::from_secs(1)) => {}
                    () = job.give_way.cancelled() => {}
                }
                again
            }
        };
        tokio::spawn(work(asked, most, stop.clone(), |_| (), run));
        (queue, log, stop)
    }

    async fn after(seconds: u64, log: &Log) -> Vec<String> {
        sleep(Duration::from_secs(seconds)).await;
        log.lock().unwrap().drain(..).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_runs_alone_and_once_more_for_all_that_came_meanwhile() {
        let (queue, log, _) = start(None, 9);
        queue.add("a", Why(vec!["one"]));
        assert_eq!(after(0, &log).await.len(), 0);
        tokio::task::yield_now().await;
        queue.add("a", Why(vec!["two"]));
        queue.add("a", Why(vec!["three"]));
        queue.add("b", Why(vec!["other"]));
        assert_eq!(
            after(9, &log).await,
            [
                r#"0 a ["one"]"#,
                r#"0 b ["other"]"#,
                r#"1 a ["two", "three"]"#
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_waits_gives_way_to_what_matters() {
        let (queue, log, _) = start(None, 9);
        queue.add("a", Why(vec!["one"]));
        sleep(Duration::from_millis(10)).await;
        queue.add("a", Why(vec!["source"]));
        assert_eq!(
            after(9, &log).await,
            [r#"0 a ["one"]"#, r#"0 a ["source"]"#]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_comes_back_after_its_delay_or_when_it_is_asked_for() {
        let (queue, log, stop) = start(Some(Duration::from_secs(10)), 1);
        queue.add("a", Why(vec!["one"]));
        assert_eq!(after(20, &log).await, [r#"0 a ["one"]"#, r#"11 a []"#]);
        // The alarm of second 22 is void.
        queue.add("a", Why(vec!["two"]));
        assert_eq!(after(5, &log).await, [r#"20 a ["two"]"#]);
        stop.cancel();
        assert_eq!(after(60, &log).await.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_ends_only_its_own_run() {
        let (queue, log, _) = start(None, 1);
        queue.add("bad", Why::default());
        queue.add("a", Why::default());
        assert_eq!(after(9, &log).await, ["0 bad []", "0 a []"]);
        assert_eq!(after(60, &log).await, ["60 bad []"]);
    }
}
