//! What the server proves itself with.

use std::io;

use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{Ssl, SslAcceptor, SslContext, SslMethod};
use openssl::x509::extension::{BasicConstraints, SubjectAlternativeName};
use openssl::x509::{X509, X509NameBuilder};

/// Days that a certificate is good for; no sandbox lives as long.
const DAYS: u32 = 365;

/// A key, and a certificate for loopback that it signed itself.
#[derive(Clone)]
pub struct Identity {
    context: SslContext,
    certificate: Vec<u8>,
}

impl Identity {
    /// Makes a new one.
    ///
    /// # Errors
    /// Those of the library.
    pub fn make() -> io::Result<Self> {
        let (context, certificate) = make()?;
        Ok(Self {
            context,
            certificate,
        })
    }

    /// What clients are to trust, as PEM.
    pub fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    /// The beginning of a connection.
    pub(super) fn session(&self) -> Result<Ssl, ErrorStack> {
        let mut session = Ssl::new(&self.context)?;
        session.set_accept_state();
        Ok(session)
    }
}

fn make() -> Result<(SslContext, Vec<u8>), ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = PKey::from_ec_key(EcKey::generate(&group)?)?;
    let certificate = certificate(&key)?;
    let mut acceptor = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())?;
    acceptor.set_private_key(&key)?;
    acceptor.set_certificate(&certificate)?;
    Ok((acceptor.build().into_context(), certificate.to_pem()?))
}

fn certificate(key: &PKey<Private>) -> Result<X509, ErrorStack> {
    let mut name = X509NameBuilder::new()?;
    name.append_entry_by_text("CN", "covergence sandbox")?;
    let name = name.build();
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    let serial = BigNum::from_u32(1)?.to_asn1_integer()?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(&name)?;
    builder.set_issuer_name(&name)?;
    builder.set_not_before(Asn1Time::days_from_now(0)?.as_ref())?;
    builder.set_not_after(Asn1Time::days_from_now(DAYS)?.as_ref())?;
    builder.set_pubkey(key)?;
    builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
    let names = SubjectAlternativeName::new()
        .ip("127.0.0.1")
        .ip("::1")
        .dns("localhost")
        .build(&builder.x509v3_context(None, None))?;
    builder.append_extension(names)?;
    builder.sign(key, MessageDigest::sha256())?;
    Ok(builder.build())
}
