//! The receiver: from a request to a trigger.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Path, Request, State};
use axum::routing::post;
use http::StatusCode;
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use super::answer::Answer;
use super::pace::Pace;
use super::provider::Provider;
use super::secret::{Auth, Secret};
use super::signature::{Refusal, verify};
use super::trigger::{HookTarget, Triggers};
use crate::metrics::Metrics;

/// GitHub sends up to 25 MB, of pushes with thousands of commits; but those of people are below 100 kB, and a push whose
/// hook is refused is seen at the next interval.
const MOST_BYTES: usize = 1024 * 1024;

/// GitHub itself waits for 10 s.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// Tells whether there is a Sync of this namespace and name.
pub type KnownSyncs = Box<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// What takes webhooks.
pub struct Receiver {
    auth: Auth,
    known: KnownSyncs,
    triggers: Triggers,
    pace: Mutex<Pace>,
    metrics: Metrics,
}

impl Receiver {
    /// Makes one that puts triggers into a queue.
    pub fn new(
        auth: Auth,
        known: KnownSyncs,
        triggers: Sender<HookTarget>,
        metrics: Metrics,
    ) -> Self {
        Self {
            auth,
            known,
            triggers: Triggers::new(triggers),
            pace: Mutex::new(Pace::new(Instant::now())),
            metrics,
        }
    }

    /// Its pages: `POST /hook` for all Syncs, `POST /hook/{namespace}/{name}` for one.
    pub fn pages(self) -> Router {
        Router::new()
            .route("/hook", post(all))
            .route("/hook/{namespace}/{name}", post(one))
            .layer(DefaultBodyLimit::max(MOST_BYTES))
            .with_state(Arc::new(self))
    }

    /// Answers a request, counts it and logs it.
    pub(super) async fn answer(&self, target: HookTarget, request: Request) -> Answer {
        let provider = Provider::of(request.headers());
        let answer = match self.judge(provider, target.clone(), request).await {
            Ok(answer) | Err(answer) => answer,
        };
        self.metrics.webhook_request(provider, answer.outcome());
        let (provider, outcome) = (provider.word(), answer.outcome().word());
        if answer == Answer::Accepted {
            tracing::info!(provider, ?target, "a webhook triggers");
        } else {
            // Anybody who reaches the port can bring these about, and must not fill the log.
            tracing::debug!(provider, ?target, outcome, "a webhook does not trigger");
        }
        answer
    }

    async fn judge(
        &self,
        provider: Provider,
        target: HookTarget,
        request: Request,
    ) -> Result<Answer, Answer> {
        let headers = request.headers().clone();
        match &self.auth {
            Auth::Insecure => {
                read(request).await?;
            }
            Auth::Secret(path) => {
                let missing = Refusal::Missing(provider.proof_header());
                // Before the body: who shows nothing costs nothing.
                let proof = provider.proof(&headers);
                let proof = proof.ok_or(Answer::Unauthorized(missing))?;
                let path = path.clone();
                let secret = match spawn_blocking(move || Secret::read(&path)).await {
                    Ok(Ok(secret)) => secret,
                    Ok(Err(error)) => return Err(failed(&error)),
                    Err(error) => return Err(failed(&error)),
                };
                let body = read(request).await?;
                verify(proof, &body, &secret).map_err(Answer::Unauthorized)?;
            }
        }
        if provider.is_ping(&headers) {
            return Ok(Answer::Pong);
        }
        if let HookTarget::One { namespace, name } = &target
            && !(self.known)(namespace, name)
        {
            return Err(Answer::Unknown);
        }
        if !self.admit() {
            return Err(Answer::Limited);
        }
        // The receiver outlives the queue only while the process ends.
        self.triggers.send(target).map_err(|_| Answer::Failed)?;
        Ok(Answer::Accepted)
    }

    fn admit(&self) -> bool {
        // Nothing can panic halfway through a change of it.
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.admit(Instant::now())
    }
}

async fn all(State(receiver): State<Arc<Receiver>>, request: Request) -> Answer {
    receiver.answer(HookTarget::All, request).await
}

async fn one(
    State(receiver): State<Arc<Receiver>>,
    Path((namespace, name)): Path<(String, String)>,
    request: Request,
) -> Answer {
    let target = HookTarget::One { namespace, name };
    receiver.answer(target, request).await
}

