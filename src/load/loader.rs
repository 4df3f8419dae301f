//! Snapshot -> documents and diagnostics.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::excerpt::{Excerpts, Secrecy, cut, has_escapes, mentions_secret};
use super::fault::Fault;
use super::identify::identify;
use super::parse::{Parsed, Spent, read};
use super::quota::Quota;
use super::{
    Diagnostic, Document, Limits, Node, NodeKind, Position, Severity, Snapshot, SourceFile, text,
};

/// What a snapshot holds.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The objects, in the order of the files and of the places in them.
    pub documents: Vec<Document>,
    /// What is wrong with the rest, in the same order. The snapshot's own diagnostics are not repeated.
    pub diagnostics: Vec<Diagnostic>,
    /// How many files were parsed for it.
    pub parsed: usize,
}

/// The most characters of a message: a key or a kind may be as long as its file.
const MESSAGE: usize = 1000;

/// Reads every `.yaml`, `.yml` and `.json` file of a snapshot; other files are ignored.
///
/// A document with an error is left out, and its neighbours are read all the same.
pub fn load(snapshot: &Snapshot, limits: &Limits) -> Loaded {
    let mut sum = Sum::new(snapshot, limits);
    while let Some((file, allowance)) = sum.next_file() {
        sum.parsed += 1;
        sum.add(read_file(file, limits, allowance));
    }
    sum.finish()
}

/// What one file holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
    /// Values of all documents that are kept.
    values: usize,
    errors: usize,
    /// Warnings beyond those that are told of a whole source.
    untold: usize,
    /// Whether the allowance was used up, so that the rest was left unread.
    cut: bool,
}

impl Content {
    /// Tells whether reading the file anew with this allowance would give the same.
    pub(super) fn fits(&self, allowance: usize) -> bool {
        !self.cut && self.documents.len() <= allowance
    }

    /// Tells whether the file was read to its end.
    pub(super) fn is_whole(&self) -> bool {
        !self.cut
    }

    /// Takes a fault. Errors end the reading when there are too many; warnings past the limit are only counted.
    fn tell(&mut self, diagnostic: Diagnostic, limits: &Limits) {
        match diagnostic.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning if self.diagnostics.len() - self.errors >= limits.faults => {
                self.untold += 1;
                return;
            }
            Severity::Warning => {}
        }
        self.diagnostics.push(diagnostic);
    }
}

/// The files of a snapshot, added up one after the other within the limits of the whole source.
pub(super) struct Sum<'s> {
    files: std::slice::Iter<'s, SourceFile>,
    limits: &'s Limits,
    documents: Vec<Document>,
    diagnostics: Vec<Diagnostic>,
    values: usize,
    errors: usize,
    quota: Quota,
    /// How many files were parsed so far.
    pub(super) parsed: usize,
}

impl<'s> Sum<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, limits: &'s Limits) -> Self {
        Self {
            files: snapshot.files.iter(),
            limits,
            documents: Vec::new(),
            diagnostics: Vec::new(),
            values: 0,
            errors: 0,
            quota: Quota::new(limits.faults),
            parsed: 0,
        }
    }

    /// The next manifest and how many objects there is room for; none when a limit was passed.
    pub(super) fn next_file(&mut self) -> Option<(&'s SourceFile, usize)> {
        if self.overflow().is_some() {
            return None;
        }
        let room = self.limits.documents.checked_sub(self.documents.len())?;
        let file = self.files.find(|file| is_manifest(&file.path))?;
        Some((file, room))
    }

    pub(super) fn add(&mut self, content: Content) {
        self.values = self.values.saturating_add(content.values);
        self.errors += content.errors;
        self.documents.extend(content.documents);
        for diagnostic in content.diagnostics {
            // Errors are all told, the last of them says why the reading ended.
            if diagnostic.severity == Severity::Error || self.quota.takes(diagnostic.severity) {
                self.diagnostics.push(diagnostic);
            }
        }
        self.quota.leave_out(content.untold);
    }

    /// Says which limit of the whole source was passed, if one was.
    fn overflow(&self) -> Option<Diagnostic> {
        let Limits {
            documents,
            values,
            faults,
            ..
        } = self.limits;
        let message = if self.documents.len() > *documents {
            format!("the source has more than {documents} objects; the rest of it was not read")
        } else if self.values > *values {
            format!("the source has more than {values} values; the rest of it was not read")
        } else if self.errors >= *faults {
            let errors = self.errors;
            format!("{errors} errors so far; the rest of the source was not read")
        } else {
            return None;
        };
        Some(Diagnostic::file_error(".", message).with_hint("split it into several sources"))
    }

    pub(super) fn finish(mut self) -> Loaded {
        self.diagnostics.extend(self.overflow());
        self.diagnostics.extend(self.quota.rest());
        let Self {
            documents,
            diagnostics,
            parsed,
            ..
        } = self;
        Loaded {
            documents,
            diagnostics,
            parsed,
        }
    }
}

