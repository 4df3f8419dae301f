//! Whether a request comes from somebody who knows the secret.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::provider::Proof;
use super::secret::Secret;

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is none, in the header where it should be.
    Missing(&'static str),
    /// It is made with another hash. SHA-1 is no proof any more.
    OtherHash,
    /// It is not what the secret gives.
    Wrong,
}

/// Checks a proof. All comparisons take as long for a nearly right one as for any other.
pub(super) fn verify(proof: Proof<'_>, body: &[u8], secret: &Secret) -> Result<(), Refusal> {
    match proof {
        Proof::Signature(value) => compare(secret, body, value.as_bytes()),
        Proof::Named(value) => {
            let digits = value.as_bytes().strip_prefix(b"sha256=");
            compare(secret, body, digits.ok_or(Refusal::OtherHash)?)
        }
        Proof::Token(value) => {
            // What is compared are hashes of both, so that neither length nor beginning shows in the time.
            let expected = mac(secret, secret.bytes())?.finalize().into_bytes();
            let given = mac(secret, value.as_bytes())?;
            given.verify(&expected).map_err(|_| Refusal::Wrong)
        }
    }
}

fn compare(secret: &Secret, body: &[u8], digits: &[u8]) -> Result<(), Refusal> {
    let given = bytes(digits).ok_or(Refusal::Wrong)?;
    let expected = mac(secret, body)?;
    expected.verify_slice(&given).map_err(|_| Refusal::Wrong)
}

fn mac(secret: &Secret, message: &[u8]) -> Result<Hmac<Sha256>, Refusal> {
    // HMAC takes keys of any length.
    let mac = Hmac::<Sha256>::new_from_slice(secret.bytes()).map_err(|_| Refusal::Wrong)?;
    Ok(mac.chain_update(message))
}

/// Reads hexadecimal digits.
fn bytes(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let value = |digit: u8| char::from(digit).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(value(*high)? * 16 + value(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// The example of GitHub's "Validating webhook deliveries".
    const SECRET: &str = "It's a Secret to Everybody";
    const BODY: &[u8] = b"Hello, World!";
    const DIGITS: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    fn header(text: &str) -> HeaderValue {
        HeaderValue::from_str(text).unwrap()
    }

    #[test]
    fn githubs_own_example_is_right() {
        let secret = Secret::of(SECRET);
        let named = header(&format!("sha256={DIGITS}"));
        assert_eq!(verify(Proof::Named(&named), BODY, &secret), Ok(()));
        assert_eq!(
            verify(Proof::Signature(&header(DIGITS)), BODY, &secret),
            Ok(())
        );
        let upper = header(&DIGITS.to_uppercase());
        assert_eq!(verify(Proof::Signature(&upper), BODY, &secret), Ok(()));
        assert_eq!(
            verify(Proof::Named(&named), b"Hello, World?", &secret),
            Err(Refusal::Wrong)
        );
        assert_eq!(
            verify(Proof::Named(&named), BODY, &Secret::of("another")),
            Err(Refusal::Wrong)
        );
    }

    #[test]
    fn what_is_no_sha256_is_refused() {
        let secret = Secret::of(SECRET);
        let sha1 = header("sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59");
        assert_eq!(
            verify(Proof::Named(&sha1), BODY, &secret),
            Err(Refusal::OtherHash)
        );
        for digits in [
            "",
            "7",
            "75",
            &DIGITS[1..],
            &format!("{DIGITS}00"),
            &DIGITS.replace("75", "+5"),
        ] {
            let named = header(&format!("sha256={digits}"));
            assert_eq!(
                verify(Proof::Named(&named), BODY, &secret),
                Err(Refusal::Wrong),
                "{digits}"
            );
        }
        let bytes = HeaderValue::from_bytes(b"sha256=\xff\xfe").unwrap();
        assert_eq!(
            verify(Proof::Named(&bytes), BODY, &secret),
            Err(Refusal::Wrong)
        );
    }

    #[test]
    fn a_token_is_the_whole_secret() {
        let secret = Secret::of(SECRET);
        let check = |token: &str| verify(Proof::Token(&header(token)), b"", &secret);
        assert_eq!(check(SECRET), Ok(()));
        for token in ["", "It's a Secret", "It's a Secret to Everybody!"] {
            assert_eq!(check(token), Err(Refusal::Wrong), "{token}");
        }
    }
}
