//! A request as the API server's audit log tells of it.

use serde_json::Value;

/// One request that was answered.
#[derive(Clone, Debug)]
pub struct Event {
    /// Who sent it.
    pub user: String,
    /// Whom the sender impersonated, if anybody.
    pub acting_as: Option<String>,
    pub verb: String,
    pub uri: String,
    pub group: String,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    pub name: String,
    pub code: u64,
}

impl Event {
    /// Reads a line of the log; the last one may be half written.
    pub fn read(line: &str) -> Option<Self> {
        let event: Value = serde_json::from_str(line).ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &event["objectRef"];
        Some(Self {
            user: text(&event["user"]["username"]),
            acting_as: event["impersonatedUser"]["username"]
                .as_str()
                .map(str::to_owned),
            verb: text(&event["verb"]),
            uri: text(&event["requestURI"]),
            group: text(&object["apiGroup"]),
            namespace: text(&object["namespace"]),
            resource: text(&object["resource"]),
            subresource: text(&object["subresource"]),
            name: text(&object["name"]),
            code: event["responseStatus"]["code"].as_u64().unwrap_or(0),
        })
    }

    /// What its sender needs a right for: the request, or to make it in the place of a ServiceAccount.
    pub fn for_sender(self) -> Self {
        let account = self.acting_as.as_deref();
        let account = account.and_then(|account| account.strip_prefix("system:serviceaccount:"));
        let Some((namespace, name)) = account.and_then(|account| account.split_once(':')) else {
            return self;
        };
        Self {
            verb: "impersonate".into(),
            group: String::new(),
            namespace: namespace.to_owned(),
            resource: "serviceaccounts".into(),
            subresource: String::new(),
            name: name.to_owned(),
            // Whatever became of the request itself.
            code: 200,
            ..self.clone()
        }
    }

    /// With the subresource, as roles write it.
    pub fn full_resource(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            sub => format!("{}/{sub}", self.resource),
        }
    }

    /// Tells whether it was to change anything.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch") && !self.is_dry_run()
    }

    pub fn is_dry_run(&self) -> bool {
        self.uri.contains("dryRun=All")
    }
}
