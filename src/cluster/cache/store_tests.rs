use std::sync::OnceLock;

use super::kept::Object;
use super::store::{News, Store};
use super::*;
use crate::api::names::APPLYSET_PART_OF;
use crate::plan::Live;

fn live(name: &str, uid: &str, version: u32, set: &str) -> Live {
    Live {
        name: name.into(),
        namespace: Some("shop".into()),
        uid: uid.into(),
        resource_version: version.to_string(),
        labels: [(APPLYSET_PART_OF, set)].into_iter().collect(),
        ..Live::default()
    }
}

fn object(name: &str, version: u32) -> Object {
    of_set(name, version, "a")
}

fn of_set(name: &str, version: u32, set: &str) -> Object {
    Object {
        metadata: Arc::new(live(name, &format!("uid-{name}"), version, set)),
        facts: OnceLock::new(),
    }
}

/// Names and versions before and after.
fn told(news: impl IntoIterator<Item = News>) -> Vec<String> {
    let version = |live: Option<Arc<Live>>| live.map_or("-".into(), |l| l.resource_version.clone());
    news.into_iter()
        .map(|n| format!("{} {}..{}", n.place.1, version(n.before), version(n.after)))
        .collect()
}

fn names(store: &Store<Object>, set: &str) -> Vec<String> {
    store.group(set).map(|o| o.live().name.clone()).collect()
}

#[test]
fn an_echo_and_what_is_late_are_no_news() {
    let mut store = Store::default();
    assert_eq!(told(store.tell(object("x", 9))), ["x -..9"]);
    assert_eq!(told(store.tell(object("x", 9))), [""; 0]);
    // As text, 10 comes before 9.
    assert_eq!(told(store.tell(object("x", 10))), ["x 9..10"]);
    assert_eq!(told(store.tell(object("x", 9))), [""; 0]);
    assert_eq!(told(store.end(&live("x", "uid-x", 8, "a"))), [""; 0]);
    assert_eq!(told(store.end(&live("x", "uid-x", 11, "a"))), ["x 10..-"]);
    assert_eq!(told(store.end(&live("x", "uid-x", 11, "a"))), [""; 0]);
}

#[test]
fn members_are_found_by_their_set() {
    let mut store = Store::default();
    for object in [
        of_set("x", 1, "a"),
        of_set("y", 2, "b"),
        of_set("z", 3, "a"),
    ] {
        store.tell(object);
    }
    assert_eq!(names(&store, "a"), ["x", "z"]);
    store.tell(of_set("x", 4, "b"));
    assert_eq!(names(&store, "a"), ["z"]);
    assert_eq!(names(&store, "b"), ["x", "y"]);
    store.end(&live("z", "uid-z", 5, "a"));
    assert_eq!(names(&store, "a"), [""; 0]);
}

#[test]
fn a_new_list_tells_what_was_missed() {
    let mut store = Store::default();
    let first = ["gone", "same", "changed"].map(|name| object(name, 1));
    store.replace(first.into(), "2");
    // Written by ourselves after the list that is still on its way was taken.
    store.answer(object("ours", 8));
    let second = vec![object("same", 1), object("changed", 5), object("new", 6)];
    let mut news = told(store.replace(second, "7"));
    news.sort_unstable();
    assert_eq!(news, ["changed 1..5", "gone 1..-", "new -..6"]);
    assert_eq!(names(&store, "a"), ["changed", "new", "ours", "same"]);
}

#[test]
fn what_we_deleted_does_not_come_back() {
    let mut store = Store::default();
    let place = (Some("shop".to_owned()), "x".to_owned());
    store.tell(object("x", 1));
    store.forget(&place, "uid-x");
    // An edit that was under way, also as part of a list, and the end itself.
    assert_eq!(told(store.tell(object("x", 2))), [""; 0]);
    assert_eq!(told(store.replace(vec![object("x", 2)], "2")), [""; 0]);
    assert_eq!(told(store.end(&live("x", "uid-x", 3, "a"))), [""; 0]);
    // Another one of that name.
    let again = live("x", "other", 4, "a");
    let again = Object {
        metadata: Arc::new(again),
        facts: OnceLock::new(),
    };
    assert_eq!(told(store.tell(again)), ["x -..4"]);
    // The delete was of the one before.
    store.forget(&place, "uid-x");
    assert_eq!(names(&store, "a"), ["x"]);
}

#[test]
fn an_answer_that_comes_after_the_end_does_not_bring_it_back() {
    let mut store = Store::default();
    store.answer(object("x", 1));
    assert_eq!(names(&store, "a"), ["x"]);
    store.end(&live("x", "uid-x", 5, "a"));
    store.answer(object("x", 3));
    assert_eq!(names(&store, "a"), [""; 0]);
    // One that the watch has not told of yet.
    store.answer(object("y", 6));
    assert_eq!(names(&store, "a"), ["y"]);
}

#[test]
fn a_kind_that_is_gone_takes_its_objects_along() {
    let mut store = Store::default();
    store.replace(vec![object("x", 1), object("y", 1)], "1");
    assert_eq!(told(store.clear()), ["x 1..-", "y 1..-"]);
    assert_eq!(store.each().count(), 0);
}
