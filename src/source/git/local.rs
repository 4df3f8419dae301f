//! A repository on this machine, read where it is.

use std::path::{Path, PathBuf};

use git2::{Commit, ErrorCode, ObjectType, Repository, RepositoryOpenFlags};

use super::reference::{Wanted, candidates, revision, similar};
use super::{GitSource, options, tree};
use crate::source::{Found, Limits, SourceError};

pub(super) fn fetch(
    source: &GitSource,
    path: &Path,
    limits: &Limits,
) -> Result<Found, SourceError> {
    let repository = open(source, path)?;
    let (name, commit) = find(source, &repository)?;
    let at = tree::At {
        repository: source.url.to_string(),
        revision: revision(name.as_deref(), commit.id()),
        path: source.path.as_deref().unwrap_or_default(),
        values_files: &source.values_files,
    };
    tree::read(&repository, &commit, &at, limits)
}

pub(super) fn check(source: &GitSource, path: &Path) -> Result<String, SourceError> {
    let repository = open(source, path)?;
    let (name, commit) = find(source, &repository)?;
    Ok(revision(name.as_deref(), commit.id()))
}

/// Finds the repository whose work tree a path of this machine is in, and the path in it.
///
/// # Errors
/// When it is in none.
pub fn enclosing(path: &Path) -> Result<(PathBuf, String), SourceError> {
    options::initialise(Limits::default().timeout);
    let none = || SourceError::NotARepository {
        repository: path.display().to_string(),
    };
    let real = std::fs::canonicalize(path).map_err(|_| SourceError::NotFound {
        path: path.to_owned(),
    })?;
    let repository = Repository::discover(&real).map_err(|_| none())?;
    let tree = repository.workdir().ok_or_else(none)?;
    let root = std::fs::canonicalize(tree).map_err(|_| none())?;
    let within = real.strip_prefix(&root).map_err(|_| none())?;
    Ok((tree.to_owned(), within.to_string_lossy().into_owned()))
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
            Ok((name, head.peel(ObjectType::Any)?))
        }),
        Wanted::Commit(id) => repository.find_object(id, None).map(|it| (None, it)),
        Wanted::Name(text) => {
            let reference = candidates(text)
                .iter()
                .find_map(|name| repository.find_reference(name).ok());
            match reference {
                Some(found) => found
                    .peel(ObjectType::Any)
                    .map(|object| (Some(name_of(&found)), object)),
                // Abbreviated commits, and expressions such as `HEAD~1`.
                None => repository.revparse_single(text).map(|it| (None, it)),
            }
        }
    };
    let (name, object) = found.map_err(|error| match error.code() {
        ErrorCode::NotFound | ErrorCode::UnbornBranch | ErrorCode::InvalidSpec => {
            let names = all_names(repository);
            source.ref_not_found(similar(
                source.reference.as_deref().unwrap_or("HEAD"),
                names.iter().map(String::as_str),
            ))
        }
        ErrorCode::Ambiguous => source.not_a_commit(&error),
        _ => source.damaged(&error),
    })?;
    match object.peel_to_commit() {
        Ok(commit) => Ok((name, commit)),
        Err(error) => Err(source.not_a_commit(&error)),
    }
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
