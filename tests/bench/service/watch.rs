//! When an object changed, as a watch tells: nothing is asked for again and again, which would be measured as well.

use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Res;
use crate::http::{Connection, Server};

/// What takes longer never comes.
const PATIENCE: Duration = Duration::from_secs(120);

/// An event, and when it came.
pub struct Seen {
    at: Instant,
    kind: String,
    pub object: Value,
}

impl Seen {
    pub fn text(&self, pointer: &str) -> &str {
        let value = self.object.pointer(pointer);
        value.and_then(Value::as_str).unwrap_or_default()
    }

    pub fn is_added(&self) -> bool {
        self.kind == "ADDED"
    }
}

/// A watch on one object.
pub struct Watch {
    events: Receiver<Seen>,
    what: String,
    socket: TcpStream,
    reader: Option<JoinHandle<()>>,
}

impl Watch {
    /// Watches an object of a collection, such as `/api/v1/namespaces/shop/services`; if it is there, the first event tells it.
    pub fn start(server: &Server, collection: &str, name: &str) -> Res<Self> {
        let mut connection = server.connect()?;
        connection.watch(&format!(
            "{collection}?watch=true&fieldSelector=metadata.name%3D{name}"
        ))?;
        let socket = connection.socket()?;
        let (sender, events) = mpsc::channel();
        Ok(Self {
            events,
            what: format!("{collection}/{name}"),
            socket,
            reader: Some(thread::spawn(move || read(connection, &sender))),
        })
    }

    /// Waits for an event.
    pub fn next(&self) -> Res<Seen> {
        let event = self.events.recv_timeout(PATIENCE);
        event.map_err(|_| format!("{} did not change as it was to", self.what).into())
    }

    /// Waits until an event is as said, and returns when it came.
    pub fn until(&self, is: impl Fn(&Seen) -> bool) -> Res<Instant> {
        loop {
            let event = self.next()?;
            if is(&event) {
                return Ok(event.at);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

/// Until the connection ends or nobody listens; who waits then learns that nothing more comes.
fn read(mut connection: Connection, sender: &Sender<Seen>) {
    let mut text = Vec::new();
    while connection.chunk(&mut text).is_ok_and(|more| more) {
        let at = Instant::now();
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let Ok(mut event) = serde_json::from_slice::<Value>(&line) else {
                return;
            };
            let object = event.get_mut("object").map(Value::take);
            let kind = event.get("type").and_then(Value::as_str);
            let seen = Seen {
                at,
                kind: kind.unwrap_or_default().to_owned(),
                object: object.unwrap_or_default(),
            };
            if sender.send(seen).is_err() {
                return;
            }
        }
    }
}
