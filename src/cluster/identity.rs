//! As whom requests are made.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::ClusterError;

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");

/// Whom the user of the connection impersonates, if anybody: headers of each request, so that one pool of connections
/// serves all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Identity(Vec<(HeaderName, HeaderValue)>);

impl Identity {
    /// Makes one; without a user, nobody is impersonated.
    ///
    /// # Errors
    /// When a name cannot stand in a header.
    pub fn new(user: Option<&str>, groups: &[String]) -> Result<Self, ClusterError> {
        let header = |name: &HeaderName, value: &str| {
            HeaderValue::from_str(value)
                .map(|value| (name.clone(), value))
                .map_err(|_| ClusterError::Config(format!("{value:?} cannot be impersonated")))
        };
        let user = user.into_iter().map(|user| header(&USER, user));
        let groups = groups.iter().map(|group| header(&GROUP, group));
        user.chain(groups).collect::<Result<_, _>>().map(Self)
    }

    /// That of a ServiceAccount. The server adds its groups where none are named; to name them takes the right to
    /// impersonate groups, which nobody has who may impersonate only this account.
    ///
    /// # Errors
    /// When a name cannot stand in a header.
    pub fn service_account(namespace: &str, name: &str) -> Result<Self, ClusterError> {
        Self::new(
            Some(&format!("system:serviceaccount:{namespace}:{name}")),
            &[],
        )
    }

    /// Puts it into a request.
    pub fn sign(&self, headers: &mut HeaderMap) {
        headers.extend(self.headers());
    }

    /// What makes a request his.
    pub fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        self.0.iter().cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_account_names_no_groups() {
        let mut headers = HeaderMap::new();
        let account = Identity::service_account("shop", "deployer").unwrap();
        account.sign(&mut headers);
        assert_eq!(headers[USER], "system:serviceaccount:shop:deployer");
        assert!(!headers.contains_key(GROUP));
    }

    #[test]
    fn a_name_cannot_smuggle_a_header() {
        assert!(
            Identity::service_account("shop", "a\r\nImpersonate-Group: system:masters").is_err()
        );
    }
}
