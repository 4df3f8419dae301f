//! Who sends a webhook.

/// A kind of git server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Gitea and Forgejo.
    Gitea,
    /// Gogs.
    Gogs,
    /// GitHub.
    GitHub,
    /// GitLab.
    GitLab,
    /// Bitbucket Cloud.
    BitbucketCloud,
    /// Bitbucket Server and Data Center.
    BitbucketServer,
    /// Anything that signs as Flux's `generic-hmac` receivers want it.
    Generic,
}

impl Provider {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gitea => "gitea",
            Self::Gogs => "gogs",
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::BitbucketCloud => "bitbucket_cloud",
            Self::BitbucketServer => "bitbucket_server",
            Self::Generic => "generic",
        }
    }
}
