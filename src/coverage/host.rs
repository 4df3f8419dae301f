//! Agents by name and port.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use std::str::FromStr;

use super::peer::{Peer, PeerAddress};

/// A host and the port that agents listen on there. Behind one name there may be many: that of a headless Service has the
/// address of each pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    host: String,
    port: u16,
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no HOST:PORT, such as pet.shop:6300 or [::1]:6300");
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_address = bare.is_none_or(|bare| bare.parse::<Ipv6Addr>().is_ok());
        let host = bare.unwrap_or(host);
        let port = port.parse().ok().filter(|port| *port > 0);
        let (true, Some(port)) = (is_address, port) else {
            return Err(wrong());
        };
        if host.is_empty() || (bare.is_none() && host.contains([':', '/', '[', ']'])) {
            return Err(wrong());
        }
        let host = host.to_owned();
        Ok(Self { host, port })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        match host.contains(':') {
            true => write!(f, "[{host}]:{port}"),
            false => write!(f, "{host}:{port}"),
        }
    }
}

impl Host {
    /// Finds the agents at all addresses of the name, of both families, each once and in the same order every time.
    ///
    /// # Errors
    /// When the name cannot be resolved.
    pub async fn peers(&self) -> io::Result<Vec<Peer>> {
        let found = tokio::net::lookup_host((self.host.as_str(), self.port)).await?;
        Ok(self.of(found))
    }

    fn of(&self, found: impl Iterator<Item = SocketAddr>) -> Vec<Peer> {
        let addresses: BTreeSet<SocketAddr> = found.map(canonical).collect();
        // An agent may listen at one of both, and this is one machine.
        if addresses.len() < 2 || addresses.iter().all(|it| it.ip().is_loopback()) {
            let peer = Peer {
                name: self.to_string(),
                address: PeerAddress::Sockets(addresses.into_iter().collect()),
            };
            return vec![peer];
        }
        let peer = |address: SocketAddr| Peer {
            name: address.to_string(),
            address: PeerAddress::Sockets(vec![address]),
        };
        addresses.into_iter().map(peer).collect()
    }
}

/// The same address in one form, however it was written: `::ffff:10.0.0.1` is 10.0.0.1.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) if v6.ip().to_ipv4_mapped().is_some() => {
            SocketAddr::new(address.ip().to_canonical(), address.port())
        }
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_shown() {
        for text in ["pet.shop:6300", "10.0.0.1:6300", "[::1]:6300", "pet:1"] {
            assert_eq!(text.parse::<Host>().unwrap().to_string(), text);
        }
        for wrong in [
            "",
            "pet",
            ":6300",
            "pet:",
            "pet:0",
            "pet:65536",
            "::1:6300",
            "[pet]:6300",
            "[::1]",
            "http://pet:6300",
            "[::1:6300",
        ] {
            assert!(wrong.parse::<Host>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_address_of_a_name_is_a_peer_once() {
        let host: Host = "pet:6300".parse().unwrap();
        let found = |texts: &[&str]| {
            let addresses = texts.iter().map(|text| text.parse().unwrap());
            let peers = host.of(addresses);
            peers.into_iter().map(|it| it.name).collect::<Vec<_>>()
        };
        let many = [
            "10.0.0.2:6300",
            "[fd00::1]:6300",
            "10.0.0.1:6300",
            "[::ffff:10.0.0.1]:6300",
            "10.0.0.2:6300",
        ];
        assert_eq!(
            found(&many),
            ["10.0.0.1:6300", "10.0.0.2:6300", "[fd00::1]:6300"]
        );
        assert_eq!(found(&["10.0.0.1:6300"]), ["pet:6300"]);
        assert_eq!(found(&["127.0.0.1:6300", "[::1]:6300"]), ["pet:6300"]);
    }
}
