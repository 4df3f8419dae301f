//! `covergence collect --follow`: stays connected, and keeps the union current.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::dump::{is_only_here, nothing, request};
use super::dump_args::DumpArgs;
use super::files::Files;
use super::places::Places;
use super::plural;
use super::report::Report;
use crate::cli::args::Output;
use crate::cli::diagnostics::printable;
use crate::cli::error::CliError;
use crate::coverage::{Collection, Dial, Dump, Followers, News, Peer, PeerAddress};
use crate::reconcile::now;

/// The file is written after each change, and this long after the last time: changes of many pods come together.
const WRITE_AFTER: Duration = Duration::from_secs(1);

pub async fn run<D: Dial + 'static>(
    dial: D,
    places: Places,
    args: &DumpArgs,
    files: Files,
    collection: Collection,
) -> Result<u8, CliError> {
    let first = places.look().await?;
    let mut request = request(args);
    request.reset = args.reset;
    let stop = CancellationToken::new();
    let (followers, news) = Followers::new(request, args.every, stop.clone());
    let mut following = Following {
        dial: Arc::new(dial),
        followers,
        collection,
        files,
        known: BTreeMap::new(),
        settled: Vec::new(),
        json: args.format == Output::Json,
        dirty: false,
        stop,
    };
    following.see(first)?;
    let (sender, looks) = mpsc::channel(1);
    let looker = tokio::spawn(places.look_again(sender));
    let followed = following.until_the_end(news, looks, args.for_).await;
    looker.abort();
    followed?;
    following.end(args)
}

struct Following<D> {
    dial: Arc<D>,
    followers: Followers,
    collection: Collection,
    files: Files,
    /// Those who are or were there.
    known: BTreeMap<PeerAddress, Known>,
    /// Those who wait to be told whether they may begin anew.
    settled: Vec<(usize, oneshot::Sender<bool>)>,
    json: bool,
    /// Whether there is something that is not in the file.
    dirty: bool,
    stop: CancellationToken,
}

struct Known {
    number: usize,
    gone: watch::Sender<bool>,
    /// Whether somebody still looks after it.
    followed: bool,
    /// Whether its JVM ended, and nothing was lost.
    ended: bool,
}

