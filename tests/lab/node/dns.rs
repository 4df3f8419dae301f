//! The DNS server of a lab's node, in the place of CoreDNS: `lab-dns ADDRESS:PORT DOMAIN`, with the API server of KUBECONFIG.
//!
//! `<service>.<namespace>.svc.<DOMAIN>` has the addresses of the ready endpoints in the Service's EndpointSlices, asked for
//! anew for each query. There is no other name. That is right for headless Services, and good enough for all others, since
//! nothing on the node answers for a cluster IP.

#![allow(clippy::indexing_slicing)]

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use kube::Client;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

const HEADER: usize = 12;
/// What fits into a datagram; longer answers are asked for again by TCP (RFC 1035, 4.2.1).
const DATAGRAM: usize = 512;
const A: u16 = 1;
const AAAA: u16 = 28;
const NXDOMAIN: u8 = 3;
const TRUNCATED: u8 = 0x02;
/// Seconds; CoreDNS says 5 as well.
const TTL: u32 = 5;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(domain)) = (arguments.next(), arguments.next()) else {
        return Err("usage: lab-dns ADDRESS:PORT DOMAIN".into());
    };
    let address: SocketAddr = address.parse()?;
    let names = Arc::new(Names {
        client: Client::try_default().await?,
        suffix: format!(".svc.{domain}"),
    });
    let listener = TcpListener::bind(address).await?;
    let socket = Arc::new(UdpSocket::bind(address).await?);
    tokio::spawn(serve_tcp(listener, names.clone()));
    loop {
        let mut query = vec![0; DATAGRAM];
        let (length, peer) = socket.recv_from(&mut query).await?;
        query.truncate(length);
        let (names, socket) = (names.clone(), socket.clone());
        tokio::spawn(async move {
            if let Some(answer) = names.answer(&query, DATAGRAM).await {
                let _ = socket.send_to(&answer, peer).await;
            }
        });
    }
}

async fn serve_tcp(listener: TcpListener, names: Arc<Names>) {
    while let Ok((stream, _)) = listener.accept().await {
        let names = names.clone();
        tokio::spawn(async move {
            // Who breaks off has no answer.
            let _ = converse(stream, &names).await;
        });
    }
}

/// Answers queries, each behind its length, until the peer has no more.
async fn converse(mut stream: TcpStream, names: &Names) -> std::io::Result<()> {
    loop {
        let mut query = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut query).await?;
        let Some(answer) = names.answer(&query, usize::from(u16::MAX)).await else {
            return Ok(());
        };
        stream.write_u16(answer.len() as u16).await?;
        stream.write_all(&answer).await?;
    }
}

struct Names {
    client: Client,
    suffix: String,
}

impl Names {
    /// Gives the answer to a query of one question, or none to what is not one.
    async fn answer(&self, query: &[u8], limit: usize) -> Option<Vec<u8>> {
        let question = Question::read(query)?;
        let addresses = self.resolve(&question.name).await;
        println!("{} {}: {addresses:?}", question.name, question.kind);
        let mut answer = question.echo(query)?;
        match addresses {
            Some(addresses) => question.records(&mut answer, &addresses),
            None => *answer.get_mut(3)? |= NXDOMAIN,
        }
        if answer.len() > limit {
            answer = question.echo(query)?;
            *answer.get_mut(2)? |= TRUNCATED;
        }
        Some(answer)
    }

    async fn resolve(&self, name: &str) -> Option<Vec<IpAddr>> {
        let (service, namespace) = name.strip_suffix(&self.suffix)?.split_once('.')?;
        let plain = |label: &str| {
            label
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        if !plain(service) || !plain(namespace) {
            return None;
        }
        let mut addresses = Vec::new();
        for slice in self.slices(service, namespace).await?.as_array()? {
            for endpoint in slice["endpoints"].as_array().into_iter().flatten() {
                if endpoint["conditions"]["ready"] == false {
                    continue;
                }
                let given = endpoint["addresses"].as_array().into_iter().flatten();
                addresses.extend(given.filter_map(|it| it.as_str()?.parse::<IpAddr>().ok()));
            }
        }
        addresses.sort();
        addresses.dedup();
        // As CoreDNS has it: without a ready endpoint there is no such name.
        (!addresses.is_empty()).then_some(addresses)
    }

    async fn slices(&self, service: &str, namespace: &str) -> Option<Value> {
        // v1 came with Kubernetes 1.21.
        for version in ["v1", "v1beta1"] {
            let path = format!(
                "/apis/discovery.k8s.io/{version}/namespaces/{namespace}/endpointslices\
                 ?labelSelector=kubernetes.io%2Fservice-name%3D{service}"
            );
            let request = http::Request::get(path).body(Vec::new()).ok()?;
            match self.client.request::<Value>(request).await {
                Ok(mut list) => return Some(list["items"].take()),
                Err(error) => eprintln!("{version}: {error}"),
            }
        }
        None
    }
}

struct Question {
    name: String,
    kind: u16,
    /// Where it ends in the message.
    end: usize,
}

impl Question {
    fn read(query: &[u8]) -> Option<Self> {
        let mut labels = Vec::new();
        let mut at = HEADER;
        loop {
            let length = usize::from(*query.get(at)?);
            at += 1;
            match length {
                0 => break,
                1..64 => labels.push(std::str::from_utf8(query.get(at..at + length)?).ok()?),
                _ => return None,
            }
            at += length;
        }
        let kind = u16::from_be_bytes(query.get(at..at + 2)?.try_into().ok()?);
        Some(Self {
            name: labels.join(".").to_ascii_lowercase(),
            kind,
            end: at + 4,
        })
    }

    /// Starts the answer: the query's id and question, and that we are the ones who know.
    fn echo(&self, query: &[u8]) -> Option<Vec<u8>> {
        let mut answer = query.get(..self.end)?.to_vec();
        let recursion_desired = answer.get(2)? & 0x01;
        let counts = [0, 1, 0, 0, 0, 0, 0, 0];
        *answer.get_mut(2)? = 0x84 | recursion_desired;
        *answer.get_mut(3)? = 0x80;
        answer.get_mut(4..HEADER)?.copy_from_slice(&counts);
        Some(answer)
    }

    /// Appends a record for each address of the family that was asked for.
    fn records(&self, answer: &mut Vec<u8>, addresses: &[IpAddr]) {
        let mut count = 0_u16;
        for address in addresses {
            let data = match address {
                IpAddr::V4(it) if self.kind == A => it.octets().to_vec(),
                IpAddr::V6(it) if self.kind == AAAA => it.octets().to_vec(),
                _ => continue,
            };
            // The name of the question, at its offset.
            answer.extend([0xc0, HEADER as u8]);
            answer.extend(self.kind.to_be_bytes());
            answer.extend(1_u16.to_be_bytes());
            answer.extend(TTL.to_be_bytes());
            answer.extend((data.len() as u16).to_be_bytes());
            answer.extend(data);
            count += 1;
        }
        if let Some(field) = answer.get_mut(6..8) {
            field.copy_from_slice(&count.to_be_bytes());
        }
    }
}
