use super::*;

// Made with ssh-keygen; the hashed lines with `ssh-keygen -H`.
const ECDSA: &str = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBG//eS+LOukOi/qRqH9GAdQmFe9VZn4gM7LlqYJndBtbq/4XJV+ni+e2+9bgQomFlOJtOTiJ6vBN+liTqjpA+98=";
const ED25519: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMiSqawyT4EljhAFOg9ECaJ5TLlcd7R3PErjCnvlBkk/";
const OTHER: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFbR4Px2Plc41Of4RDnY2SD0pT/AuvAp4oU4JxPwV5vs";
/// `git.example.com` with `ED25519`, then `[git.example.com]:2222` with `ECDSA`.
const HASHED: [&str; 2] = [
    "|1|5bwYyh7I79VwwhM8xBl4oupf4jw=|DcRwabiOkgve057IlhfQmVQ1Pck=",
    "|1|RwNSABreDWuVu4uHNAX0lb0dpq0=|rCUZJW8iYKw22WRzDAJESBmLF8U=",
];

fn key(line: &str) -> Vec<u8> {
    STANDARD.decode(line.split(' ').nth(1).unwrap()).unwrap()
}

fn known(text: &str) -> KnownHosts {
    let mut known = KnownHosts::default();
    known.add("kh", text);
    known
}

fn check(text: &str, host: &str, port: u16, line: &str) -> Verdict {
    known(text).check(host, port, &key(line))
}

#[test]
fn c46_any_line_with_the_servers_key_will_do() {
    let text = format!("h.example {ECDSA}\nh.example {OTHER}\nh.example {ED25519} comment\n");
    for line in [ECDSA, ED25519, OTHER] {
        assert_eq!(check(&text, "h.example", 22, line), Verdict::Known);
        assert_eq!(check(&text, "H.Example", 22, line), Verdict::Known);
    }
}

#[test]
fn c46_another_key_of_the_same_kind_is_a_change_and_of_another_kind_is_told_apart() {
    let text = format!("# comment\n\nh.example {ED25519}\n");
    assert_eq!(
        check(&text, "h.example", 22, OTHER),
        Verdict::Changed("kh:3".to_owned())
    );
    assert_eq!(
        check(&text, "h.example", 22, ECDSA),
        Verdict::OtherKinds(vec!["ssh-ed25519".to_owned()])
    );
    assert_eq!(check(&text, "i.example", 22, OTHER), Verdict::Unknown);
}

#[test]
fn c46_hashed_names_are_matched() {
    let text = format!("{} {ED25519}\n{} {ECDSA}\n", HASHED[0], HASHED[1]);
    assert_eq!(check(&text, "git.example.com", 22, ED25519), Verdict::Known);
    assert_eq!(check(&text, "git.example.com", 2222, ECDSA), Verdict::Known);
    assert_eq!(
        check(&text, "git.example.com", 22, OTHER),
        Verdict::Changed("kh:1".to_owned())
    );
    assert_eq!(
        check(&text, "git.example.org", 22, ED25519),
        Verdict::Unknown
    );
}

#[test]
fn c46_ports_have_their_own_lines_and_fall_back_to_the_hosts() {
    let text = format!("[h.example]:2222 {ECDSA}\nh.example {ED25519}\n");
    assert_eq!(check(&text, "h.example", 2222, ECDSA), Verdict::Known);
    assert_eq!(
        check(&text, "h.example", 2222, ED25519),
        Verdict::OtherKinds(vec!["ecdsa-sha2-nistp256".to_owned()])
    );
    assert_eq!(check(&text, "h.example", 2200, ED25519), Verdict::Known);
    assert_eq!(check(&text, "h.example", 2200, OTHER), Verdict::Unknown);
}

#[test]
fn patterns_and_their_exceptions_are_honoured() {
    let text = format!("*.example.com,!bad.example.com,host? {ED25519}\n");
    for (host, verdict) in [
        ("a.example.com", Verdict::Known),
        ("a.b.example.com", Verdict::Known),
        ("host1", Verdict::Known),
        ("bad.example.com", Verdict::Unknown),
        ("example.com", Verdict::Unknown),
        ("host12", Verdict::Unknown),
    ] {
        assert_eq!(check(&text, host, 22, ED25519), verdict, "{host}");
    }
    let slow = "*a".repeat(40);
    assert!(!glob(slow.as_bytes(), "a".repeat(39).as_bytes()));
    assert!(!glob(
        slow.as_bytes(),
        format!("{}b", "a".repeat(200)).as_bytes()
    ));
}

#[test]
fn a_revoked_key_is_refused_even_if_another_line_has_it() {
    let text = format!("h.example {ED25519}\n@revoked * {ED25519}\n");
    assert_eq!(
        check(&text, "h.example", 22, ED25519),
        Verdict::Revoked("kh:2".to_owned())
    );
    assert_eq!(
        check(&text, "h.example", 2222, ED25519),
        Verdict::Revoked("kh:2".to_owned())
    );
}

#[test]
fn an_authoritys_key_is_no_servers_key() {
    let text = format!("@cert-authority *.example {ED25519}\n");
    assert_eq!(check(&text, "h.example", 22, ED25519), Verdict::Unknown);
}

#[test]
fn lines_that_cannot_be_understood_are_passed_over() {
    let text = format!(
        "h.example\nh.example ssh-ed25519\nh.example ssh-ed25519 !!!\n@new h.example {OTHER}\n|1|x|y {OTHER}\n\u{0}\nh.example {ED25519}"
    );
    assert_eq!(check(&text, "h.example", 22, ED25519), Verdict::Known);
}

#[test]
fn a_record_is_read_back_as_known() {
    let line = record("h.example", 2222, &key(ED25519));
    assert_eq!(line, format!("[h.example]:2222 {ED25519}\n"));
    assert_eq!(check(&line, "h.example", 2222, ED25519), Verdict::Known);
    let hashed = format!("{} {ED25519}", HASHED[0]);
    assert_eq!(
        known(&hashed).plain("git.example.com", 22),
        [format!("git.example.com {ED25519}\n")]
    );
}

#[test]
fn the_kind_is_read_from_the_key() {
    assert_eq!(algorithm(&key(ECDSA)), "ecdsa-sha2-nistp256");
    for bad in [
        &b""[..],
        b"\0\0\0",
        b"\xff\xff\xff\xffabc",
        b"\0\0\0\x01\x1b",
    ] {
        assert_eq!(algorithm(bad), "unknown");
    }
}
