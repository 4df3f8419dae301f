//! A sandbox that listens, and clients that trust it or do not.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use openssl::ssl::{SslConnector, SslMethod};
use openssl::x509::X509;
use openssl::x509::store::X509StoreBuilder;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use super::Identity;
use crate::state::State;
use crate::{Options, Sandbox};

/// Asks for a path as somebody who trusts a certificate, and reads until the server hangs up.
fn ask(address: SocketAddr, trusted: &[u8], path: &str) -> Result<String, String> {
    let mut store = X509StoreBuilder::new().unwrap();
    store.add_cert(X509::from_pem(trusted).unwrap()).unwrap();
    let mut connector = SslConnector::builder(SslMethod::tls_client()).unwrap();
    connector.set_cert_store(store.build());
    let stream = TcpStream::connect(address).unwrap();
    let connected = connector.build().connect("127.0.0.1", stream);
    let mut stream = connected.map_err(|error| error.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Ok(answer)
}

#[tokio::test]
async fn it_proves_itself_to_who_has_its_kubeconfig_and_ends_when_told() {
    let options = Options {
        authorization: false,
        ..Options::default()
    };
    let sandbox = Sandbox::with_state(State::default(), options);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config: serde_json::Value =
        serde_json::from_str(&sandbox.kubeconfig(address).unwrap()).unwrap();
    let cluster = &config["clusters"][0]["cluster"];
    assert_eq!(cluster["server"], format!("https://{address}"));
    let trusted = sandbox.identity().unwrap().certificate().to_vec();
    let stop = CancellationToken::new();
    let server = tokio::spawn(sandbox.serve(listener, stop.clone()));

    let answer = spawn_blocking(move || ask(address, &trusted, "/readyz"))
        .await
        .unwrap();
    let answer = answer.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");

    let other = Identity::make().unwrap().certificate().to_vec();
    let refused = spawn_blocking(move || ask(address, &other, "/readyz"))
        .await
        .unwrap();
    assert!(refused.unwrap_err().contains("certificate verify failed"));

    stop.cancel();
    server.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).is_err());
}
