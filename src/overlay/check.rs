//! What a kustomization asks for that is not given: places outside of the source, and charts.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::load::{Diagnostic, Origin, Severity, SourceFile, add_excerpts};
use crate::source::{Kustomization, Overlay, Reference, follow, is_kustomization, kustomization};

/// Finds what kustomize would fetch, or look for outside of the source, from kustomization to kustomization.
pub(super) fn check(overlay: &Overlay, allow_remote: bool) -> Vec<Diagnostic> {
    let files = Files::new(&overlay.snapshot.files);
    let start = PathBuf::from(&overlay.folder);
    let (mut ahead, mut seen) = (VecDeque::from([start.clone()]), BTreeSet::from([start]));
    let mut faults = Vec::new();
    while let Some(folder) = ahead.pop_front() {
        for file in files
            .kustomizations
            .get(folder.as_path())
            .into_iter()
            .flatten()
        {
            let (found, diagnostics) = kustomization(file);
            let errors = diagnostics
                .into_iter()
                .filter(|d| d.severity == Severity::Error);
            faults.extend(errors);
            let Kustomization {
                references, charts, ..
            } = found;
            if let Some(position) = charts {
                let place = Origin {
                    file: file.path.clone(),
                    position,
                };
                let message = "charts of a kustomization are not inflated";
                let hint = "give the chart's folder as a source of its own";
                faults.push(Diagnostic::error_at(&place, message).with_hint(hint));
            }
            for reference in references {
                let place = Origin {
                    file: file.path.clone(),
                    position: reference.position,
                };
                match judge(&reference, &folder, &files, allow_remote) {
                    Ok(Some(base)) if seen.insert(base.clone()) => ahead.push_back(base),
                    Ok(_) => {}
                    Err((message, hint)) => {
                        let fault = Diagnostic::error_at(&place, message);
                        faults.push(match hint {
                            Some(hint) => fault.with_hint(hint),
                            None => fault,
                        });
                    }
                }
            }
        }
    }
    faults.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
    add_excerpts(&mut faults, &overlay.snapshot);
    faults
}

/// Gives the folder that a reference leads to, if it is one, or says why it is refused and what to do.
fn judge(
    reference: &Reference,
    folder: &Path,
    files: &Files<'_>,
    allow_remote: bool,
) -> Result<Option<PathBuf>, (String, Option<&'static str>)> {
    let text = &reference.text;
    if reference.is_remote() {
        let hint = "copy it into the source, or allow it: --allow-remote-bases, or allowRemoteBases in the controller's Config";
        let message = format!("{text:?} is a place in the network, which is not fetched");
        return match allow_remote {
            true => Ok(None),
            false => Err((message, Some(hint))),
        };
    }
    let Some(path) = follow(folder, text) else {
        let hint = match text.starts_with('/') {
            true => "write a path from the kustomization's own folder",
            false => {
                "give the folder that holds both as the source, and the overlay's with --path (subPath of a Sync's directory)"
            }
        };
        return Err((format!("{text:?} leads out of the source"), Some(hint)));
    };
    if files.folders.contains(path.as_path()) {
        return Ok(reference.may_be_folder.then_some(path));
    }
    match files.names.contains(path.as_path()) {
        true => Ok(None),
        false => Err((format!("{text:?} is not in the source"), None)),
    }
}

struct Files<'a> {
    names: BTreeSet<&'a Path>,
    folders: BTreeSet<&'a Path>,
    /// By the folder that they are in.
    kustomizations: BTreeMap<&'a Path, Vec<&'a SourceFile>>,
}

impl<'a> Files<'a> {
    fn new(files: &'a [SourceFile]) -> Self {
        let paths = || files.iter().map(|file| (Path::new(&*file.path), file));
        let mut kustomizations: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (path, file) in
            paths().filter(|(path, _)| path.file_name().is_some_and(is_kustomization))
        {
            let folder = path.parent().unwrap_or(Path::new(""));
            kustomizations.entry(folder).or_default().push(file);
        }
        Self {
            names: paths().map(|(path, _)| path).collect(),
            folders: paths()
                .flat_map(|(path, _)| path.ancestors().skip(1))
                .collect(),
            kustomizations,
        }
    }
}
