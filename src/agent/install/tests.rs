use std::fs;

use proptest::prelude::*;

use super::*;

/// Debian's libjacoco-java: the agent is inside.
const OUTER: &str = "/usr/share/java/org.jacoco.agent.jar";

fn outer() -> Vec<u8> {
    fs::read(OUTER).expect("libjacoco-java is installed")
}

fn inner() -> Vec<u8> {
    let outer = outer();
    let jar = Jar::read(&outer).unwrap();
    jar.file(FILE_NAME, LIMIT).unwrap().unwrap()
}

/// An archive with these files, as they are.
fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let at = bytes.len() as u32;
        let lengths = |out: &mut Vec<u8>| {
            out.extend([0; 4]); // crc
            out.extend((content.len() as u32).to_le_bytes());
            out.extend((content.len() as u32).to_le_bytes());
            out.extend((name.len() as u16).to_le_bytes());
            out.extend([0; 2]);
        };
        bytes.extend(*b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0");
        lengths(&mut bytes);
        bytes.extend(name.bytes());
        bytes.extend(content.bytes());
        directory.extend(*b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0\0\0\0\0");
        lengths(&mut directory);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (at, count) = (bytes.len() as u32, files.len() as u16);
    bytes.extend(&directory);
    bytes.extend(*b"PK\x05\x06\0\0\0\0");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(at.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

fn with_manifest(manifest: &str) -> Vec<u8> {
    archive(&[("META-INF/MANIFEST.MF", manifest)])
}

fn refused(bytes: &[u8]) -> JarError {
    agent_of(bytes).map(|(_, version)| version).unwrap_err()
}

#[test]
fn the_agent_is_taken_as_it_is_or_out_of_the_jar_that_holds_it() {
    let (inner, outer) = (inner(), outer());
    let (direct, version) = agent_of(&inner).unwrap();
    assert_eq!(version, "0.8.6");
    let (unpacked, same) = agent_of(&outer).unwrap();
    assert_eq!((direct, version), (unpacked, same));
}

#[test]
fn what_is_installed_is_the_agent_for_all_to_read() {
    let folder = tempfile::tempdir().unwrap();
    let installed = install(Path::new(OUTER), folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    assert_eq!(fs::read(&path).unwrap(), inner());
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    assert_eq!(installed.version, "0.8.6");
    // Again, over the first one, since init containers run again: and nothing else is left there.
    assert_eq!(install(Path::new(OUTER), folder.path()).unwrap(), installed);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_agent_of_jacoco_is_refused() {
    assert_eq!(refused(b""), JarError::NoArchive);
    assert_eq!(refused(b"#!/bin/sh\nexit 0\n"), JarError::NoArchive);
    assert_eq!(refused(&archive(&[("a", "b")])), JarError::NoManifest);
    assert_eq!(
        refused(&with_manifest("Main-Class: a.Main\n")),
        JarError::NoAgent
    );
    assert_eq!(
        refused(&with_manifest("Premain-Class: io.opentelemetry.Agent\n")),
        JarError::Foreign("io.opentelemetry.Agent".to_owned())
    );
    let class = "org.jacoco.agent.rt.internal_1.PreMain";
    assert_eq!(
        refused(&with_manifest(&format!("Premain-Class: {class}\n"))),
        JarError::NoClass(class.to_owned())
    );
}

#[test]
fn a_jar_that_is_cut_off_is_refused() {
    let inner = inner();
    for length in [1, 22, 1000, inner.len() / 2, inner.len() - 1] {
        assert_eq!(refused(&inner[..length]), JarError::NoArchive, "{length}");
    }
}

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let outer = outer();
    let jar = Jar::read(&outer).unwrap();
    let refused = jar.file(FILE_NAME, 1000).unwrap_err();
    let name = FILE_NAME.to_owned();
    assert_eq!(refused, JarError::TooLarge { name, limit: 1000 });
}

#[test]
fn nothing_is_installed_where_there_is_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = install(Path::new(OUTER), &missing).unwrap_err();
    assert!(matches!(error, AgentError::Write(..)), "{error}");
}

proptest! {
    /// Whatever the bytes are, there is an answer.
    #[test]
    fn damage_is_an_answer(at in 0_usize..300_000, byte: u8, cut in 0_usize..300_000) {
        let mut bytes = outer();
        let length = bytes.len();
        bytes[at % length] = byte;
        let _ = agent_of(&bytes);
        // The end record moves along, so that offsets lie.
        let end = bytes.split_off(length - 22);
        bytes.truncate(cut);
        bytes.extend(end);
        let _ = agent_of(&bytes);
    }
}
