//! Peers of our own, which say what no agent says.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use covergence::coverage::{ExecutionData, SessionInfo, encode};

/// Listens until the test ends, and treats each connection in the same way.
pub struct FakePeer {
    pub port: u16,
}

impl FakePeer {
    /// Does something with each connection, once a command has come.
    pub fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // It ends with the process of the test.
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut command = [0; 8];
                if stream.read_exact(&mut command).is_ok() {
                    serve(stream);
                }
            }
        });
        Self { port }
    }

    /// Says something and closes the connection.
    pub fn saying(bytes: Vec<u8>) -> Self {
        // A peer that has gone away is what some tests are about.
        Self::new(move |mut stream| drop(stream.write_all(&bytes)))
    }

    /// Says something, and then nothing, without an end.
    pub fn saying_and_silent(bytes: Vec<u8>) -> Self {
        Self::new(move |mut stream| {
            drop(stream.write_all(&bytes));
            // Until the other one gives up.
            drop(stream.read(&mut [0]));
        })
    }

    pub fn place(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// A header, a session and these classes, without the end.
pub fn unfinished(session: &str, classes: &[ExecutionData]) -> Vec<u8> {
    let mut bytes = encode::header().to_vec();
    let session = SessionInfo {
        id: session.try_into().unwrap(),
        start: 1,
        dump: 2,
    };
    encode::session(&mut bytes, &session);
    for class in classes {
        encode::execution(&mut bytes, class.as_ref());
    }
    bytes
}

/// The same, with the end.
pub fn finished(session: &str, classes: &[ExecutionData]) -> Vec<u8> {
    let mut bytes = unfinished(session, classes);
    bytes.push(0x20);
    bytes
}
