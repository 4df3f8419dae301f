//! Stays connected to agents, so that what they send at their end is received.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::agent::{Agent, AgentError, Dump};
use super::collect::{Request, connect};
use super::peer::{Dial, Peer};

/// Between two tries to connect: at first soon, since a JVM that has just come up has no agent that listens yet.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(200),
    Duration::from_millis(500),
    Duration::from_secs(1),
];

/// And at last.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Dumps that are read at once.
const IN_HAND: usize = 4;

/// What a peer has to tell.
#[derive(Debug)]
pub enum News {
    /// Its agent serves us.
    Connected,
    /// A dump has come, or the begin of one.
    Dump {
        /// What has come.
        dump: Box<Dump>,
        /// Whether it is all.
        whole: bool,
        /// Whether the agent was told to begin anew.
        reset: bool,
    },
    /// There is no connection, or no more; it is tried again.
    Away(AgentError),
    /// The JVM has ended, and had sent its last data before.
    Ended,
    /// All that it had has come, and it may be told to begin anew, or not.
    Settled {
        /// Takes the answer; without one it is no.
        go: oneshot::Sender<bool>,
    },
    /// Nothing more comes of it.
    Left,
}

/// Follows peers, each in a task of its own.
#[derive(Clone, Debug)]
pub struct Followers {
    request: Arc<Request>,
    every: Duration,
    news: mpsc::Sender<(usize, News)>,
    stop: CancellationToken,
    in_hand: Arc<Semaphore>,
}

impl Followers {
    /// Dumps each peer this often, and a last time when told to stop; only then do agents begin anew, if the request says so.
    /// Whoever holds the news must take them.
    #[must_use]
    pub fn new(
        request: Request,
        every: Duration,
        stop: CancellationToken,
    ) -> (Self, mpsc::Receiver<(usize, News)>) {
        let (news, taken) = mpsc::channel(1);
        let followers = Self {
            request: Arc::new(request),
            every,
            news,
            stop,
            in_hand: Arc::new(Semaphore::new(IN_HAND)),
        };
        (followers, taken)
    }

    /// Follows a peer until told to stop, or until it is `gone` and the connection has ended: a pod that ends is on no list any more
    /// when its JVM sends its last data.
    pub fn follow<D: Dial + 'static>(
        &self,
        dial: Arc<D>,
        number: usize,
        peer: Peer,
        gone: watch::Receiver<bool>,
    ) {
        let follower = Follower {
            shared: self.clone(),
            number,
        };
        tokio::spawn(async move {
            follower.run(&*dial, &peer, gone).await;
            follower.tell(News::Left).await;
        });
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

struct Follower {
    shared: Followers,
    number: usize,
}

impl Follower {
    async fn run(&self, dial: &impl Dial, peer: &Peer, mut gone: watch::Receiver<bool>) {
        let Followers { request, stop, .. } = &self.shared;
        let mut pauses = PAUSES.iter();
        loop {
            let connected = tokio::select! {
                connected = connect(dial, peer, request) => connected,
                () = stop.cancelled() => return,
            };
            let ended = match connected {
                Ok(mut agent) => self.stay(&mut agent).await,
                Err(error) => Err(error),
            };
            match ended {
                Ok(()) => pauses = PAUSES.iter(),
                Err(error) => self.tell(News::Away(error)).await,
            }
            if stop.is_cancelled() {
                return;
            }
            let pause = pauses.next().unwrap_or(&LONGEST_PAUSE);
            tokio::select! {
                () = sleep(*pause) => {}
                _ = gone.wait_for(|gone| *gone) => return,
                () = stop.cancelled() => return,
            }
        }
    }

    /// Dumps again and again, until the connection ends or we are to stop.
    async fn stay<S: Stream>(&self, agent: &mut Agent<S>) -> Result<(), AgentError> {
        // Before anything else: an old agent's header is nothing that was sent unasked.
        self.ask(agent, false).await?;
        self.tell(News::Connected).await;
        self.read(agent, false).await?;
        let mut latest = Instant::now();
        // Whether the last thing that came was sent unasked.
        let mut last_words = false;
        let mut ticks = interval_at(latest + self.shared.every, self.shared.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = self.shared.stop.cancelled() => return self.settle(agent).await,
                came = agent.wait() => match came? {
                    true => {
                        self.read(agent, false).await?;
                        last_words = true;
                    }
                    false if last_words => {
                        self.tell(News::Ended).await;
                        return Ok(());
                    }
                    false => return Err(AgentError::Killed(latest.elapsed())),
                },
                _ = ticks.tick() => match self.dump(agent, false).await {
                    Ok(()) => {
                        latest = Instant::now();
                        last_words = false;
                    }
                    // Its last data may still be there to be read.
                    Err(AgentError::Unasked(_)) => {}
                    Err(error) => return Err(error),
                },
            }
        }
    }

    /// The last dump; and where agents are to begin anew, another one that does, once what came before is written.
    async fn settle<S: Stream>(&self, agent: &mut Agent<S>) -> Result<(), AgentError> {
        self.dump(agent, false).await?;
        if !self.shared.request.reset {
            return Ok(());
        }
        let (go, may) = oneshot::channel();
        self.tell(News::Settled { go }).await;
        match may.await {
            Ok(true) => self.dump(agent, true).await,
            _ => Ok(()),
        }
    }

    async fn dump<S: Stream>(&self, agent: &mut Agent<S>, reset: bool) -> Result<(), AgentError> {
        self.ask(agent, reset).await?;
        self.read(agent, reset).await
    }

    /// Asks, and waits until the answer begins.
    async fn ask<S: Stream>(&self, agent: &mut Agent<S>, reset: bool) -> Result<(), AgentError> {
        let silence = self.shared.request.read_timeout;
        agent.ask(reset, silence).await?;
        let began = timeout(silence, agent.wait()).await;
        match began.map_err(|_| AgentError::Silent(silence))?? {
            true => Ok(()),
            false => Err(AgentError::Closed),
        }
    }

    async fn read<S: Stream>(&self, agent: &mut Agent<S>, reset: bool) -> Result<(), AgentError> {
        // Nobody closes it. What waits here waits in the sockets, and takes no memory.
        let _permit = self.shared.in_hand.acquire().await.ok();
        let Request {
            read_timeout,
            total_timeout,
            ..
        } = *self.shared.request;
        let mut dump = Box::new(Dump::default());
        let read = agent.read(&mut dump, read_timeout, total_timeout).await;
        let whole = read.is_ok();
        self.tell(News::Dump { dump, whole, reset }).await;
        read
    }

    async fn tell(&self, news: News) {
        // Nobody listens only when all is over.
        let _ = self.shared.news.send((self.number, news)).await;
    }
}
