//! What a kustomization refers to.

use crate::load::{Diagnostic, Limits, Node, NodeKind, Position, SourceFile, values};

/// Fields whose entries may be folders with a kustomization of their own.
const FOLDERS: [&str; 6] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
];

/// Fields whose entries are files.
const FILES: [&str; 3] = ["patchesStrategicMerge", "configurations", "crds"];

/// Fields whose entries name files, and the keys that do so.
const NAMING: [(&str, &[&str]); 5] = [
    ("patches", &["path"]),
    ("patchesJson6902", &["path"]),
    ("replacements", &["path"]),
    ("configMapGenerator", &["files", "envs", "env"]),
    ("secretGenerator", &["files", "envs", "env"]),
];

/// Fields that inflate Helm charts.
const CHARTS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// What a kustomization says of other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kustomization {
    /// The files and folders that it refers to.
    pub references: Vec<Reference>,
    /// Where it asks for Helm charts, if it does.
    pub charts: Option<Position>,
    /// Files whose contents become Secrets.
    pub secret_files: Vec<String>,
    /// Values of Secrets, as `key=value`.
    pub secret_literals: Vec<String>,
}

/// A file or folder that a kustomization refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// As written: a path relative to the kustomization's folder, or a URL.
    pub text: String,
    /// Where it stands.
    pub position: Position,
    /// Whether it may be a folder with a kustomization of its own.
    pub may_be_folder: bool,
}

impl Reference {
    /// Tells whether kustomize takes it, or may take it, for a place in the network, whatever is there on disk: the words of
    /// its `RepoSpec` and its file loader, and in doubt more.
    pub fn is_remote(&self) -> bool {
        let text = self.text.trim().to_ascii_lowercase();
        let first = text.split('/').next().unwrap_or_default();
        let begins = ["git::", "gh:", "github.com"];
        let holds = ["://", "?ref=", "?version=", "&ref=", ".git/", "_git/"];
        begins.iter().any(|word| text.starts_with(word))
            || holds.iter().any(|word| text.contains(word))
            || text.ends_with(".git")
            // `user@host:path`
            || first.contains('@') && text.contains(':')
            || self.may_be_folder && (text.contains('?') || text.trim_start_matches("./").contains("//"))
    }
}

/// Reads a kustomization; of one with an error, what could be read.
pub fn kustomization(file: &SourceFile) -> (Kustomization, Vec<Diagnostic>) {
    let (roots, diagnostics) = values(file, &Limits::default());
    let mut found = Kustomization::default();
    for root in &roots {
        found.add(root);
    }
    (found, diagnostics)
}

impl Kustomization {
    fn add(&mut self, root: &Node) {
        for field in FOLDERS {
            self.refer(root.get(field), true);
        }
        for field in FILES {
            self.refer(root.get(field), false);
        }
        self.refer(root.at(&["openapi", "path"]), false);
        for (field, keys) in NAMING {
            let Some(NodeKind::List(items)) = root.get(field).map(|node| &node.kind) else {
                continue;
            };
            for (item, key) in items
                .iter()
                .flat_map(|item| keys.iter().map(move |key| (item, key)))
            {
                self.refer(item.get(key), false);
                if field == "secretGenerator" {
                    self.secret_files
                        .extend(texts(item.get(key)).map(|it| path_of(it).to_owned()));
                }
            }
            if field == "secretGenerator" {
                let literals = items.iter().flat_map(|item| texts(item.get("literals")));
                self.secret_literals.extend(literals.map(str::to_owned));
            }
        }
        let mut charts = CHARTS.iter().filter_map(|field| root.entry(field));
        self.charts = self.charts.or(charts.next().map(|entry| entry.position));
    }

    fn refer(&mut self, node: Option<&Node>, may_be_folder: bool) {
        for node in strings(node) {
            let text = node.as_str().unwrap_or_default();
            // An object that is written out in place.
            if !text.contains('\n') && !text.starts_with('{') {
                self.references.push(Reference {
                    text: path_of(text).to_owned(),
                    position: node.position,
                    may_be_folder,
                });
            }
        }
    }
}

/// A generator's `key=path`, without the key.
fn path_of(text: &str) -> &str {
    match text.split_once('=') {
        Some((key, path)) if !key.contains(['/', '?']) => path,
        _ => text,
    }
}

fn texts(node: Option<&Node>) -> impl Iterator<Item = &str> {
    strings(node).into_iter().filter_map(Node::as_str)
}

/// A string, or the strings of a list.
fn strings(node: Option<&Node>) -> Vec<&Node> {
    match node.map(|node| (&node.kind, node)) {
        Some((NodeKind::List(items), _)) => items
            .iter()
            .filter(|item| item.as_str().is_some())
            .collect(),
        Some((NodeKind::String(_), node)) => vec![node],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Kustomization {
        let file = SourceFile {
            path: "kustomization.yaml".into(),
            bytes: text.into(),
        };
        let (found, diagnostics) = kustomization(&file);
        assert_eq!(diagnostics, []);
        found
    }

    #[test]
    fn every_field_that_names_a_file_is_known() {
        let found = read(
            "resources: [../../base, a.yaml]\ncomponents: [c]\npatches:\n- path: p.yaml\n- patch: |\n    x: y\n\
             patchesStrategicMerge:\n- |\n  kind: A\n- s.yaml\nopenapi: {path: o.json}\n\
             configMapGenerator:\n- name: m\n  files: [f.txt, key=g.txt]\n  envs: [e.env]\n\
             secretGenerator:\n- name: s\n  files: [token]\n  literals: [password=hunter2]\n",
        );
        let names: Vec<_> = found.references.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(
            names,
            [
                "../../base",
                "a.yaml",
                "c",
                "s.yaml",
                "o.json",
                "p.yaml",
                "f.txt",
                "g.txt",
                "e.env",
                "token"
            ]
        );
        let folders = found.references.iter().filter(|it| it.may_be_folder);
        assert_eq!(folders.count(), 3);
        assert_eq!(found.secret_files, ["token"]);
        assert_eq!(found.secret_literals, ["password=hunter2"]);
        assert_eq!(found.charts, None);
        assert!(read("helmCharts: [{name: a}]\n").charts.is_some());
    }

    #[test]
    fn what_kustomize_fetches_is_remote() {
        let is_remote = |text: &str| {
            Reference {
                text: text.into(),
                position: Position { line: 1, column: 1 },
                may_be_folder: true,
            }
            .is_remote()
        };
        for remote in [
            "https://git.example/shop.git",
            "http://git.example/a.yaml",
            "github.com/example/shop",
            "github.com/example/shop//deploy?ref=v1",
            "git@git.example:shop/deploy.git",
            "git::git.example/shop",
            "ssh://git@git.example/shop",
            "git.example/shop.git/deploy",
            "git.example/shop//deploy",
            "../shop?ref=main",
            "file:///srv/shop",
            "HTTPS://git.example/a.yaml",
        ] {
            assert!(is_remote(remote), "{remote}");
        }
        for local in [
            "../../base",
            "a.yaml",
            "./b",
            "base@2/x.yaml",
            "github/base",
            ".github/x",
        ] {
            assert!(!is_remote(local), "{local}");
        }
    }
}
