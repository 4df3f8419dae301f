//! The manifest of an agent's jar.

use super::error::JarError;
use super::jar::Jar;

const NAME: &str = "META-INF/MANIFEST.MF";
/// Those of signed jars list all their files, and are far below this.
const LIMIT: usize = 1 << 20;
/// JaCoCo's releases have a package of their own below it, so that two of them can be in one VM.
const JACOCO: &str = "org.jacoco.agent.rt.";

/// What a manifest says of itself in its main section.
pub(super) struct Manifest(Vec<(String, String)>);

impl Manifest {
    pub(super) fn of(jar: &Jar<'_>) -> Result<Self, JarError> {
        let bytes = jar.file(NAME, LIMIT)?.ok_or(JarError::NoManifest)?;
        Ok(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// A line that begins with a blank continues the one before it; an empty line ends the section.
    fn parse(text: &str) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in text.lines().take_while(|it| !it.is_empty()) {
            if let Some(rest) = line.strip_prefix(' ') {
                if let Some((_, value)) = fields.last_mut() {
                    value.push_str(rest);
                }
            } else if let Some((name, value)) = line.split_once(": ") {
                fields.push((name.to_owned(), value.to_owned()));
            }
        }
        Self(fields)
    }

    /// Names of fields have no case.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    /// The version of JaCoCo, once it is sure that a VM would find the agent.
    pub(super) fn jacoco_version(&self, jar: &Jar<'_>) -> Result<String, JarError> {
        let class = self.field("Premain-Class").ok_or(JarError::NoAgent)?;
        if !class.starts_with(JACOCO) {
            return Err(JarError::Foreign(class.to_owned()));
        }
        if !jar.has(&format!("{}.class", class.replace('.', "/"))) {
            return Err(JarError::NoClass(class.to_owned()));
        }
        Ok(self
            .field("Implementation-Version")
            .unwrap_or("unknown")
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_more_than_72_bytes_are_continued() {
        let manifest =
            Manifest::parse("A: one\r\n two\r\nB: 3\r\n\r\nName: x\r\nC: of another section\r\n");
        assert_eq!(manifest.field("a"), Some("onetwo"));
        assert_eq!(manifest.field("B"), Some("3"));
        assert_eq!(manifest.field("C"), None);
    }
}
