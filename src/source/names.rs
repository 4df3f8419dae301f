//! Which files of a source are manifests, and how their names are shown.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::load::is_invisible;

/// Endings of manifest files, as `kubectl apply -f DIRECTORY` has them.
const MANIFEST_ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// Tells whether a name is never looked at: `.git`, a ConfigMap volume's `..data`, editor files (`.x.yaml.swp`,
/// `.#x.yaml`), and tool settings that only look like manifests (`.pre-commit-config.yaml`).
pub(super) fn is_hidden(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b".")
}

/// Tells whether a file of that name is read. Editor leftovers (`x.yaml~`, `4913`) fail this by their ending.
pub(super) fn is_manifest(name: &OsStr) -> bool {
    !is_hidden(name)
        && Path::new(name)
            .extension()
            .is_some_and(|found| MANIFEST_ENDINGS.iter().any(|known| found == *known))
}

/// Tells whether a file is no manifest for the capital letters of its ending only: kubectl leaves it out without a word.
pub(super) fn is_misspelt(name: &OsStr) -> bool {
    !is_manifest(name) && is_manifest(OsStr::new(&lower(name)))
}

/// The name in small letters, as file systems compare names that do not tell them apart.
pub(super) fn lower(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

/// Tells whether kustomize would take a file of that name as the root of an overlay.
pub fn is_kustomization(name: &OsStr) -> bool {
    ["kustomization.yaml", "kustomization.yml", "Kustomization"]
        .iter()
        .any(|known| name == *known)
}

/// Tells whether the file marks its directory as a Helm chart.
pub(super) fn is_chart(name: &OsStr) -> bool {
    name == "Chart.yaml"
}

/// Shows a path of the source with `/` between its parts, safe to print and still injective.
///
/// Control characters, bytes that are not UTF-8, and characters that reorder or hide text on a terminal are escaped,
/// and so is the backslash; the root itself is `.`.
pub(super) fn shown(path: &Path) -> String {
    let mut out = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                c if c.is_control() || is_invisible(c) => out.extend(c.escape_default()),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    if out.is_empty() {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str) -> bool {
        is_manifest(OsStr::new(name))
    }

    #[test]
    fn manifests_are_told_by_their_ending() {
        for name in ["a.yaml", "a.yml", "a.json", "a.b.yaml"] {
            assert!(manifest(name), "{name}");
        }
        for name in ["a.txt", "a", "yaml", "a.yaml.bak", "README.md"] {
            assert!(!manifest(name), "{name}");
        }
    }

    #[test]
    fn c48_editor_files_are_no_manifests() {
        for name in [
            "4913",
            "pet.yaml~",
            ".pet.yaml.swp",
            ".#pet.yaml",
            "#pet.yaml#",
            "._pet.yaml",
            "sedAbCdEf",
            "pet.yaml___jb_tmp___",
            "..data",
        ] {
            assert!(!manifest(name), "{name}");
        }
    }

    #[test]
    fn odd_names_are_escaped_and_stay_different() {
        let names: [&[u8]; 7] = [
            b"a\nb.yaml",
            b"a\\nb.yaml",
            b"a\x1b[2Jb.yaml",
            b"a\xffb.yaml",
            b"a\\xffb.yaml",
            "a\u{202e}b.yaml".as_bytes(),
            "é.yaml".as_bytes(),
        ];
        let texts: Vec<_> = names
            .iter()
            .map(|name| shown(Path::new(OsStr::from_bytes(name))))
            .collect();
        assert_eq!(
            texts,
            [
                "a\\nb.yaml",
                "a\\\\nb.yaml",
                "a\\u{1b}[2Jb.yaml",
                "a\\xffb.yaml",
                "a\\\\xffb.yaml",
                "a\\u{202e}b.yaml",
                "é.yaml",
            ]
        );
        assert_eq!(shown(Path::new("")), ".");
    }
}
