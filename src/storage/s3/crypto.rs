//! Signatures, by the same crates as all others of ours.

use hmac::{Hmac, KeyInit as _, Mac as _};
use object_store::client::{
    CryptoProvider, DigestAlgorithm, DigestContext, HmacContext, Signer, SigningAlgorithm,
};
use object_store::{Error, Result};
use sha2::{Digest as _, Sha256};

/// SHA-256 and its HMAC: all that S3 signs with.
#[derive(Debug)]
pub(super) struct Crypto;

impl CryptoProvider for Crypto {
    fn digest(&self, algorithm: DigestAlgorithm) -> Result<Box<dyn DigestContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => Ok(Box::new(Digesting {
                state: Sha256::new(),
                digest: [0; 32],
            })),
            other => Err(unknown(&other)),
        }
    }

    fn hmac(&self, algorithm: DigestAlgorithm, secret: &[u8]) -> Result<Box<dyn HmacContext>> {
        match algorithm {
            DigestAlgorithm::Sha256 => {
                let state = Hmac::<Sha256>::new_from_slice(secret);
                let state = state.map_err(|error| unknown(&error))?;
                Ok(Box::new(Signing {
                    state,
                    tag: [0; 32],
                }))
            }
            other => Err(unknown(&other)),
        }
    }

    fn sign(&self, algorithm: SigningAlgorithm, _pem: &[u8]) -> Result<Box<dyn Signer>> {
        Err(unknown(&algorithm))
    }
}

fn unknown(what: &dyn std::fmt::Debug) -> Error {
    Error::NotSupported {
        source: format!("{what:?}").into(),
    }
}

struct Digesting {
    state: Sha256,
    digest: [u8; 32],
}

impl DigestContext for Digesting {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.digest = self.state.finalize_reset().into();
        Ok(&self.digest)
    }
}

struct Signing {
    state: Hmac<Sha256>,
    tag: [u8; 32],
}

impl HmacContext for Signing {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    fn finish(&mut self) -> Result<&[u8]> {
        self.tag = self.state.clone().finalize().into_bytes().into();
        Ok(&self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::digest::hex;

    #[test]
    fn digests_and_signatures_are_those_of_the_standards() {
        // FIPS 180-4's "abc".
        let mut digest = Crypto.digest(DigestAlgorithm::Sha256).unwrap();
        digest.update(b"a");
        digest.update(b"bc");
        assert_eq!(
            hex(digest.finish().unwrap()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        // RFC 4231, test case 2.
        let mut hmac = Crypto.hmac(DigestAlgorithm::Sha256, b"Jefe").unwrap();
        hmac.update(b"what do ya want ");
        hmac.update(b"for nothing?");
        assert_eq!(
            hex(hmac.finish().unwrap()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(Crypto.sign(SigningAlgorithm::RS256, b"").is_err());
    }
}
