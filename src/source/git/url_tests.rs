use super::*;

fn parse(text: &str) -> RepositoryUrl {
    text.parse().unwrap()
}

fn remote_of(text: &str) -> Remote {
    match parse(text).0 {
        Place::Remote(remote) => remote,
        Place::Local(path) => panic!("{text} is taken for the path {path:?}"),
    }
}

#[test]
fn paths_and_file_urls_are_local() {
    for (text, path) in [
        ("/srv/git/pets.git", "/srv/git/pets.git"),
        ("pets", "pets"),
        ("./with:colon", "./with:colon"),
        ("file:///srv/a%20b", "/srv/a b"),
        ("file:///srv/100%", "/srv/100%"),
        ("file://localhost/srv/pets", "/srv/pets"),
    ] {
        assert!(parse(text).0 == Place::Local(path.into()), "{text}");
    }
}

#[test]
fn the_short_form_and_ssh_urls_give_host_port_and_user() {
    for (text, host, port, user) in [
        (
            "git@Example.com:team/pets.git",
            "example.com",
            22,
            Some("git"),
        ),
        ("example.com:pets.git", "example.com", 22, None),
        (
            "ssh://git@example.com/pets.git",
            "example.com",
            22,
            Some("git"),
        ),
        (
            "ssh://git@example.com:2222/pets.git",
            "example.com",
            2222,
            Some("git"),
        ),
        (
            "git+ssh://git@[::1]:2222/pets.git",
            "::1",
            2222,
            Some("git"),
        ),
    ] {
        let remote = remote_of(text);
        assert_eq!(remote.transport, Transport::Ssh, "{text}");
        assert_eq!((remote.host.as_str(), remote.port), (host, port), "{text}");
        assert_eq!(remote.user.as_deref(), user, "{text}");
    }
}

#[test]
fn credentials_of_a_url_are_kept_apart_from_it() {
    let remote = remote_of("https://robot:p%40ss@example.com:8443/pets.git");
    assert_eq!(remote.user.as_deref(), Some("robot"));
    assert_eq!(remote.password.as_deref(), Some("p@ss"));
    assert_eq!(remote.bare, "https://example.com:8443/pets.git");
}

#[test]
fn secrets_are_shown_by_neither_display_nor_debug() {
    for (text, shown) in [
        (
            "https://robot:hunter2@h.example/p.git",
            "https://robot:***@h.example/p.git",
        ),
        (
            "https://hunter2@h.example/p.git",
            "https://***@h.example/p.git",
        ),
        (
            "https://hunter2:x-oauth-basic@h.example/p.git",
            "https://***:***@h.example/p.git",
        ),
        (
            "https://:hunter2@h.example/p.git",
            "https://:***@h.example/p.git",
        ),
        (
            "https://h.example/p.git?sig=hunter2",
            "https://h.example/p.git?***",
        ),
        ("https://h.example/p.git#hunter2", "https://h.example/p.git"),
        (
            "ssh://git:hunter2@h.example/p.git",
            "ssh://git:***@h.example/p.git",
        ),
        ("ssh://git@h.example/p.git", "ssh://git@h.example/p.git"),
    ] {
        let url = parse(text);
        assert_eq!(url.to_string(), shown);
        assert_eq!(format!("{url:?}"), format!("RepositoryUrl({shown})"));
    }
}

#[test]
fn what_is_no_repository_url_is_refused_without_quoting_it() {
    for text in [
        "",
        "ftp://hunter2@example.com/p.git",
        "https://",
        "https://robot:hunter2@example.com:hunter2/p.git",
        "file://hunter2/p.git",
        "a\nhunter2",
        "git@:hunter2",
        "git@hunter2:",
    ] {
        let error = text.parse::<RepositoryUrl>().unwrap_err();
        assert!(matches!(error, SourceError::InvalidUrl { .. }), "{text}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    }
}
