//! Prints the table of the sandbox's built-in kinds: `sandbox-kinds OPENAPI RESOURCES…` reads an API server's OpenAPI v2
//! document and its lists of resources from files. `src/sandbox/types/generate` runs it.

use std::io::Write as _;

use covergence::sandbox::types::generate;
use serde_json::Value;

fn main() -> std::io::Result<()> {
    let mut documents = std::env::args_os()
        .skip(1)
        .map(|path| Ok(serde_json::from_slice(&std::fs::read(path)?)?))
        .collect::<std::io::Result<Vec<Value>>>()?
        .into_iter();
    let openapi = documents.next().unwrap_or_default();
    let lists: Vec<Value> = documents.collect();
    std::io::stdout().write_all(&generate::table(&openapi, &lists))
}
