//! What tests of overlays need: the programs that build them, and stand-ins that tell what they were given.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use covergence::load::Snapshot;
use covergence::overlay::{Builder, Failed, Limits, Options};
use covergence::source::directory::{self, DirectorySource};
use tempfile::TempDir;

use super::source::Source;

/// A program on `PATH`.
pub fn program(name: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap();
    let mut found = env::split_paths(&path).map(|folder| folder.join(name));
    let found = found.find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is not on PATH; .ci/setup installs it"))
}

/// Builders with scratch space of their own.
pub struct Workshop {
    work: TempDir,
    pub builder: Builder,
}

impl Workshop {
    /// With the programs on `PATH`.
    pub fn new(limits: Limits) -> Self {
        Self::with(limits, Path::new(&env::var_os("PATH").unwrap()))
    }

    /// With the programs of another `PATH`.
    pub fn with(limits: Limits, search: &Path) -> Self {
        let work = tempfile::tempdir().unwrap();
        let builder = Builder::new(work.path().to_owned())
            .with(Path::new(env!("CARGO_BIN_EXE_covergence")), search)
            .within(limits);
        Self { work, builder }
    }

    /// Builds a source.
    pub fn build(&self, source: &Source) -> Result<Snapshot, Failed> {
        let read = directory::find(
            &DirectorySource::from(source.path().to_owned()),
            &covergence::source::Limits::default(),
        );
        let options = Options {
            release: "it".to_owned(),
            namespace: "shop".to_owned(),
            ..Options::default()
        };
        let built = self.builder.build(read.unwrap(), &options);
        let left = fs::read_dir(self.work.path()).unwrap().count();
        assert_eq!(left, 0, "a copy of the files is left");
        built
    }

    /// Builds a source that cannot be built, and tells why.
    pub fn refusal(&self, source: &Source) -> String {
        self.build(source).unwrap_err().message()
    }
}

/// What was built, as text.
pub fn text(snapshot: &Snapshot) -> String {
    let files = snapshot.files.iter();
    files
        .map(|file| String::from_utf8(file.bytes.clone()).unwrap())
        .collect()
}

/// A folder with a program of this text.
pub fn stand_in(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A kustomize that counts its runs: each adds a line to `count` beside it.
pub fn counting_kustomize() -> TempDir {
    let kubectl = program("kubectl");
    let text = format!(
        "#!/bin/sh\necho run >>\"${{0%/*}}/count\"\nexec {} kustomize \"$2\"\n",
        kubectl.display()
    );
    stand_in("kustomize", &text)
}

/// How often it ran.
pub fn runs(kustomize: &TempDir) -> usize {
    let count = fs::read_to_string(kustomize.path().join("count"));
    count.map_or(0, |text| text.lines().count())
}

/// A chart of these files beside its `Chart.yaml`.
pub fn chart(files: &[(&str, &str)]) -> Source {
    let chart = Source::new().file("Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
    for (file, text) in files {
        chart.write_text(file, text);
    }
    chart
}

/// A ConfigMap's text whose one value is this.
pub fn map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: {value}}}\n")
}
