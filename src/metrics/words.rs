//! The words that labels may have, so that no call site spells them.

/// What became of a fetch from a git server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOutcome {
    /// The commit is here.
    Fetched,
    /// It is not.
    Failed,
}

impl FetchOutcome {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Failed => "failed",
        }
    }
}

/// What a git server said of a ref, without a fetch (`ls-remote`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The ref points to another commit than before.
    Changed,
    /// It points to the same.
    Unchanged,
    /// It could not be asked.
    Failed,
}

impl CheckOutcome {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Failed => "failed",
        }
    }
}

/// What waits in line inside of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Syncs that are due for a run.
    Syncs,
    /// Targets whose Services are to be looked at.
    Targets,
    /// Campaigns that are due for a run.
    Campaigns,
}

impl Queue {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Syncs => "syncs",
            Self::Targets => "targets",
            Self::Campaigns => "campaigns",
        }
    }
}

/// What became of a run of a Campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignRun {
    /// All pods have answered, and it is stored.
    Complete,
    /// Some have, and it is stored.
    Partial,
    /// There was nobody to ask, or it could not be stored.
    Failed,
}

impl CampaignRun {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
        }
    }
}

/// What a request asks of the API server, in the words of its RBAC and audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiVerb {
    /// Reads one object, or what the server can do.
    Get,
    /// Reads many.
    List,
    /// Follows changes.
    Watch,
    /// Server-side apply, or a merge.
    Patch,
    /// Deletes.
    Delete,
}

impl ApiVerb {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// What became of a webhook's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookOutcome {
    /// It triggered.
    Accepted,
    /// It only asked whether we are there.
    Ping,
    /// It did not prove where it comes from.
    Unauthorized,
    /// There is no such Sync.
    Unknown,
    /// Its body is too large, too slow or broken.
    BadBody,
    /// There were too many before it.
    Limited,
    /// We could not judge it.
    Failed,
}

impl WebhookOutcome {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Ping => "ping",
            Self::Unauthorized => "unauthorized",
            Self::Unknown => "unknown",
            Self::BadBody => "bad_body",
            Self::Limited => "limited",
            Self::Failed => "failed",
        }
    }
}

/// How far the watches on a kind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// Their first list is under way.
    Syncing,
    /// They follow changes.
    Synced,
    /// They wait before they try again.
    Failing,
}

impl WatchState {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Syncing => "syncing",
            Self::Synced => "synced",
            Self::Failing => "failing",
        }
    }
}
