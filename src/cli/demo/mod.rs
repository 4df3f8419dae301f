//! `covergence demo`: what Covergence is for, on real input, in a few seconds.

mod narrator;
mod program;
mod repository;
mod shop;
mod stage;
mod story;

use std::time::Instant;

use tokio::time::{Duration, sleep};

use self::narrator::{Narrator, print};
use self::program::Controller;
use self::stage::{NAME, Stage};
use self::story::Story;
use super::OK;
use super::args::DemoArgs;
use super::error::CliError;
use super::signals::asked_to_end;

pub async fn run(args: &DemoArgs) -> Result<u8, CliError> {
    let begun = Instant::now();
    let stage = Stage::set(args).await?;
    print(&match &stage.kubeconfig {
        Some(_) => {
            "A small Kubernetes API in memory is started for this demo; no cluster is touched."
                .to_owned()
        }
        None => format!(
            "The demo plays in the namespace {} of the current cluster, and in no other one.",
            stage.namespace
        ),
    })?;
    let mut story = Story {
        stage: &stage,
        narrator: Narrator::default(),
    };
    let told = tokio::select! {
        told = story.tell() => Some(told),
        () = asked_to_end()? => None,
    };
    let ended = match told {
        Some(Ok(controller)) => {
            story.narrator.end(begun.elapsed().as_secs_f32())?;
            if args.keep {
                keep(&stage, controller).await
            } else {
                Ok(())
            }
        }
        Some(Err(error)) => Err(error),
        None => Ok(()),
    };
    stage.clear().await?;
    ended.map(|()| OK)
}

/// Leaves everything running until it is told to end.
async fn keep(stage: &Stage, mut controller: Controller) -> Result<(), CliError> {
    let folder = stage.folder.path().display();
    let namespace = &stage.namespace;
    let kubeconfig = match &stage.kubeconfig {
        Some(path) => format!("  export KUBECONFIG={}\n", path.display()),
        None => String::new(),
    };
    print(&format!(
        "
The controller and the API go on. In another terminal:

{kubeconfig}  kubectl -n {namespace} get deployments,services,closurejvmtargets,syncs
  kubectl -n {namespace} delete service pet-coverage      # and look again
  cd {folder}/{NAME} && git log --oneline         # commit something
  tail -f {folder}/controller.log

Ctrl-C ends it and takes it all away."
    ))?;
    let end = asked_to_end()?;
    tokio::pin!(end);
    loop {
        tokio::select! {
            () = &mut end => return Ok(()),
            () = sleep(Duration::from_secs(1)) => {
                if !controller.runs()? {
                    let log = controller.log()?;
                    return Err(CliError::usage(format!("the controller has ended:\n{log}")));
                }
            }
        }
    }
}
