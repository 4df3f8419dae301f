//! What was typed after `covergence collect`, when it is no subcommand.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::api::parse_duration;
use crate::cli::args::{ClusterArgs, Output};

#[derive(Debug, Args)]
#[command(mut_arg("concurrency", |arg| arg.help("The most connections to agents at once; 256 when not given")))]
pub struct DumpArgs {
    /// A ClosureJVMTarget, as NAME or NAMESPACE/NAME; or agents, as HOST:PORT (every address of the name), several with commas.
    #[arg(value_name = "TARGET|HOST:PORT[,…]", required = true)]
    pub from: Option<String>,
    /// File that the union is written to, in JaCoCo's own format.
    #[arg(short, long, value_name = "FILE", required = true, value_parser = file)]
    pub output: Option<PathBuf>,
    /// Add to the files that are there.
    #[arg(long, conflicts_with = "force")]
    pub append: bool,
    /// Replace the files that are there.
    #[arg(long)]
    pub force: bool,
    /// Folder for a file of each pod by itself, DIR/POD.exec.
    #[arg(long, value_name = "DIR")]
    pub per_pod: Option<PathBuf>,
    /// Let agents begin anew, once what they had is written.
    #[arg(long)]
    pub reset: bool,
    /// Stay connected, take in pods as they come and the last data of those that go, and keep the file current.
    #[arg(long)]
    pub follow: bool,
    /// How often each pod is dumped when followed.
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "follow", value_parser = parse_duration)]
    pub every: Duration,
    /// How long to follow; until Ctrl-C or SIGTERM when not given.
    #[arg(long = "for", value_name = "TIME", requires = "follow", value_parser = parse_duration)]
    pub for_: Option<Duration>,
    /// How long to wait for a whole dump, from its first byte on.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub timeout: Duration,
    /// How long to wait for a connection.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub connect_timeout: Duration,
    /// How long to wait for an agent that says nothing.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub read_timeout: Duration,
    /// Dial the addresses of a Target's pods. Implied within a cluster, unless --kubeconfig or --context is given.
    #[arg(long, conflicts_with = "port_forward")]
    pub direct: bool,
    /// Reach a Target's pods through the API server, as `kubectl port-forward` does. Implied outside of a cluster.
    #[arg(long)]
    pub port_forward: bool,
    /// Namespace of the Target; the context's when not given.
    #[arg(short, long, value_parser = crate::cli::settings::namespace)]
    pub namespace: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// How the summary is printed.
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub format: Output,
}

/// Refuses what `-o` means everywhere else; hardly any file is called so.
fn file(text: &str) -> Result<PathBuf, String> {
    match text {
        "json" | "text" | "yaml" => Err(format!(
            "-o names the file here; --format json prints the summary as JSON, and -o ./{text} writes a file of that name"
        )),
        _ => Ok(text.into()),
    }
}

pub const HELP: &str = "\
Every pod behind the Target's Service is asked at once, and what ran in any of them is in the union,
which jacococli, IDEs and every other reader of JaCoCo's format take. A pod that cannot be asked is
named, and the union is partial then. Without a cluster, name the agents: what has a colon is
HOST:PORT.

Examples:
  covergence collect pet -n shop -o union.exec           all pods of the Target `pet`
  covergence collect pet-1:6300,pet-2:6300 -o union.exec
  covergence collect shop/pet -o union.exec --follow     until Ctrl-C, and pods until their end
  covergence collect shop/pet -o union.exec --append --reset
  covergence collect shop/pet -o union.exec --format json | jq .pods[].alone

-o names the file here, so JSON is --format json.

An agent serves one connection at a time. While it is followed, others wait for it in vain: let
them read the file. --reset first writes what there is, and then lets agents begin anew in the very
moment of another dump, which is added.

Exit codes: 0 all of every pod is in the union, 1 the union is partial, 2 errors: nothing was
collected or written.";