/// Gives each diagnostic that has a place but no excerpt the line of that place, without a Secret's values.
///
/// For findings made after loading, which know places but not the text.
pub fn add_excerpts(diagnostics: &mut [Diagnostic], snapshot: &Snapshot) {
    let mut of_file: BTreeMap<Arc<str>, Vec<(Position, &mut Diagnostic)>> = BTreeMap::new();
    for diagnostic in diagnostics.iter_mut().filter(|d| d.excerpt.is_none()) {
        if let Some(at) = diagnostic.position {
            let file = diagnostic.file.clone();
            of_file.entry(file).or_default().push((at, diagnostic));
        }
    }
    for file in &snapshot.files {
        let Some(mut wanted) = of_file.remove(&file.path) else {
            continue;
        };
        let Ok(text) = text::decode(&file.bytes) else {
            continue;
        };
        wanted.sort_by_key(|(at, _)| *at);
        let mut wanted = wanted.into_iter().peekable();
        let mut chunks = text::chunks(&text).peekable();
        while let Some(chunk) = chunks.next() {
            let next = chunks.peek().map(|next| next.lines_before);
            let mut excerpts = Excerpts::new(chunk.text, chunk.lines_before);
            let mut secrecy = None;
            while let Some((at, diagnostic)) =
                wanted.next_if(|(at, _)| next.is_none_or(|next| at.line <= next))
            {
                let secrecy = *secrecy.get_or_insert_with(|| match mentions_secret(chunk.text) {
                    true => Secrecy::Parsed,
                    false => Secrecy::Open,
                });
                diagnostic.excerpt = excerpts.at(at, secrecy);
            }
        }
    }
}

/// Reads one file, up to one object more than it is allowed.
pub(super) fn read_file(file: &SourceFile, limits: &Limits, allowance: usize) -> Content {
    let mut content = Content::default();
    if let Err(whole) = fill(&mut content, file, limits, allowance) {
        content.tell(whole, limits);
    }
    content.values = content.documents.iter().map(|it| it.root.size()).sum();
    content
}

/// An error here concerns the file as a whole.
fn fill(
    content: &mut Content,
    file: &SourceFile,
    limits: &Limits,
    allowance: usize,
) -> Result<(), Diagnostic> {
    let SourceFile { path, bytes } = file;
    if bytes.len() > limits.file_bytes {
        let message = format!("larger than {} bytes", limits.file_bytes);
        return Err(Diagnostic::file_error(path.clone(), message));
    }
    // A pointer parses as a YAML mapping, so it would look like a document that is not a manifest.
    if bytes.starts_with(b"version https://git-lfs") {
        return Err(
            Diagnostic::file_error(path.clone(), "LFS pointer, not fetched")
                .with_hint("keep manifests out of git LFS, or fetch its content into the source"),
        );
    }
    let text = text::decode(bytes).map_err(|fault| {
        let lossy = String::from_utf8_lossy(bytes);
        let secrecy = match mentions_secret(&lossy) {
            true => Secrecy::Broken,
            false => Secrecy::Open,
        };
        // Bytes of UTF-16 make no line that anybody could read.
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let shown = Excerpts::new(&lossy, 0)
            .at(fault.position, secrecy)
            .filter(|_| !utf16);
        diagnostic(path, fault, shown)
    })?;
    let json = extension(path).is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let mut spent = Spent::default();
    for chunk in text::chunks(&text) {
        let mut secret = mentions_secret(chunk.text);
        let mut excerpts = Excerpts::new(chunk.text, chunk.lines_before);
        for Parsed { root, mut faults } in read(json, &chunk, limits, &mut spent) {
            // A value tells its kind however that is spelled; without one, escapes are reason enough for doubt.
            secret |= root
                .as_ref()
                .map_or_else(|| has_escapes(chunk.text), is_secret);
            // A document of nothing but comments is null, and skipped without a word.
            let root = root.filter(|root| root.kind != NodeKind::Null && !has_error(&faults));
            if let Some(root) = root {
                let (documents, more) = identify(path, root, limits.file_faults);
                content.documents.extend(documents);
                faults.extend(more);
            }
            for fault in faults {
                let secrecy = match (secret, fault.syntax) {
                    (false, _) => Secrecy::Open,
                    (true, false) => Secrecy::Parsed,
                    (true, true) => Secrecy::Broken,
                };
                let shown = excerpts.at(fault.position, secrecy);
                content.tell(diagnostic(path, fault, shown), limits);
            }
            if content.errors >= limits.file_faults {
                break;
            }
        }
        let wrong = |message: String| Err(Diagnostic::file_error(path.clone(), message));
        let errors = content.errors;
        if errors >= limits.file_faults {
            return wrong(format!(
                "{errors} errors so far; the rest of the file was not read"
            ));
        }
        if spent.documents > limits.file_documents {
            content.documents.clear();
            return wrong(format!(
                "holds more than {} documents; none of them is applied",
                limits.file_documents
            ));
        }
        if content.documents.len() > allowance {
            // The sum tells.
            content.cut = true;
            return Ok(());
        }
        if spent.values > limits.file_values {
            // It has told so already, at the value that was too many.
            return Ok(());
        }
    }
    Ok(())
}

pub(super) fn diagnostic(file: &Arc<str>, fault: Fault, excerpt: Option<String>) -> Diagnostic {
    let Fault {
        severity,
        position,
        message,
        hint,
        syntax: _,
    } = fault;
    Diagnostic {
        severity,
        file: file.clone(),
        position: Some(position),
        message: cut(&message, MESSAGE),
        excerpt,
        hint,
    }
}

fn has_error(faults: &[Fault]) -> bool {
    faults.iter().any(|f| f.severity == Severity::Error)
}

/// Whether a value is a Secret or a list with one, however the word is spelled in the text.
fn is_secret(root: &Node) -> bool {
    let named = |node: &Node| {
        node.get("kind")
            .and_then(Node::as_str)
            .is_some_and(|k| k.contains("Secret"))
    };
    match root.get("items").map(|items| &items.kind) {
        Some(NodeKind::List(items)) => named(root) || items.iter().any(is_secret),
        _ => named(root),
    }
}

fn extension(path: &str) -> Option<&str> {
    path.rsplit('/')
        .next()?
        .rsplit_once('.')
        .map(|(_, extension)| extension)
}

fn is_manifest(path: &str) -> bool {
    let wanted = ["yaml", "yml", "json"];
    extension(path).is_some_and(|e| wanted.iter().any(|w| e.eq_ignore_ascii_case(w)))
}
