//! A git repository of this machine with a directory's files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Res;

/// A repository without a work tree; the files are those of a directory elsewhere.
pub struct Repository {
    pub path: PathBuf,
    files: PathBuf,
}

impl Repository {
    /// Makes one, in place of an earlier one, whose branch `main` holds the files; packed, as what was cloned or pushed is.
    pub fn new(path: PathBuf, files: PathBuf) -> Res<Self> {
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        let repository = Self { path, files };
        let mut init = Command::new("git");
        init.args(["init", "--quiet", "--bare", "--initial-branch=main"]);
        say(init.arg(&repository.path))?;
        let commit = repository.commit(&[])?;
        repository.publish(&commit)?;
        repository.git(&["gc", "--quiet"])?;
        Ok(repository)
    }

    /// Makes the commit that follows `main`, which stays where it is, and returns its name.
    pub fn next(&self) -> Res<String> {
        self.commit(&["-p", "main"])
    }

    /// Moves `main` to a commit.
    pub fn publish(&self, commit: &str) -> Res<()> {
        self.git(&["update-ref", "refs/heads/main", commit])
            .map(drop)
    }

    fn commit(&self, parents: &[&str]) -> Res<String> {
        self.git(&["add", "--all"])?;
        let tree = self.git(&["write-tree"])?;
        self.git(&[&["commit-tree", "-m", "bench", &tree], parents].concat())
    }

    fn git(&self, arguments: &[&str]) -> Res<String> {
        let mut git = Command::new("git");
        let option = |name: &str, path: &Path| format!("{name}={}", path.display());
        git.args([
            option("--git-dir", &self.path),
            option("--work-tree", &self.files),
        ]);
        git.args(["-c", "core.bare=false"]);
        git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]);
        // `--all` means all below the current directory.
        say(git.args(arguments).current_dir(&self.files))
    }
}

fn say(command: &mut Command) -> Res<String> {
    let output = command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}", said.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
