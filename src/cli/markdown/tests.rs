use serde_json::{Value, json};

use super::*;
use crate::api::{GroupKind, ObjectId};
use crate::load::{Origin, Position};
use crate::plan::{Action, Approval, Body, Conflict, diff};

fn step(action: Action, kind: &str, name: &str, change: Option<(&Value, &Value)>) -> Step {
    let place = Position { line: 3, column: 1 };
    let in_source = !matches!(action, Action::Delete | Action::Keep);
    Step {
        id: ObjectId {
            group_kind: GroupKind::new("", kind),
            namespace: (kind != "Namespace").then(|| "shop".to_owned()),
            name: name.to_owned(),
        },
        api_version: "v1".into(),
        action,
        reason: "the manifest has changed".into(),
        origin: in_source.then(|| Origin {
            file: format!("{name}.yaml").into(),
            position: place,
        }),
        batch: 0,
        wave: 0,
        needs: Vec::new(),
        owner: None,
        conflicts: Vec::new(),
        drift: false,
        expected: None,
        approval: None,
        body: Body::None,
        diff: change
            .and_then(|(before, after)| diff(before, after, &format!("v1.{kind}.shop.{name}"))),
    }
}

fn object(kind: &str, name: &str, key: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": "shop" },
        "data": { key: value },
    })
}

fn of<'a>(plan: &'a Plan, diagnostics: &'a [Diagnostic]) -> Page<'a> {
    Page {
        plan,
        diagnostics,
        set: "shop/shop",
        revision: "main@sha1:0123456789abcdef0123456789abcdef01234567",
        against: &Against::Cluster,
        approve: "kubectl annotate sync -n shop shop closurejvm.io/approve-prune=main@sha1:0123 --overwrite",
    }
}

#[test]
fn a_page_begins_with_what_is_lost() {
    let null = Value::Null;
    let (old, new) = (
        object("ConfigMap", "pets", "cats", "1"),
        object("ConfigMap", "pets", "cats", "2"),
    );
    let (secret, other) = (
        object("Secret", "db", "password", "aHVudGVyMg=="),
        object("Secret", "db", "password", "aHVudGVyMw=="),
    );
    let gone = object("ConfigMap", "gone", "a", "b");
    let mut refused = step(Action::Refuse, "Service", "web", None);
    refused.reason = "other managers own fields of it".into();
    refused.conflicts.push(Conflict {
        manager: "helm".into(),
        field: ".spec.ports".into(),
    });
    let mut waits = step(Action::Keep, "Namespace", "old", None);
    waits.reason = "a Namespace takes along all that is in it".into();
    waits.approval = Some(Approval::Needed);
    let mut deleted = step(Action::Delete, "ConfigMap", "gone", Some((&gone, &null)));
    deleted.reason = "it has left the source".into();
    let plan = Plan {
        steps: vec![
            step(Action::Create, "ConfigMap", "new", Some((&null, &new))),
            step(Action::Configure, "ConfigMap", "pets", Some((&old, &new))),
            step(Action::Configure, "Secret", "db", Some((&secret, &other))),
            step(Action::Unchanged, "ConfigMap", "same", None),
            refused,
            waits,
            deleted,
        ],
        prune_refused: Some("the source has errors".into()),
        ..Plan::default()
    };
    let origin = Origin {
        file: "web.yaml".into(),
        position: Position { line: 7, column: 3 },
    };
    let faults = [
        Diagnostic::warning_at(&origin, "its sync wave is no integer"),
        Diagnostic::error_at(&origin, "the port is written in octal").with_hint("write 6300"),
    ];
    insta::assert_snapshot!(page(&of(&plan, &faults)));
}

#[test]
fn a_page_of_nothing_is_one_line() {
    let revision = "<code>main&#64;sha1&#58;0123456789abcdef0123456789abcdef01234567</code>";
    assert_eq!(
        page(&of(&Plan::default(), &[])),
        format!(
            "### Covergence: nothing to do: the source holds no object\n\nSync <code>shop/shop</code> at {revision}, compared with the cluster.\n"
        )
    );
}

