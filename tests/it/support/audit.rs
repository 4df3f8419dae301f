//! What the API server says a user has asked of it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::api::Api;
use super::lab::{api, eventually, shared};
use super::namespace::unique;
pub use super::request::Event;
use super::shipped::{NAMESPACE, TENANT};

/// Everything that one user asks from now on.
pub struct Audit<'a> {
    pub user: String,
    api: &'a Api,
    log: PathBuf,
    from: u64,
}

impl Audit<'static> {
    /// Of a user of the shared control plane that nobody else is.
    pub fn new(prefix: &str) -> Self {
        Self::on(shared(), api(), prefix)
    }
}

impl<'a> Audit<'a> {
    /// The same on another control plane.
    pub fn on(lab: &Path, api: &'a Api, prefix: &str) -> Self {
        let log = lab.join("audit.log");
        let from = log
            .metadata()
            .unwrap_or_else(|error| {
                panic!("{}: {error}: start the lab with --audit", log.display())
            })
            .len();
        Self {
            user: unique(prefix),
            api,
            log,
            from,
        }
    }

    /// All of his requests up to now, in the order in which they were answered.
    pub fn events(&self) -> Vec<Event> {
        // The log is written as answers go out: once our own last request is in it, so are those before.
        let mark = unique("mark");
        let path = format!("/api/v1/namespaces/default/configmaps/{mark}");
        let marked = self
            .api
            .send_as(Some(&self.user), "GET", &path, "", &Value::Null);
        assert_eq!(marked.map_err(|refused| refused.code), Err(403));
        let events = eventually("the audit log is written", || {
            let events = self.read();
            events
                .iter()
                .any(|event| event.name == mark)
                .then_some(events)
        });
        events
            .into_iter()
            .filter(|event| !event.name.starts_with("mark-"))
            .collect()
    }

    /// Those that were to change anything.
    pub fn writes(&self) -> Vec<Event> {
        self.events().into_iter().filter(Event::is_write).collect()
    }

    fn read(&self) -> Vec<Event> {
        let mut file = File::open(&self.log).unwrap();
        file.seek(SeekFrom::Start(self.from)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let lines = text.lines().filter(|line| line.contains(&self.user));
        let events = lines.filter_map(Event::read);
        events.filter(|event| self.asked(event)).collect()
    }

    /// Tells whether it was he: whoever was impersonated, or an account with the shipped rights of that name. What such an
    /// account does for Syncs that name no account, it does as the tenants' default one.
    fn asked(&self, event: &Event) -> bool {
        let account = format!("system:serviceaccount:{NAMESPACE}:{}", self.user);
        let tenant = event.acting_as.as_ref().map(|it| it.rsplit(':').next());
        let itself = tenant.is_none_or(|tenant| tenant == Some(TENANT));
        event.user == account && itself || event.acting_as.as_ref() == Some(&self.user)
    }
}

/// Waits until these users write nothing for some seconds but the Leases that they renew.
pub fn is_quiet(users: &[&Audit<'_>]) {
    let writes = || {
        let all = users.iter().flat_map(|user| user.writes());
        let writes = all.filter(|event| event.resource != "leases");
        // What is told of what happened is no work.
        writes.filter(|event| event.resource != "events").count()
    };
    eventually("they have nothing to do, and write nothing", || {
        let before = writes();
        std::thread::sleep(std::time::Duration::from_secs(3));
        (writes() == before).then_some(())
    });
}
