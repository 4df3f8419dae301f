//! A repository on this machine, read where it is.

use std::path::Path;

use git2::{Commit, ErrorCode, Repository, RepositoryOpenFlags};

use super::reference::{Wanted, candidates, revision, similar};
use super::{GitSource, tree};
use crate::load::Snapshot;
use crate::source::{Limits, SourceError};

pub(super) fn fetch(
    source: &GitSource,
    path: &Path,
    limits: &Limits,
) -> Result<Snapshot, SourceError> {
    let repository = open(source, path)?;
    let (name, commit) = find(source, &repository)?;
    let at = tree::At {
        repository: source.url.to_string(),
        revision: revision(name.as_deref(), commit.id()),
        path: source.path.as_deref().unwrap_or_default(),
    };
    tree::read(&repository, &commit, &at, limits)
}

fn open(source: &GitSource, path: &Path) -> Result<Repository, SourceError> {
    if !path.exists() {
        return Err(SourceError::NotFound {
            path: path.to_owned(),
        });
    }
    // Exactly there: a directory inside a work tree is no repository, and its parent's would be a surprise.
    Repository::open_ext(path, RepositoryOpenFlags::NO_SEARCH, &[] as &[&Path]).map_err(|error| {
        match error.code() {
            ErrorCode::NotFound => SourceError::NotARepository {
                repository: source.url.to_string(),
            },
            _ => source.damaged(&error),
        }
    })
}

/// Finds the commit, and the full name of the ref that led to it.
fn find<'r>(
    source: &GitSource,
    repository: &'r Repository,
) -> Result<(Option<String>, Commit<'r>), SourceError> {
    let wanted = Wanted::new(source.reference.as_deref());
    let found = match wanted {
        Wanted::Head => repository.head().and_then(|head| {
            let name = head.is_branch().then(|| name_of(&head));
            Ok((name, head.peel_to_commit()?))
        }),
        Wanted::Commit(id) => repository
            .find_object(id, None)
            .and_then(|object| Ok((None, object.peel_to_commit()?))),
        Wanted::Name(text) => {
            let reference = candidates(text)
                .iter()
                .find_map(|name| repository.find_reference(name).ok());
            match reference {
                Some(found) => found
                    .peel_to_commit()
                    .map(|commit| (Some(name_of(&found)), commit)),
                // Abbreviated commits, and expressions such as `HEAD~1`.
                None => repository
                    .revparse_single(text)
                    .and_then(|object| Ok((None, object.peel_to_commit()?))),
            }
        }
    };
    found.map_err(|error| match error.code() {
        ErrorCode::NotFound | ErrorCode::UnbornBranch | ErrorCode::InvalidSpec => {
            let names = all_names(repository);
            source.ref_not_found(similar(
                source.reference.as_deref().unwrap_or("HEAD"),
                names.iter().map(String::as_str),
            ))
        }
        // Ambiguous abbreviations, tags of blobs: libgit2 says which.
        _ => source.damaged(&error),
    })
}

fn name_of(reference: &git2::Reference<'_>) -> String {
    String::from_utf8_lossy(reference.name_bytes()).into_owned()
}

fn all_names(repository: &Repository) -> Vec<String> {
    match repository.references() {
        Ok(references) => references
            .filter_map(Result::ok)
            .map(|reference| name_of(&reference))
            .collect(),
        Err(_) => Vec::new(),
    }
}
