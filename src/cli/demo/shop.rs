//! The source that the demo begins with: the shop of `manifests/`, in one namespace and without coverage yet.

/// A file of the repository.
#[derive(Clone, Debug)]
pub struct File {
    pub path: &'static str,
    pub text: String,
}

const FILES: [(&str, &str); 4] = [
    (
        "stock/config.yaml",
        include_str!("../../../manifests/stock/config.yaml"),
    ),
    (
        "stock/stock.yaml",
        include_str!("../../../manifests/stock/stock.yaml"),
    ),
    (
        "web/config.yaml",
        include_str!("../../../manifests/web/config.yaml"),
    ),
    (
        "web/pet.yaml",
        include_str!("../../../manifests/web/pet.yaml"),
    ),
];

/// Namespaces that `manifests/` spreads the shop over.
const NAMESPACES: [&str; 2] = ["namespace: shop-web", "namespace: shop-stock"];

const ON: &str = "coverageService: true";
const OFF: &str = "coverageService: false";
const ENABLED: &str = "enabled: true";
const DISABLED: &str = "enabled: false";

/// What [`covered`] changes, for people.
pub const CHANGE: [&str; 4] = [
    "-  coverageService: false",
    "+  coverageService: true",
    "-      enabled: false",
    "+      enabled: true",
];

/// The files, with every object in one namespace, and all coverage off.
pub fn files(namespace: &str) -> Vec<File> {
    let here = format!("namespace: {namespace}");
    let file = |(path, text): (&'static str, &str)| {
        let mut text = text.replace(ON, OFF).replace(ENABLED, DISABLED);
        for elsewhere in NAMESPACES {
            text = text.replace(elsewhere, &here);
        }
        File { path, text }
    };
    FILES.map(file).into()
}

/// The same manifest with coverage on.
pub fn covered(text: &str) -> String {
    text.replace(OFF, ON).replace(DISABLED, ENABLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_the_one_namespace_and_coverage_can_be_switched_on() {
        for file in files("demo") {
            assert!(file.text.contains("namespace: demo\n"), "{}", file.path);
            assert!(!file.text.contains("shop-"), "{}", file.text);
            let has_target = file.text.contains("kind: ClosureJVMTarget");
            assert_eq!(
                has_target,
                covered(&file.text) != file.text,
                "{}",
                file.path
            );
        }
    }
}
