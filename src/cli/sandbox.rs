//! `covergence sandbox`: a small Kubernetes API that runs by itself.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::OK;
use super::error::CliError;
use super::folder::Folder;
use super::signals::asked_to_end;
use crate::load::{Limits, Severity, SourceFile, values};
use crate::sandbox::auth::audit::Log;
use crate::sandbox::controllers::Pods;
use crate::sandbox::{Options, Sandbox};

pub const EXAMPLES: &str = "\
Examples:
  covergence sandbox                   until Ctrl-C; says how to reach it
  covergence sandbox --dir api         with its kubeconfig and its audit log in the folder `api`
  KUBECONFIG=api/kubeconfig kubectl create namespace shop

It keeps nothing: the objects are in memory, and go when it ends. It merges, defaults, validates and tells of
changes as Kubernetes does, runs the controllers of Deployments, EndpointSlices, namespaces and owner
references, and runs no containers. Who has the kubeconfig may do everything.";

#[derive(Debug, Args)]
pub struct SandboxArgs {
    /// Folder for the kubeconfig and the audit log; a temporary one, which goes with the sandbox, when not given.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What becomes of pods.
    #[arg(long, value_enum, default_value_t = Fate::Ready)]
    pods: Fate,
    /// Address to listen on, of this machine alone; port 0 is one that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", value_parser = loopback)]
    listen: SocketAddr,
}

/// What becomes of pods where there is no node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Fate {
    /// They are ready at once, with an address that nobody answers at.
    Ready,
    /// They wait for a node for ever.
    Pending,
}

impl From<Fate> for Pods {
    fn from(fate: Fate) -> Self {
        match fate {
            Fate::Ready => Self::Ready,
            Fate::Pending => Self::Pending,
        }
    }
}

fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "an address and a port are wanted, such as 127.0.0.1:8443".to_owned())?;
    if !address.ip().is_loopback() {
        return Err("only this machine is to reach it, as at 127.0.0.1 or [::1]".to_owned());
    }
    Ok(address)
}

pub async fn run(args: &SandboxArgs) -> Result<u8, CliError> {
    let temporary = match &args.dir {
        Some(_) => None,
        None => Some(Folder::new("sandbox")?),
    };
    let folder = match (&args.dir, &temporary) {
        (Some(dir), _) => dir.as_path(),
        (None, Some(temporary)) => temporary.path(),
        (None, None) => Path::new("."),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let sandbox = Sandbox::new(Options {
        pods: args.pods.into(),
        audit: Some(Arc::new(Log::open(&folder.join("audit.log"))?)),
        yaml: Some(yaml),
        ..Options::default()
    });
    let listener = TcpListener::bind(args.listen).await?;
    let config = sandbox.kubeconfig(listener.local_addr()?)?;
    let stop = CancellationToken::new();
    let end = asked_to_end()?;
    let server = tokio::spawn(sandbox.serve(listener, stop.clone()));
    let kubeconfig = Kubeconfig::write(folder, &config)?;
    tell(&kubeconfig.0)?;
    end.await;
    stop.cancel();
    server.await.map_err(io::Error::other)??;
    Ok(OK)
}

fn tell(kubeconfig: &Path) -> io::Result<()> {
    let kubeconfig = kubeconfig.canonicalize()?;
    writeln!(
        io::stdout(),
        "A Kubernetes API in memory is up, until Ctrl-C. In another terminal:

  export KUBECONFIG={}
  kubectl get namespaces
  covergence diff manifests/",
        kubeconfig.display()
    )
}

/// The file that leads to a sandbox, and goes with it.
struct Kubeconfig(PathBuf);

impl Kubeconfig {
    /// Writes it whole before it has its name, for those who wait for it. One that is there is somebody's.
    fn write(folder: &Path, config: &str) -> Result<Self, CliError> {
        let path = folder.join("kubeconfig");
        let begun = folder.join(".kubeconfig");
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&begun)?;
        file.write_all(config.as_bytes())?;
        let linked = fs::hard_link(&begun, &path);
        fs::remove_file(&begun)?;
        linked.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => CliError::usage(format!(
                "{} is there already: is it another sandbox's? Take another folder, or remove it",
                path.display()
            )),
            _ => error.into(),
        })?;
        Ok(Self(path))
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // It leads nowhere any more, and is in the way of nobody.
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads the YAML of a request as the files of a source are read.
fn yaml(text: &str) -> Result<Value, String> {
    let file = SourceFile {
        path: "body".into(),
        bytes: text.as_bytes().to_vec(),
    };
    let (roots, diagnostics) = values(&file, &Limits::default());
    let mut errors = diagnostics
        .iter()
        .filter(|found| found.severity == Severity::Error);
    match (errors.next(), roots.as_slice()) {
        (Some(error), _) => Err(error.message.clone()),
        (None, [root]) => Ok(root.to_json()),
        (None, _) => Err("one document is wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nobody_else_reaches_it() {
        assert!(loopback("127.0.0.1:0").is_ok() && loopback("[::1]:8443").is_ok());
        for bad in ["0.0.0.0:0", "10.0.0.1:80", "localhost", "8443"] {
            assert!(loopback(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bodies_are_read_as_files_are() {
        assert_eq!(yaml("a: [on, 0x10]").unwrap(), json!({ "a": [true, 16] }));
        assert!(yaml("a: [").is_err());
        assert!(yaml("a: 1\n---\nb: 2").is_err());
    }

    #[test]
    fn a_kubeconfig_is_its_owners_alone_and_replaces_none() {
        use std::os::unix::fs::MetadataExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kubeconfig");
        let written = Kubeconfig::write(folder.path(), "first").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert!(Kubeconfig::write(folder.path(), "second").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        drop(written);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
