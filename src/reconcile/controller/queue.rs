//! Work by key: each key runs alone, runs again when it was asked for meanwhile, and never waits for another's failures.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::hash::Hash;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue;

/// Asks for runs. Cheap to clone.
pub struct Queue<K>(mpsc::UnboundedSender<(K, Why)>);

/// Why a key is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Something may have been disturbed.
    Look,
    /// There is something new to do: a run of the key that only waits gives way.
    News,
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Queue<K> {
    /// Makes a queue and what [`work`] takes from it.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<(K, Why)>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    /// Asks for a run as soon as may be.
    pub fn add(&self, key: K, why: Why) {
        // Nobody is left to run anything when this fails.
        let _ = self.0.send((key, why));
    }
}

/// One run of a key.
pub struct Job<K> {
    /// What to look at.
    pub key: K,
    /// Is cancelled when the run should give way: to something new, or to the end of everything.
    pub give_way: CancellationToken,
}

/// When a key runs again without being asked for; `None` when it does not.
pub type Again = Option<Duration>;

/// Runs what is asked for until `stop`, then lets the runs in hand end.
///
/// At most `most` keys run at once, in the order in which they were asked for. A run that panics ends only itself.
/// `depth` is told how many keys wait each time that changes.
pub async fn work<K, F>(
    mut asked: mpsc::UnboundedReceiver<(K, Why)>,
    most: usize,
    stop: CancellationToken,
    depth: impl Fn(usize),
    run: impl Fn(Job<K>) -> F,
) where
    K: Clone + Eq + Hash + Send + 'static,
    F: Future<Output = Again> + Send + 'static,
{
    let mut state = State {
        ready: VecDeque::new(),
        waiting: HashSet::new(),
        running: HashMap::new(),
        keys: HashMap::new(),
        delayed: DelayQueue::new(),
        alarms: HashMap::new(),
    };
    let mut runs = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            Some((key, why)) = asked.recv() => {
                state.ask(key, why);
                // Many requests often come at once, and are as well taken in at once.
                while let Ok((key, why)) = asked.try_recv() {
                    state.ask(key, why);
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
            key = state.alarm() => state.ask(key, Why::Look),
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

struct State<K> {
    /// Keys whose turn comes, in order; each is in `waiting` too.
    ready: VecDeque<K>,
    /// Keys that are to run.
    waiting: HashSet<K>,
    /// Keys that run, and how to ask them to give way.
    running: HashMap<K, CancellationToken>,
    keys: HashMap<Id, K>,
    delayed: DelayQueue<K>,
    alarms: HashMap<K, delay_queue::Key>,
}

impl<K: Clone + Eq + Hash> State<K> {
    fn ask(&mut self, key: K, why: Why) {
        if let Some(alarm) = self.alarms.remove(&key) {
            self.delayed.try_remove(&alarm);
        }
        let running = self.running.get(&key);
        if let (Some(give_way), Why::News) = (running, why) {
            give_way.cancel();
        }
        let runs = running.is_some();
        if self.waiting.insert(key.clone()) && !runs {
            self.ready.push_back(key);
        }
    }

    fn next(&mut self, stop: &CancellationToken) -> Option<Job<K>> {
        let key = self.ready.pop_front()?;
        self.waiting.remove(&key);
        Some(Job {
            key,
            give_way: stop.child_token(),
        })
    }

    fn ended(&mut self, id: Id, again: Again) {
        let Some(key) = self.keys.remove(&id) else {
            return;
        };
        self.running.remove(&key);
        if self.waiting.contains(&key) {
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

    type Log = Arc<Mutex<Vec<String>>>;

    /// A run takes a second, or until it is asked to give way, and writes down when it began.
    fn start(again: Again, most: usize) -> (Queue<&'static str>, Log, CancellationToken) {
        let (queue, asked) = Queue::new();
        let (log, stop) = (Log::default(), CancellationToken::new());
        let (begin, notes) = (Instant::now(), log.clone());
        let run = move |job: Job<&'static str>| {
            let line = format!("{} {}", begin.elapsed().as_secs(), job.key);
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
        queue.add("a", Why::Look);
        assert_eq!(after(0, &log).await.len(), 0);
        tokio::task::yield_now().await;
        queue.add("a", Why::Look);
        queue.add("a", Why::Look);
        queue.add("b", Why::Look);
        assert_eq!(after(9, &log).await, ["0 a", "0 b", "1 a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_waits_gives_way_to_what_matters() {
        let (queue, log, _) = start(None, 9);
        queue.add("a", Why::Look);
        sleep(Duration::from_millis(10)).await;
        queue.add("a", Why::News);
        assert_eq!(after(9, &log).await, ["0 a", "0 a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_comes_back_after_its_delay_or_when_it_is_asked_for() {
        let (queue, log, stop) = start(Some(Duration::from_secs(10)), 1);
        queue.add("a", Why::Look);
        assert_eq!(after(20, &log).await, ["0 a", "11 a"]);
        // The alarm of second 22 is void.
        queue.add("a", Why::Look);
        assert_eq!(after(5, &log).await, ["20 a"]);
        stop.cancel();
        assert_eq!(after(60, &log).await.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn what_waits_for_its_turn_is_counted() {
        let (queue, asked) = Queue::new();
        let depths = Arc::new(Mutex::new(Vec::new()));
        let told = depths.clone();
        let depth = move |depth| told.lock().unwrap().push(depth);
        let run = |_: Job<&'static str>| async {
            sleep(Duration::from_secs(1)).await;
            None
        };
        tokio::spawn(work(asked, 1, CancellationToken::new(), depth, run));
        for key in ["a", "b", "c"] {
            queue.add(key, Why::Look);
        }
        sleep(Duration::from_secs(9)).await;
        assert_eq!(*depths.lock().unwrap(), [2, 1, 0, 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_ends_only_its_own_run() {
        let (queue, log, _) = start(None, 1);
        queue.add("bad", Why::Look);
        queue.add("a", Why::Look);
        assert_eq!(after(9, &log).await, ["0 bad", "0 a"]);
        assert_eq!(after(60, &log).await, ["60 bad"]);
    }
}
