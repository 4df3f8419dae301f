//! Lists in pages: the token that says where the next one begins.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::error::ApiError;

/// Where a list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The version that all pages show.
    pub version: u64,
    /// Namespace of the last object that was given out.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl Place {
    /// As a client sends it back.
    pub fn token(&self) -> String {
        let Self {
            version,
            namespace,
            name,
        } = self;
        URL_SAFE_NO_PAD.encode(json!({ "v": version, "ns": namespace, "n": name }).to_string())
    }

    /// Reads a token.
    ///
    /// # Errors
    /// 400 for what is none.
    pub fn read(token: &str) -> Result<Self, ApiError> {
        let invalid = || ApiError::bad_request("invalid continue token: continue key is not valid");
        let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| invalid())?;
        let place: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
        let text = |name| place.get(name).and_then(Value::as_str).map(str::to_owned);
        Ok(Self {
            version: place.get("v").and_then(Value::as_u64).ok_or_else(invalid)?,
            namespace: text("ns").ok_or_else(invalid)?,
            name: text("n").ok_or_else(invalid)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_place() {
        let place = Place {
            version: 12,
            namespace: "a".into(),
            name: "ü".into(),
        };
        assert_eq!(Place::read(&place.token()).unwrap(), place);
        for bad in ["", "abc", "eyJ2IjoxfQ", "%"] {
            assert_eq!(Place::read(bad).unwrap_err().code, 400, "{bad}");
        }
    }
}
