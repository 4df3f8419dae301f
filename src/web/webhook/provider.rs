//! Who sends a webhook, and where it puts the proof that it knows the secret.

use http::{HeaderMap, HeaderValue};

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

/// By which header each is known. In this order: Gitea sends the headers of Gogs and of GitHub as well, and Bitbucket Cloud
/// those of Bitbucket Server.
const KNOWN_BY: [(&str, Provider); 6] = [
    ("x-gitea-event", Provider::Gitea),
    ("x-gogs-event", Provider::Gogs),
    ("x-github-event", Provider::GitHub),
    ("x-gitlab-event", Provider::GitLab),
    ("x-hook-uuid", Provider::BitbucketCloud),
    ("x-event-key", Provider::BitbucketServer),
];

/// What a request shows to prove that its sender knows the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof<'a> {
    /// HMAC-SHA256 of the body, in hexadecimal digits.
    Signature(&'a HeaderValue),
    /// The same after `sha256=`, the name of the hash.
    Named(&'a HeaderValue),
    /// The secret itself.
    Token(&'a HeaderValue),
}

impl Provider {
    /// Tells who sends a request. The answer is only a claim: it decides where the proof is looked for.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let known = KNOWN_BY
            .iter()
            .find(|(header, _)| headers.contains_key(*header));
        known.map_or(Self::Generic, |(_, provider)| *provider)
    }

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

    /// The header that holds the proof.
    pub(super) fn proof_header(self) -> &'static str {
        match self {
            Self::Gitea => "x-gitea-signature",
            Self::Gogs => "x-gogs-signature",
            Self::GitHub => "x-hub-signature-256",
            Self::GitLab => "x-gitlab-token",
            Self::BitbucketCloud | Self::BitbucketServer => "x-hub-signature",
            Self::Generic => "x-signature",
        }
    }

    /// Finds the proof.
    pub(super) fn proof(self, headers: &HeaderMap) -> Option<Proof<'_>> {
        let value = headers.get(self.proof_header())?;
        Some(match self {
            Self::Gitea | Self::Gogs => Proof::Signature(value),
            Self::GitHub | Self::BitbucketCloud | Self::BitbucketServer | Self::Generic => {
                Proof::Named(value)
            }
            Self::GitLab => Proof::Token(value),
        })
    }

    /// Tells whether a request only asks whether we are there.
    pub(super) fn is_ping(self, headers: &HeaderMap) -> bool {
        let says = |header: &str, word: &str| headers.get(header).is_some_and(|it| it == word);
        match self {
            Self::GitHub => says("x-github-event", "ping"),
            Self::BitbucketServer => says("x-event-key", "diagnostics:ping"),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(names: &[&'static str]) -> HeaderMap {
        let value = HeaderValue::from_static("x");
        let pairs = names
            .iter()
            .map(|name| (http::HeaderName::from_static(name), value.clone()));
        pairs.collect()
    }

    #[test]
    fn each_is_known_by_what_only_it_sends() {
        for (names, provider) in [
            (
                &["x-github-event", "x-gogs-event", "x-gitea-event"][..],
                Provider::Gitea,
            ),
            (&["x-gogs-event"], Provider::Gogs),
            (
                &["x-github-event", "x-hub-signature", "x-hub-signature-256"],
                Provider::GitHub,
            ),
            (&["x-gitlab-event"], Provider::GitLab),
            (&["x-event-key", "x-hook-uuid"], Provider::BitbucketCloud),
            (
                &["x-event-key", "x-hub-signature"],
                Provider::BitbucketServer,
            ),
            (&["x-signature"], Provider::Generic),
            (&[], Provider::Generic),
        ] {
            assert_eq!(Provider::of(&headers(names)), provider, "{names:?}");
        }
    }

    #[test]
    fn the_proof_is_where_the_provider_puts_it_and_nowhere_else() {
        let all = headers(&["x-hub-signature", "x-signature", "x-gitlab-token"]);
        assert_eq!(Provider::GitHub.proof(&all), None);
        assert_eq!(Provider::Gitea.proof(&all), None);
        assert!(matches!(
            Provider::GitLab.proof(&all),
            Some(Proof::Token(_))
        ));
        assert!(matches!(
            Provider::BitbucketServer.proof(&all),
            Some(Proof::Named(_))
        ));
    }
}