/// Reads a body, up to the limit that the pages have.
async fn read(request: Request) -> Result<Bytes, Answer> {
    match timeout(BODY_WITHIN, Bytes::from_request(request, &())).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(Answer::TooLarge),
        Ok(Err(_)) => Err(Answer::Broken),
        Err(_) => Err(Answer::TooSlow),
    }
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Answer {
    tracing::warn!(error, "webhooks cannot be judged");
    Answer::Failed
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::Path as FilePath;

    use axum::body::Body;
    use futures_util::stream;
    use http::HeaderValue;
    use tokio::sync::mpsc::channel;

    use super::*;

    const SECRET: &str = "known to two";

    fn receiver(auth: Auth, triggers: Sender<HookTarget>) -> Receiver {
        let known = Box::new(|namespace: &str, name: &str| (namespace, name) == ("shop", "pets"));
        Receiver::new(auth, known, triggers, Metrics::default())
    }

    fn secret() -> (tempfile::NamedTempFile, Auth) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), SECRET).unwrap();
        let auth = Auth::Secret(file.path().to_owned());
        (file, auth)
    }

    fn request(token: &'static str, body: Body) -> Request {
        let mut request = Request::new(body);
        let headers = request.headers_mut();
        headers.insert("x-gitlab-event", HeaderValue::from_static("Push Hook"));
        headers.insert("x-gitlab-token", HeaderValue::from_static(token));
        request
    }

    fn one(name: &str) -> HookTarget {
        HookTarget::One {
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let (triggers, mut queue) = channel(1);
        let (_file, auth) = secret();
        let never = stream::pending::<Result<Bytes, Infallible>>();
        let slow = request(SECRET, Body::from_stream(never));
        let receiver = receiver(auth, triggers);
        assert_eq!(
            receiver.answer(HookTarget::All, slow).await,
            Answer::TooSlow
        );
        assert!(queue.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_triggers_are_put_off_and_wrong_ones_do_not_count() {
        let (triggers, _queue) = channel(100);
        let (_file, auth) = secret();
        let receiver = receiver(auth, triggers);
        let ask = |token| receiver.answer(HookTarget::All, request(token, Body::empty()));
        for _ in 0..60 {
            let wrong = Answer::Unauthorized(Refusal::Wrong);
            assert_eq!(ask("guessed").await, wrong);
        }
        for _ in 0..50 {
            assert_eq!(ask(SECRET).await, Answer::Accepted);
        }
        assert_eq!(ask(SECRET).await, Answer::Limited);
        tokio::time::advance(Duration::from_millis(100)).await;
        assert_eq!(ask(SECRET).await, Answer::Accepted);
    }

    #[tokio::test]
    async fn who_does_not_know_the_secret_does_not_learn_which_syncs_there_are() {
        let (triggers, _queue) = channel(1);
        let (_file, auth) = secret();
        let receiver = receiver(auth, triggers);
        for name in ["pets", "toys"] {
            let wrong = Answer::Unauthorized(Refusal::Wrong);
            let answer = receiver.answer(one(name), request("guessed", Body::empty()));
            assert_eq!(answer.await, wrong);
        }
        let answer = receiver.answer(one("toys"), request(SECRET, Body::empty()));
        assert_eq!(answer.await, Answer::Unknown);
        let answer = receiver.answer(one("pets"), request(SECRET, Body::empty()));
        assert_eq!(answer.await, Answer::Accepted);
    }

    #[tokio::test]
    async fn without_a_secret_or_a_reader_nothing_is_accepted() {
        let (triggers, queue) = channel(1);
        let nowhere = Auth::Secret(FilePath::new("/nowhere/secret").to_owned());
        let unreadable = receiver(nowhere, triggers.clone());
        let answer = unreadable.answer(HookTarget::All, request("", Body::empty()));
        assert_eq!(answer.await, Answer::Failed);
        drop(queue);
        let unread = receiver(Auth::Insecure, triggers);
        let answer = unread.answer(HookTarget::All, Request::new(Body::empty()));
        assert_eq!(answer.await, Answer::Failed);
    }
}
