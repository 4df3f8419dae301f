//! From values to bytes.

use super::block::{DUMP, EXECUTION, ExecutionRef, HEADER, MAGIC, SESSION, SessionInfo, VERSION};
use super::java_string::JavaStr;

/// What every stream begins with.
pub fn header() -> [u8; 5] {
    let [a, b] = MAGIC.to_be_bytes();
    let [c, d] = VERSION.to_be_bytes();
    [HEADER, a, b, c, d]
}

/// Asks an agent to send what it has (`dump`), then to begin anew (`reset`). With neither it answers with an empty reply.
pub fn dump_command(dump: bool, reset: bool) -> Vec<u8> {
    vec![DUMP, dump.into(), reset.into()]
}

/// Adds a session.
pub fn session(out: &mut Vec<u8>, session: &SessionInfo) {
    let SessionInfo { id, start, dump } = session;
    out.push(SESSION);
    string(out, id.as_java_str());
    out.extend(start.to_be_bytes());
    out.extend(dump.to_be_bytes());
}

/// Adds a class, also one of which nothing was hit.
pub fn execution(out: &mut Vec<u8>, execution: ExecutionRef<'_>) {
    let ExecutionRef { id, name, probes } = execution;
    out.push(EXECUTION);
    out.extend(id.0.to_be_bytes());
    string(out, name);
    let mut count = probes.len();
    while count > 0x7F {
        out.push(count as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
    out.extend_from_slice(probes.bytes());
}

fn string(out: &mut Vec<u8>, text: JavaStr<'_>) {
    // Neither a stream nor a `JavaString` has longer ones.
    debug_assert!(text.bytes().len() <= usize::from(u16::MAX));
    out.extend((text.bytes().len() as u16).to_be_bytes());
    out.extend_from_slice(text.bytes());
}
