//! The git repository that the demo commits to.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{IndexAddOption, Repository as Git, RepositoryInitOptions, Signature};

use crate::cli::error::CliError;

/// A repository with a work tree and the branch `main`.
pub struct Repository {
    git: Git,
    path: PathBuf,
}

impl Repository {
    /// Makes one.
    pub fn new(path: &Path) -> Result<Self, CliError> {
        let mut options = RepositoryInitOptions::new();
        options.initial_head("main").no_reinit(true);
        let git = Git::init_opts(path, &options).map_err(failed)?;
        Ok(Self {
            git,
            path: path.to_owned(),
        })
    }

    /// Writes a file of the work tree.
    pub fn write(&self, path: &str, text: &str) -> Result<(), CliError> {
        let path = self.path.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(path, text)?)
    }

    /// Takes a file out of the work tree.
    pub fn remove(&self, path: &str) -> Result<(), CliError> {
        Ok(fs::remove_file(self.path.join(path))?)
    }

    /// Commits the work tree as it is, and gives the commit's revision as a Sync's status names it.
    pub fn commit(&self, message: &str) -> Result<String, CliError> {
        let commit = || {
            let mut index = self.git.index()?;
            index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
            index.update_all(["*"], None)?;
            index.write()?;
            let tree = self.git.find_tree(index.write_tree()?)?;
            let parent = self.git.head().and_then(|head| head.peel_to_commit()).ok();
            let author = Signature::now("demo", "demo@localhost")?;
            let parents: Vec<_> = parent.iter().collect();
            self.git
                .commit(Some("HEAD"), &author, &author, message, &tree, &parents)
        };
        let commit = commit().map_err(failed)?;
        Ok(format!("main@sha1:{commit}"))
    }
}

fn failed(error: git2::Error) -> CliError {
    CliError::usage(format!("the demo's repository: {}", error.message()))
}