impl<D: Dial + 'static> Following<D> {
    async fn until_the_end(
        &mut self,
        mut news: mpsc::Receiver<(usize, News)>,
        mut looks: mpsc::Receiver<Result<Vec<Peer>, String>>,
        within: Option<Duration>,
    ) -> Result<(), CliError> {
        let (mut term, mut int) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let end = within.map(|within| Instant::now() + within);
        let mut write_at = Instant::now();
        while !(self.stop.is_cancelled() && self.known.values().all(|it| !it.followed)) {
            let asked_to_end = tokio::select! {
                Some((number, news)) = news.recv() => {
                    self.take(number, news)?;
                    false
                }
                Some(look) = looks.recv(), if !self.stop.is_cancelled() => {
                    match look {
                        Ok(peers) => self.see(peers)?,
                        Err(error) => complain(&format!("{error}; looking again"))?,
                    }
                    false
                }
                () = sleep_until(write_at), if self.dirty => {
                    self.write()?;
                    write_at = Instant::now() + WRITE_AFTER;
                    false
                }
                _ = term.recv() => true,
                _ = int.recv() => true,
                () = at(end), if !self.stop.is_cancelled() => true,
            };
            if asked_to_end {
                // What there is comes first: the last dumps may take a while, and who asks twice does not wait for them.
                self.write()?;
                if self.stop.is_cancelled() {
                    return Ok(());
                }
                self.stop.cancel();
            }
            self.answer_the_settled()?;
        }
        Ok(())
    }

    /// Takes in who is new, and lets go of who has gone once the connection ends.
    fn see(&mut self, peers: Vec<Peer>) -> Result<(), CliError> {
        for (address, known) in &self.known {
            let gone = !peers.iter().any(|peer| peer.address == *address);
            known
                .gone
                .send_if_modified(|was| std::mem::replace(was, gone) != gone);
        }
        for peer in peers {
            let known = self.known.get(&peer.address);
            if known.is_some_and(|known| known.followed) {
                continue;
            }
            let number = match known {
                Some(known) => known.number,
                None => self.collection.add(peer.clone()),
            };
            let (gone, is_gone) = watch::channel(false);
            let known = Known {
                number,
                gone,
                followed: true,
                ended: false,
            };
            self.known.insert(peer.address.clone(), known);
            self.followers
                .follow(Arc::clone(&self.dial), number, peer, is_gone);
        }
        Ok(())
    }

    fn take(&mut self, number: usize, news: News) -> Result<(), CliError> {
        let Some(peer) = self.collection.peer(number).cloned() else {
            return Ok(());
        };
        let known = self.known.get_mut(&peer.address);
        match news {
            News::Connected => {
                if let Some(known) = known {
                    known.ended = false;
                }
                self.tell(&peer, "connected")
            }
            News::Ended => {
                if let Some(known) = known {
                    known.ended = true;
                }
                self.tell(&peer, "ended, and its last data has come")
            }
            News::Left => {
                if let Some(known) = known {
                    known.followed = false;
                }
                Ok(())
            }
            News::Settled { go } => {
                self.settled.push((number, go));
                Ok(())
            }
            // Nothing listens any more where a JVM has ended.
            News::Away(_) if known.is_some_and(|known| known.ended) => Ok(()),
            News::Away(error) => {
                let text = error.to_string();
                let told = self.collection.fail(number, &error);
                if told {
                    self.tell(&peer, &text)
                } else {
                    Ok(())
                }
            }
            News::Dump { dump, whole, reset } => self.take_dump(number, &peer, &dump, whole, reset),
        }
    }

    fn take_dump(
        &mut self,
        number: usize,
        peer: &Peer,
        dump: &Dump,
        whole: bool,
        reset: bool,
    ) -> Result<(), CliError> {
        self.files.keep(&peer.name, &dump.store);
        let growth = self.collection.take(number, dump, whole, reset);
        // Times of dumps alone are no news.
        if growth.new_probes > 0 || growth.new_classes > 0 || reset || !self.files.output().exists()
        {
            self.dirty = true;
        }
        if growth.new_probes > 0 {
            let classes = plural(growth.new_classes, "more class", "more classes");
            let probes = plural(growth.new_probes, "more probe", "more probes");
            self.tell(peer, &format!("{classes}, {probes}"))?;
        }
        Ok(())
    }

    /// When all that could be had has come, and is written, agents may begin anew.
    fn answer_the_settled(&mut self) -> Result<(), CliError> {
        let followed = self.known.values().filter(|known| known.followed).count();
        if self.settled.is_empty() || self.settled.len() < followed {
            return Ok(());
        }
        self.write()?;
        let whole = self.collection.collected().whole();
        for (number, go) in self.settled.drain(..) {
            // Who has gone meanwhile takes no answer.
            let _ = go.send(whole.contains(&number));
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), CliError> {
        if !std::mem::take(&mut self.dirty) {
            return Ok(());
        }
        let collected = self.collection.collected();
        tokio::task::block_in_place(|| self.files.write_union(&collected.union))?;
        if self.json {
            let report = Report {
                collected: &collected,
                output: self.files.output(),
                unmerged: &[],
                reset: false,
                problems: &self.files.problems,
            };
            report.print_json(true)?;
        }
        Ok(())
    }

    fn tell(&self, peer: &Peer, text: &str) -> Result<(), CliError> {
        if !self.json {
            let line = printable(&format!("{}  {}  {text}", now(), peer.name));
            writeln!(anstream::stdout(), "{line}")?;
        }
        Ok(())
    }

    fn end(mut self, args: &DumpArgs) -> Result<u8, CliError> {
        let collected = self.collection.collected();
        if let Some(error) = nothing(&collected.pods) {
            return Err(error);
        }
        self.json = false;
        self.dirty = true;
        self.write()?;
        let unmerged = match is_only_here(&collected) {
            true => self.files.write_unmerged(&collected.unmerged)?,
            false => Vec::new(),
        };
        let report = Report {
            collected: &collected,
            output: self.files.output(),
            unmerged: &unmerged,
            reset: false,
            problems: &self.files.problems,
        };
        report.end(args.format, true)
    }
}

async fn at(end: Option<Instant>) {
    match end {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

fn complain(text: &str) -> Result<(), CliError> {
    writeln!(anstream::stderr(), "{}", printable(text))?;
    Ok(())
}
