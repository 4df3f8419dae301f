//! The story, chapter by chapter.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::narrator::Narrator;
use super::program::{Controller, Output};
use super::shop;
use super::stage::{NAME, Stage};
use crate::cli::error::CliError;
use crate::cluster::Kind;

/// How long anything may take; on a sandbox all of it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// The teller, and what the story is played with.
pub struct Story<'a> {
    pub stage: &'a Stage,
    pub narrator: Narrator,
}

impl Story<'_> {
    /// Tells it, and gives the controller that runs at its end.
    pub async fn tell(&mut self) -> Result<Controller, CliError> {
        self.repository()?;
        self.difference().await?;
        self.sync().await?;
        let controller = self.controller().await?;
        self.coverage().await?;
        self.drift().await?;
        self.prune().await?;
        self.status(&controller).await?;
        Ok(controller)
    }

    fn repository(&mut self) -> Result<(), CliError> {
        self.narrator.chapter(
            "A git repository with a shop",
            "Two JVM services. Beside each Deployment lies a ClosureJVMTarget, which can ask for the coverage of all its\n\
             replicas under one name; at first all coverage is off.",
        )?;
        let files = shop::files(&self.stage.namespace);
        for file in &files {
            self.stage.repository.write(file.path, &file.text)?;
        }
        let paths = files.iter().map(|file| file.path);
        self.narrator.output(paths)?;
        self.commit("The shop")?;
        Ok(())
    }

    async fn difference(&mut self) -> Result<(), CliError> {
        self.narrator.chapter(
            "What would change? (diff)",
            "It asks the API server and changes nothing. Exit code 1 says: there are differences.",
        )?;
        let output = self.source("diff", 1).await?;
        let told = |line: &&str| line.starts_with("create") || line.ends_with(" to create");
        self.narrator.output(bare_lines(&output, told))?;
        let deployment = self.find(&Kind::deployment(), "pet").await?;
        self.must(deployment.is_none(), "nothing was changed")
    }

    async fn sync(&mut self) -> Result<(), CliError> {
        self.narrator
            .chapter("Make it so (sync)", "The same plan, executed in order.")?;
        let output = self.source("sync", 0).await?;
        self.narrator.output(output.text.lines())?;
        let deployment = self.find(&Kind::deployment(), "pet").await?;
        self.must(deployment.is_some(), "the Deployments are there")
    }

    async fn controller(&mut self) -> Result<Controller, CliError> {
        self.narrator.chapter(
            "Let it follow the repository (run)",
            "A Sync of the same name says what to follow. It prunes, but never more than 30 % at once.",
        )?;
        let sync = self.stage.write_config()?;
        self.narrator.output(sync.lines())?;
        self.narrator.command("covergence run --config config &")?;
        let controller = self.stage.program.start(&["run", "--config", "config"])?;
        self.until("the Sync is ready", async || {
            let sync = self.find(&Kind::sync(), NAME).await?;
            Ok(sync.filter(|sync| condition(sync, "Ready").is_some_and(is_true)))
        })
        .await?;
        self.narrator
            .holds("the controller has taken the set over")?;
        Ok(controller)
    }

    async fn coverage(&mut self) -> Result<(), CliError> {
        self.narrator.chapter(
            "A commit turns coverage on",
            "The image of pet has an agent of its own; stock gets one put in, its image stays as it is.",
        )?;
        for file in shop::files(&self.stage.namespace) {
            let covered = shop::covered(&file.text);
            self.stage.repository.write(file.path, &covered)?;
        }
        self.narrator.output(shop::CHANGE)?;
        self.commit_and_wait("Coverage on").await?;
        for name in ["pet", "stock"] {
            let endpoint = self
                .until("the endpoint is published", async || {
                    let target = self.find(&Kind::target(), name).await?;
                    Ok(target.and_then(|target| {
                        let endpoint = text(&target, "/status/coverageEndpoint")?;
                        self.has_its_replicas(&target).then(|| endpoint.to_owned())
                    }))
                })
                .await?;
            self.narrator.holds(&format!("{name}: {endpoint}"))?;
        }
        self.narrator.tell(
            "  Behind each name is a headless Service: it stands for every replica, not for one of them.",
        )?;
        Ok(())
    }

    /// On the sandbox every pod is ready at once. Nothing here says when pods of another cluster will be.
    fn has_its_replicas(&self, target: &Value) -> bool {
        let count = |path| target.pointer(path).and_then(Value::as_u64);
        let (ready, total) = (
            count("/status/endpoints/ready"),
            count("/status/endpoints/total"),
        );
        self.stage.kubeconfig.is_none() || (ready.is_some_and(|ready| ready > 0) && ready == total)
    }

    async fn drift(&mut self) -> Result<(), CliError> {
        self.narrator.chapter(
            "Somebody edits the cluster by hand",
            "The coverage Service of pet is deleted, and the ConfigMap's greeting is edited:",
        )?;
        let (service, map) = (self.kind("Service").await?, self.kind("ConfigMap").await?);
        let namespace = &self.stage.namespace;
        let cluster = &self.stage.cluster;
        let old = self.find(&service, "pet-coverage").await?;
        let old = old.as_ref().and_then(|old| text(old, "/metadata/uid"));
        let begun = Instant::now();
        cluster
            .delete_any(&service, Some(namespace), "pet-coverage")
            .await?;
        self.until("the Service is back", async || {
            let new = self.find(&service, "pet-coverage").await?;
            Ok(new.filter(|new| text(new, "/metadata/uid") != old))
        })
        .await?;
        let took = begun.elapsed().as_millis();
        self.narrator
            .holds(&format!("the Service is back, after {took} ms"))?;
        let edit = json!({ "data": { "greeting": "Closed today" } });
        let begun = Instant::now();
        cluster.edit(&map, namespace, "pet", &edit).await?;
        self.until("the greeting is back", async || {
            let map = self.find(&map, "pet").await?;
            let is_back = |map: &Value| text(map, "/data/greeting") != Some("Closed today");
            Ok(map.filter(is_back))
        })
        .await?;
        let took = begun.elapsed().as_millis();
        self.narrator
            .holds(&format!("the greeting is back, after {took} ms"))?;
        Ok(())
    }

    async fn prune(&mut self) -> Result<(), CliError> {
        self.narrator.chapter(
            "A commit removes too much",
            "The whole folder of stock is gone from the repository, by mistake:",
        )?;
        self.stage.repository.remove("stock/stock.yaml")?;
        self.stage.repository.remove("stock/config.yaml")?;
        self.commit("Tidy up")?;
        let why = self
            .until("the prune is held", async || {
                let sync = self.find(&Kind::sync(), NAME).await?;
                Ok(sync.and_then(|sync| {
                    let message = text(condition(&sync, "Ready")?, "/message")?;
                    message
                        .starts_with("nothing was pruned")
                        .then(|| message.to_owned())
                }))
            })
            .await?;
        self.narrator.output(why.split("; "))?;
        let stock = self.find(&Kind::deployment(), "stock").await?;
        self.must(stock.is_some(), "stock is still there")?;
        self.narrator
            .tell("The Deployment comes back to the repository. Only what was meant to go does:")?;
        for file in shop::files(&self.stage.namespace) {
            if file.path == "stock/stock.yaml" {
                self.stage
                    .repository
                    .write(file.path, &shop::covered(&file.text))?;
            }
        }
        self.commit_and_wait("Stock needs no configuration of its own")
            .await?;
        let map = self.kind("ConfigMap").await?;
        let map = self.find(&map, "stock").await?;
        self.must(map.is_none(), "its ConfigMap is pruned")?;
        let stock = self.find(&Kind::deployment(), "stock").await?;
        self.must(stock.is_some(), "stock was never touched")
    }

    async fn status(&mut self, controller: &Controller) -> Result<(), CliError> {
        self.narrator.chapter(
            "And how is everything? (status)",
            "Every Sync and every Target; below what is not ready stands why.",
        )?;
        let namespace = &self.stage.namespace;
        let arguments = ["status", NAME, "-n", namespace];
        self.narrator
            .command(&format!("covergence {}", arguments.join(" ")))?;
        // On a cluster whose nodes cannot pull the shop's images, not everything is ready.
        let output = self.stage.program.run(&arguments).await?;
        self.narrator.output(output.text.lines())?;
        let log = controller.log()?;
        self.must(!log.contains("panicked"), "the controller is well")
    }

    /// Runs a command on the source, and insists on its exit code.
    async fn source(&self, command: &str, code: i32) -> Result<Output, CliError> {
        let Stage { namespace, .. } = &self.stage;
        let repository = format!("./{NAME}");
        let arguments = [
            command,
            "--git",
            &repository,
            "--ref",
            "main",
            "--name",
            NAME,
            "-n",
            namespace,
        ];
        self.narrator
            .command(&format!("covergence {}", arguments.join(" ")))?;
        let output = self.stage.program.run(&arguments).await?;
        if output.code != Some(code) {
            self.narrator.output(output.text.lines())?;
            return Err(CliError::usage(format!(
                "the demo failed: {command} ended with {:?} instead of {code}",
                output.code
            )));
        }
        Ok(output)
    }

    fn commit(&self, message: &str) -> Result<String, CliError> {
        self.narrator
            .command(&format!("git commit -am '{message}'"))?;
        self.stage.repository.commit(message)
    }

    async fn commit_and_wait(&mut self, message: &str) -> Result<(), CliError> {
        let begun = Instant::now();
        let revision = self.commit(message)?;
        self.until("the commit is applied", async || {
            let sync = self.find(&Kind::sync(), NAME).await?;
            Ok(sync.filter(|sync| text(sync, "/status/lastAppliedRevision") == Some(&revision)))
        })
        .await?;
        let took = begun.elapsed().as_millis();
        self.narrator
            .holds(&format!("the commit is in the cluster, after {took} ms"))?;
        Ok(())
    }

    async fn find(&self, kind: &Kind, name: &str) -> Result<Option<Value>, CliError> {
        let namespace = Some(self.stage.namespace.as_str());
        Ok(self.stage.cluster.get(kind, namespace, name).await?)
    }

    /// A kind of the core, as the server names it.
    async fn kind(&self, kind: &str) -> Result<Kind, CliError> {
        let kinds = self.stage.cluster.kinds(&["v1".to_owned()].into()).await?;
        let found = kinds.get("v1", kind).cloned();
        found.ok_or_else(|| CliError::usage(format!("the demo failed: there is no kind {kind}")))
    }

    /// Waits for something to see.
    async fn until<T>(
        &self,
        what: &str,
        mut look: impl AsyncFnMut() -> Result<Option<T>, CliError>,
    ) -> Result<T, CliError> {
        let begun = Instant::now();
        loop {
            if let Some(seen) = look().await? {
                return Ok(seen);
            }
            if begun.elapsed() > PATIENCE {
                return Err(CliError::usage(format!(
                    "the demo failed: gave up waiting until {what}"
                )));
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn must(&mut self, holds: bool, what: &str) -> Result<(), CliError> {
        if !holds {
            return Err(CliError::usage(format!(
                "the demo failed: it does not hold that {what}"
            )));
        }
        Ok(self.narrator.holds(what)?)
    }
}

fn condition<'a>(object: &'a Value, r#type: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions
        .iter()
        .find(|condition| text(condition, "/type") == Some(r#type))
}

fn is_true(condition: &Value) -> bool {
    text(condition, "/status") == Some("True")
}

fn text<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value.pointer(path)?.as_str()
}

/// The lines that match without their colours, with them.
fn bare_lines(output: &Output, wanted: impl Fn(&&str) -> bool) -> impl Iterator<Item = &str> {
    output.text.lines().filter(move |line| {
        let bare = anstream::adapter::strip_str(line).to_string();
        wanted(&bare.as_str())
    })
}
