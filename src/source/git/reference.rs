//! What a source's `ref` means.

use std::path::Path;

use git2::Oid;

use crate::source::names::shown;

/// A ref a server offers.
#[derive(Clone, Debug)]
pub(super) struct Advertised {
    pub(super) name: String,
    pub(super) id: Oid,
    /// For `HEAD`: the branch it stands for.
    pub(super) target: Option<String>,
}

/// What a source asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    /// The remote's default branch.
    Head,
    /// A commit by its full name.
    Commit(Oid),
    /// A branch, a tag or a full ref name; perhaps an abbreviated commit.
    Name(&'a str),
}

impl<'a> Wanted<'a> {
    pub(super) fn new(reference: Option<&'a str>) -> Self {
        match reference {
            None | Some("" | "HEAD") => Self::Head,
            // Forty digits are a commit even if a ref has that name, or whoever may create tags could replace a pinned
            // commit.
            Some(text) if is_hexadecimal(text) && text.len() == 40 => match Oid::from_str(text) {
                Ok(id) => Self::Commit(id),
                Err(_) => Self::Name(text),
            },
            Some(text) => Self::Name(text),
        }
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Tells whether a name may be the beginning of a commit's; git's own shortest is 7 digits.
pub(super) fn is_abbreviated(text: &str) -> bool {
    (7..40).contains(&text.len()) && is_hexadecimal(text)
}

/// Gives the full ref names that a name may stand for, the first that exists wins: a branch before a tag, as in
/// `git clone --branch`, so that a new tag cannot take a branch's place.
pub(super) fn candidates(name: &str) -> Vec<String> {
    if name.starts_with("refs/") {
        return vec![name.to_owned()];
    }
    ["heads", "tags", "remotes"]
        .iter()
        .map(|kind| format!("refs/{kind}/{name}"))
        .collect()
}

/// Shortens a branch's or tag's ref name to the one people use.
pub(super) fn short(name: &str) -> &str {
    ["refs/heads/", "refs/tags/"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name)
}

/// Writes a revision in Flux's format.
pub(super) fn revision(name: Option<&str>, commit: Oid) -> String {
    match name {
        // Ref names come from the server, and a revision ends up on terminals and in status.
        Some(name) => format!("{}@sha1:{commit}", shown(Path::new(short(name)))),
        None => format!("sha1:{commit}"),
    }
}

/// Finds branches and tags that someone may have meant.
pub(super) fn similar<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // Comparing is quadratic in a name's length, and the names are the server's.
    const NAMES: usize = 2_000;
    const LENGTH: usize = 100;
    let names: Vec<&str> = names
        .filter(|name| name.starts_with("refs/heads/") || name.starts_with("refs/tags/"))
        .map(short)
        .filter(|name| name.len() <= LENGTH && !name.ends_with("^{}"))
        .take(NAMES)
        .collect();
    // Three fit on a line; 0.6 is the cutoff of Python's difflib, whose method this is.
    ::similar::get_close_matches(short(wanted), &names, 3, 0.6)
        .into_iter()
        .map(|name| shown(Path::new(name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_digits_are_a_commit_and_fewer_are_a_name() {
        let full = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(
            Wanted::new(Some(full)),
            Wanted::Commit(Oid::from_str(full).unwrap())
        );
        assert_eq!(Wanted::new(Some("0123456")), Wanted::Name("0123456"));
        assert_eq!(Wanted::new(None), Wanted::Head);
        assert!(is_abbreviated("0123456") && !is_abbreviated("012345"));
        assert!(!is_abbreviated("feature"));
    }

    #[test]
    fn c41_a_missing_branch_is_answered_with_similar_ones() {
        let names = [
            "HEAD",
            "refs/heads/main",
            "refs/heads/release-1.2",
            "refs/tags/release-1.2^{}",
            "refs/pull/1/mian",
        ];
        assert_eq!(similar("mian", names.into_iter()), ["main"]);
        assert_eq!(
            similar("refs/heads/release-1.3", names.into_iter()),
            ["release-1.2"]
        );
        assert_eq!(similar("zzz", names.into_iter()), [""; 0]);
    }

    #[test]
    fn revisions_have_the_format_of_flux() {
        let id = Oid::ZERO_SHA1;
        assert_eq!(
            revision(Some("refs/heads/main"), id),
            format!("main@sha1:{id}")
        );
        assert_eq!(revision(Some("refs/tags/v1"), id), format!("v1@sha1:{id}"));
        assert_eq!(
            revision(Some("refs/pull/1/head"), id),
            format!("refs/pull/1/head@sha1:{id}")
        );
        assert_eq!(revision(None, id), format!("sha1:{id}"));
    }
}
