//! The names that are looked up on the way to a path.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// One name on the way.
pub(super) struct Step<'a> {
    /// What it stands for; nothing if it is not there.
    pub(super) found: Option<&'a Metadata>,
    /// Where it leads, for a link.
    pub(super) target: Option<&'a Path>,
}

/// Follows a path as the kernel would, from a directory that is free of links. Gives where it leads, free of links, or
/// nothing.
///
/// `before` is called with each directory and the name in it before that is looked up, `after` with what was found: whoever
/// watches all those names learns that the path leads elsewhere.
pub(super) fn resolve(
    start: &Path,
    path: &Path,
    on_the_way: &mut impl OnTheWay,
) -> Option<PathBuf> {
    let mut done = start.to_owned();
    let mut ahead = parts(path);
    let mut links = 0;
    while let Some(part) = ahead.pop_front() {
        let name = match part {
            Part::Root => {
                done = PathBuf::from("/");
                continue;
            }
            Part::Up => {
                done.pop();
                continue;
            }
            Part::Name(name) => name,
        };
        on_the_way.before(&done, &name);
        let step = done.join(&name);
        let found = fs::symlink_metadata(&step).ok();
        let target = found
            .as_ref()
            .filter(|found| found.is_symlink())
            .and_then(|_| fs::read_link(&step).ok());
        on_the_way.after(&Step {
            found: found.as_ref(),
            target: target.as_deref(),
        });
        match (found, target) {
            (None, _) => return None,
            (Some(_), Some(target)) => {
                links += 1;
                if links > MOST_LINKS {
                    return None;
                }
                let mut first = parts(&target);
                first.append(&mut ahead);
                ahead = first;
            }
            (Some(_), None) => done = step,
        }
    }
    Some(done)
}

/// Takes part in following a path.
pub(super) trait OnTheWay {
    /// Is told of a name before it is looked up.
    fn before(&mut self, directory: &Path, name: &OsStr);
    /// Is told what was found.
    fn after(&mut self, step: &Step<'_>);
}

enum Part {
    Root,
    Up,
    Name(OsString),
}

fn parts(path: &Path) -> VecDeque<Part> {
    path.components()
        .filter_map(|component| match component {
            Component::RootDir => Some(Part::Root),
            Component::ParentDir => Some(Part::Up),
            Component::Normal(name) => Some(Part::Name(name.to_owned())),
            Component::CurDir | Component::Prefix(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[derive(Default)]
    struct Names(Vec<PathBuf>);

    impl OnTheWay for Names {
        fn before(&mut self, directory: &Path, name: &OsStr) {
            self.0.push(directory.join(name));
        }

        fn after(&mut self, _: &Step<'_>) {}
    }

    /// Where a path below `root` leads, and the names below it that were looked up.
    fn follow(root: &Path, path: &str) -> (Option<PathBuf>, Vec<String>) {
        let mut names = Names::default();
        let end = resolve(root, Path::new(path), &mut names);
        let inside = |path: &PathBuf| Some(path.strip_prefix(root).ok()?.display().to_string());
        (end, names.0.iter().filter_map(inside).collect())
    }

    #[test]
    fn every_name_that_could_lead_elsewhere_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        fs::create_dir_all(root.join("revisions/1/shop")).unwrap();
        symlink("revisions/1", root.join("current")).unwrap();
        symlink(root.join("current/shop"), root.join("shop")).unwrap();
        symlink("circle", root.join("circle")).unwrap();

        let (end, names) = follow(&root, "current/../1/shop");
        assert_eq!(end, Some(root.join("revisions/1/shop")));
        assert_eq!(
            names,
            [
                "current",
                "revisions",
                "revisions/1",
                "revisions/1",
                "revisions/1/shop"
            ]
        );
        // Through an absolute link; the way to the root itself is not shown here.
        let (end, names) = follow(&root, "shop");
        assert_eq!(end, Some(root.join("revisions/1/shop")));
        assert_eq!(names.first().unwrap(), "shop");
        assert!(names.contains(&"current".to_owned()), "{names:?}");

        let (end, names) = follow(&root, "current/later/deep");
        assert_eq!(end, None);
        assert_eq!(names.last().unwrap(), "revisions/1/later");
        assert_eq!(follow(&root, "circle").0, None);
    }
}
