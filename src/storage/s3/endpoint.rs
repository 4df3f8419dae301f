//! Which server a tenant may have us talk to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::storage::StorageError;

/// Where cloud providers answer with credentials of the machine, beside the link-local addresses that are refused as a whole.
const METADATA: [IpAddr; 4] = [
    // Alibaba Cloud
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    // Oracle Cloud
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    // Azure's agent
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    // AWS, by IPv6
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
];

/// A server that may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// `https://host` or `https://host:port`, without a slash at the end.
    pub(super) origin: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) has_tls: bool,
    /// Whether the operator has named it, so that it may be anywhere.
    pub(super) is_trusted: bool,
}

impl Endpoint {
    /// Reads what a tenant says. Those that the operator trusts are used as they are; others must be `https`, and where they
    /// lead to is looked at before each connection.
    ///
    /// # Errors
    /// When it is none, or not allowed.
    pub fn new(text: &str, trusted: &[String]) -> Result<Self, StorageError> {
        let refused = |why: &str| {
            // Not quoted: somebody may have put a password into it.
            StorageError::NotAllowed(format!("spec.storage.s3.endpoint: {why}"))
        };
        let url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
        let has_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(refused("it is neither https:// nor http://")),
        };
        let is_origin = url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none();
        if !is_origin {
            return Err(refused("it takes a host and a port, and nothing else"));
        }
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return Err(refused("it names no host")),
        };
        let origin = url.origin().ascii_serialization();
        let is_it = |other: &String| {
            Url::parse(other).is_ok_and(|other| other.origin().ascii_serialization() == origin)
        };
        let is_trusted = trusted.iter().any(is_it);
        if !has_tls && !is_trusted {
            return Err(refused(
                "http:// is only for servers that the controller's Config names (campaigns.endpoints)",
            ));
        }
        Ok(Self {
            port: url.port_or_known_default().unwrap_or(443),
            origin,
            host,
            has_tls,
            is_trusted,
        })
    }

    /// That of AWS in a region.
    pub fn of_aws(region: &str) -> Self {
        let host = format!("s3.{region}.amazonaws.com");
        Self {
            origin: format!("https://{host}"),
            host,
            port: 443,
            has_tls: true,
            is_trusted: false,
        }
    }

    /// Tells whether a connection to this address may be made.
    pub(super) fn may_reach(&self, address: IpAddr) -> bool {
        self.is_trusted || !is_special(address)
    }
}

/// Addresses that lead to this machine, to its neighbours on the link, to many at once, or to credentials of the machine.
fn is_special(address: IpAddr) -> bool {
    let address = address.to_canonical();
    let by_family = match address {
        IpAddr::V4(v4) => {
            let [first, ..] = v4.octets();
            first == 0
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || v4.is_broadcast()
        }
        IpAddr::V6(v6) => {
            // `::a.b.c.d` is an old way to write an address of IPv4.
            let embedded = v6.to_ipv4().is_some_and(|v4| is_special(IpAddr::V4(v4)));
            embedded
                || v6.is_unspecified()
                || v6.is_loopback()
                || v6.is_unicast_link_local()
                || v6.is_multicast()
        }
    };
    by_family || METADATA.contains(&address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_operator_names_is_reached_without_tls() {
        let trusted = ["http://minio.storage:9000/".to_owned()];
        let read = |text: &str| Endpoint::new(text, &trusted);
        let named = read("http://minio.storage:9000").unwrap();
        assert!(named.is_trusted && !named.has_tls);
        assert_eq!((named.host.as_str(), named.port), ("minio.storage", 9000));
        let other = read("https://s3.example").unwrap();
        assert!(other.has_tls && !other.is_trusted);
        assert_eq!(
            (other.origin.as_str(), other.port),
            ("https://s3.example", 443)
        );
        for wrong in [
            "http://minio.storage:9001",
            "http://minio.storage",
            "http://s3.example",
            "ftp://s3.example",
            "file:///etc/passwd",
            "https://user:hunter2@s3.example",
            "https://s3.example/bucket",
            "https://s3.example/?a=b",
            "https://s3.example/#a",
            "s3.example",
            "",
        ] {
            let error = read(wrong).unwrap_err();
            assert_eq!(error.reason(), "StorageNotAllowed", "{wrong}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_others_name_leads_to_no_machine_of_ours() {
        let theirs = Endpoint::new("https://s3.example", &[]).unwrap();
        for address in [
            "127.0.0.1",
            "127.8.9.10",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "192.0.0.192",
            "168.63.129.16",
            "::",
            "::1",
            "fe80::1",
            "ff02::1",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
        ] {
            assert!(!theirs.may_reach(address.parse().unwrap()), "{address}");
        }
        for address in ["52.219.1.2", "10.1.2.3", "fd12::3", "2600:1f18::1"] {
            assert!(theirs.may_reach(address.parse().unwrap()), "{address}");
        }
        let named = Endpoint::new("http://127.0.0.1:9000", &["http://127.0.0.1:9000".into()]);
        assert!(named.unwrap().may_reach("127.0.0.1".parse().unwrap()));
    }
}
