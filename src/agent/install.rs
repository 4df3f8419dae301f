//! Copies the agent, after a look at whether it is one.

use std::borrow::Cow;
use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::{AgentError, JarError};
use super::jar::Jar;
use super::manifest::Manifest;
use crate::durable::write_durably;

/// Where the image of the controller has the agent.
pub const DEFAULT_JAR: &str = "/usr/share/covergence/jacocoagent.jar";
/// What it is called in the volume, and in the archives that hold it.
pub const FILE_NAME: &str = "jacocoagent.jar";

/// Those of JaCoCo have a third of a megabyte.
const LIMIT: usize = 32 << 20;

/// What is installed, as the controller reads it from the container's last words.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// Whose agent it is.
    pub agent: &'static str,
    /// Its version, as its manifest has it.
    pub version: String,
    /// `sha256:<hex>` of the jar.
    pub digest: String,
}

/// Puts the agent of `jar` into `folder`, readable for all users.
///
/// The jar is JaCoCo's `jacocoagent.jar`, or the `org.jacoco.agent` jar of package repositories, which holds it.
pub fn install(jar: &Path, folder: &Path) -> Result<Installed, AgentError> {
    let bytes = read(jar).map_err(|error| AgentError::Read(jar.to_owned(), error))?;
    let (agent, version) =
        agent_of(&bytes).map_err(|error| AgentError::Jar(jar.to_owned(), error))?;
    write(&folder.join(FILE_NAME), &agent)
        .map_err(|error| AgentError::Write(folder.to_owned(), error))?;
    let hex: String = Sha256::digest(&agent)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    Ok(Installed {
        agent: "JaCoCo",
        version,
        digest: format!("sha256:{hex}"),
    })
}

fn read(jar: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(jar)?;
    file.take(LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LIMIT {
        return Err(io::Error::other(format!("has more than {LIMIT} bytes")));
    }
    Ok(bytes)
}

/// The agent in what was read, and its version.
fn agent_of(bytes: &[u8]) -> Result<(Cow<'_, [u8]>, String), JarError> {
    let jar = Jar::read(bytes)?;
    let manifest = Manifest::of(&jar)?;
    if manifest.field("Premain-Class").is_none()
        && let Some(inner) = jar.file(FILE_NAME, LIMIT)?
    {
        let jar = Jar::read(&inner)?;
        let version = Manifest::of(&jar)?.jacoco_version(&jar)?;
        return Ok((Cow::Owned(inner), version));
    }
    let version = manifest.jacoco_version(&jar)?;
    Ok((Cow::Borrowed(bytes), version))
}

/// Whatever user the JVM runs as, and whatever our mask is, it has to be able to read this.
fn write(path: &Path, agent: &[u8]) -> io::Result<()> {
    write_durably(path, |out| {
        out.write_all(agent)?;
        out.get_ref().set_permissions(Permissions::from_mode(0o644))
    })
}

#[cfg(test)]
mod tests;