/// Whatever objects, files and messages hold: outside of blocks of code nothing of it is markup, and no block ends early.
#[test]
fn hostile_content_stays_content() {
    let hostile = "</details></code>\n```\n````\n@everyone <script>x</script> [a](http://x)";
    let changed = object("ConfigMap", "pets", "k", hostile);
    let mut step = step(
        Action::Configure,
        "ConfigMap",
        "p|`@a`",
        Some((&Value::Null, &changed)),
    );
    step.reason = hostile.into();
    step.conflicts.push(Conflict {
        manager: hostile.into(),
        field: hostile.into(),
    });
    step.origin = Some(Origin {
        file: hostile.into(),
        position: Position { line: 1, column: 1 },
    });
    let mut other = step.clone();
    other.id.group_kind.kind = hostile.into();
    let plan = Plan {
        prune_refused: Some(hostile.into()),
        unreadable: [(step.id.clone(), hostile.to_owned())].into(),
        steps: vec![step, other],
        ..Plan::default()
    };
    let origin = Origin {
        file: hostile.into(),
        position: Position { line: 1, column: 1 },
    };
    let faults = [Diagnostic::error_at(&origin, hostile).with_hint(hostile)];
    let page = page(&Page {
        set: hostile,
        revision: hostile,
        against: &Against::Revision(hostile.to_owned()),
        ..of(&plan, &faults)
    });

    let mut fence: Option<&str> = None;
    let (mut blocks, mut outside) = (0, Vec::new());
    for line in page.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            None if ticks.len() >= 3 => fence = Some(ticks),
            Some(open) if line == open => (fence, blocks) = (None, blocks + 1),
            // As CommonMark has it, a longer fence ends a block as well.
            Some(open) => assert!(
                !line.trim().trim_matches('`').is_empty() || line.trim().len() < open.len(),
                "{line}"
            ),
            None => outside.push(line),
        }
    }
    assert_eq!((fence, blocks), (None, 2), "{page}");
    for line in outside {
        let ours = [
            "<details>",
            "</details>",
            "<summary>",
            "</summary>",
            "<code>",
            "</code>",
            "<br>",
        ];
        let bare = ours
            .iter()
            .fold(line.to_owned(), |line, tag| line.replace(tag, ""));
        assert!(!bare.contains(['<', '>', '@', '`', '[', '!']), "{line}");
        let count = |tag| line.matches(tag).count();
        assert_eq!(count("<code>"), count("</code>"), "{line}");
    }
    assert_eq!(page.matches("<details>").count(), 2);
}

#[test]
fn a_long_page_ends_after_a_whole_object_and_says_what_is_missing() {
    let text = "x".repeat(500);
    let steps = (0..400).map(|i| {
        let after = object("ConfigMap", &format!("c{i:03}"), "k", &text);
        step(
            Action::Create,
            "ConfigMap",
            &format!("c{i:03}"),
            Some((&Value::Null, &after)),
        )
    });
    let huge = object("ConfigMap", "huge", "k", &"line\n".repeat(9_000));
    let mut huge = step(
        Action::Delete,
        "ConfigMap",
        "huge",
        Some((&huge, &Value::Null)),
    );
    huge.reason = "it has left the source".into();
    let lines = huge.diff.as_ref().unwrap().lines().count();
    let plan = Plan {
        steps: steps.chain([huge]).collect(),
        ..Plan::default()
    };
    let page = page(&of(&plan, &[]));
    assert!((60_000..65_536).contains(&page.len()), "{}", page.len());
    assert!(
        page.contains(&format!("Its diff has {lines} lines")),
        "{page}"
    );
    let shown = page.matches("<details>").count();
    assert_eq!(page.matches("</details>").count(), shown);
    let rest = 401 - shown;
    let end = format!(
        "\n**{rest} more objects are not shown**, since a comment must end somewhere: the same command with `-o text` shows all.\n"
    );
    assert!(page.ends_with(&end), "{}", &page[page.len() - 300..]);
    // Unchanged ones are counted, and not shown.
    assert!(page.starts_with("### Covergence: 400 to create, 1 to delete\n"));
}
