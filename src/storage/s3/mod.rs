//! An object in a bucket of an S3-compatible server. A write goes through only when nobody else has written since the read.

mod crypto;
mod endpoint;
mod http;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectStore as _, ObjectStoreExt as _, PutMode, PutOptions, PutPayload,
    RetryConfig, UpdateVersion,
};
use openssl::ssl::{SslConnector, SslMethod};
use openssl::x509::X509;
use tokio::time::timeout;

use self::crypto::Crypto;
pub use self::endpoint::Endpoint;
use self::http::{Http, Told};
use super::{Merge, StorageError, Update, blocking};

/// How often what others have written meanwhile is merged, before the next run tries again.
const TRIES: usize = 5;

/// A whole update takes no longer, retries included.
const WITHIN: Duration = Duration::from_secs(300);

/// An object in a bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    store: Arc<AmazonS3>,
    bucket: String,
    key: Path,
    told: Told,
}

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The bucket.
    pub bucket: String,
    /// The object's key.
    pub key: String,
    /// The region that requests are signed for.
    pub region: String,
    /// The server.
    pub endpoint: Endpoint,
}

/// What requests are signed with, and what the server is known by. `Debug` leaves its secrets out.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    /// Name of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: String,
    /// Certificates that the server's may be issued by, beside the system's; PEM.
    pub authorities: Option<Vec<u8>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Place {
    /// Reads `s3://bucket/prefix`; `file` is the object's name below the prefix.
    ///
    /// # Errors
    /// When it is none.
    pub fn new(
        url: &str,
        file: &str,
        region: &str,
        endpoint: Endpoint,
    ) -> Result<Self, StorageError> {
        let refused = |why: &str| StorageError::NotAllowed(format!("spec.storage.s3.url: {why}"));
        let place = url.strip_prefix("s3://");
        let place = place.ok_or_else(|| refused("it does not begin with s3://"))?;
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let is_bucket =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
        if !(3..=63).contains(&bucket.len())
            || !bucket.chars().all(is_bucket)
            || bucket.contains("..")
        {
            return Err(refused("its bucket is none"));
        }
        let mut key = String::new();
        for part in prefix.split('/').filter(|part| !part.is_empty()) {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            if matches!(part, "." | "..") || !part.chars().all(is_plain) {
                return Err(refused(
                    "its prefix takes letters, digits, dots, dashes and slashes",
                ));
            }
            key.push_str(part);
            key.push('/');
        }
        key.push_str(file);
        Ok(Self {
            bucket: bucket.to_owned(),
            key,
            region: region.to_owned(),
            endpoint,
        })
    }
}

impl Bucket {
    /// Makes one; sends nothing yet. Nothing of the environment is looked at.
    ///
    /// # Errors
    /// When the keys cannot be used.
    pub fn new(place: &Place, keys: &Keys) -> Result<Self, StorageError> {
        let told = Told::default();
        let http = Http {
            endpoint: place.endpoint.clone(),
            tls: tls(keys)?,
            told: told.clone(),
        };
        let unusable = |error: &dyn std::fmt::Display| {
            StorageError::NotAllowed(format!("spec.storage.s3: {error}"))
        };
        let store = AmazonS3Builder::new()
            .with_endpoint(&place.endpoint.origin)
            .with_allow_http(!place.endpoint.has_tls)
            .with_region(&place.region)
            .with_bucket_name(&place.bucket)
            .with_access_key_id(&keys.access_key)
            .with_secret_access_key(&keys.secret_key)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_crypto_provider(Arc::new(Crypto))
            .with_http_connector(http)
            .with_retry(RetryConfig {
                backoff: BackoffConfig::default(),
                max_retries: 3,
                retry_timeout: Duration::from_secs(60),
            })
            .build()
            .map_err(|error| unusable(&error))?;
        Ok(Self {
            store: Arc::new(store),
            bucket: place.bucket.clone(),
            key: Path::parse(&place.key).map_err(|error| unusable(&error))?,
            told,
        })
    }

    /// Its URL.
    pub fn location(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.key)
    }

    /// Reads the object and puts in its place what is made of it.
    ///
    /// # Errors
    /// As [`Storage::update`](super::Storage::update).
    pub(super) async fn update<T: Send + 'static>(
        &self,
        most: u64,
        merge: Arc<Merge<T>>,
    ) -> Result<T, StorageError> {
        let updated = timeout(WITHIN, self.try_update(most, merge)).await;
        updated.unwrap_or_else(|_| {
            let (place, seconds) = (self.location(), WITHIN.as_secs());
            Err(StorageError::Unavailable(format!(
                "store {place}: it takes longer than {seconds} s"
            )))
        })
    }

    async fn try_update<T: Send + 'static>(
        &self,
        most: u64,
        merge: Arc<Merge<T>>,
    ) -> Result<T, StorageError> {
        for _ in 0..TRIES {
            let (stored, mode) = match self.read(most).await? {
                Some((stored, version)) => (Some(stored), PutMode::Update(version)),
                None => (None, PutMode::Create),
            };
            let merge = Arc::clone(&merge);
            let Update { content, outcome } = blocking(move || merge(stored.as_deref())).await?;
            let Some(content) = content else {
                return Ok(outcome);
            };
            let options = PutOptions::from(mode);
            let put = self
                .store
                .put_opts(&self.key, PutPayload::from(content), options);
            match put.await {
                Ok(_) => return Ok(outcome),
                // Somebody else was faster: theirs is merged as well.
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
                Err(error) => return Err(self.failed("write", &error)),
            }
        }
        let message = format!("write {}: others write it all the time", self.location());
        Err(StorageError::Unavailable(message))
    }

    async fn read(&self, most: u64) -> Result<Option<(Vec<u8>, UpdateVersion)>, StorageError> {
        let too_large = || {
            let place = self.location();
            StorageError::TooLarge(format!(
                "{place} is larger than {most} bytes; it is left as it is"
            ))
        };
        let found = match self.store.get(&self.key).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed("read", &error)),
        };
        let version = UpdateVersion {
            e_tag: found.meta.e_tag.clone(),
            version: found.meta.version.clone(),
        };
        if found.meta.size > most {
            return Err(too_large());
        }
        let mut content = Vec::new();
        let mut parts = found.into_stream();
        while let Some(part) = parts.next().await {
            let part = part.map_err(|error| self.failed("read", &error))?;
            if (content.len() + part.len()) as u64 > most {
                return Err(too_large());
            }
            content.extend_from_slice(&part);
        }
        Ok(Some((content, version)))
    }

    /// What is told of an error: our own words for what went wrong, and never the library's, which quote answers.
    fn failed(&self, what: &str, error: &Error) -> StorageError {
        let told = self.told.take().unwrap_or_else(|| {
            match error {
                Error::Precondition { .. } | Error::AlreadyExists { .. } => {
                    "somebody else has written it"
                }
                _ => "the answer is not one of S3",
            }
            .to_owned()
        });
        StorageError::Unavailable(format!("{what} {}: {told}", self.location()))
    }
}

fn tls(keys: &Keys) -> Result<SslConnector, StorageError> {
    let refused = |error: openssl::error::ErrorStack| {
        let reason = error
            .errors()
            .iter()
            .find_map(openssl::error::Error::reason);
        let message = reason.unwrap_or("no certificate");
        StorageError::NotAllowed(format!("spec.storage.s3.secretRef: ca.crt: {message}"))
    };
    let mut tls = SslConnector::builder(SslMethod::tls_client()).map_err(refused)?;
    if let Some(authorities) = &keys.authorities {
        for certificate in X509::stack_from_pem(authorities).map_err(refused)? {
            tls.cert_store_mut()
                .add_cert(certificate)
                .map_err(refused)?;
        }
    }
    Ok(tls.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(url: &str) -> Result<Place, StorageError> {
        Place::new(url, "pets.exec", "eu-west-1", Endpoint::of_aws("eu-west-1"))
    }

    #[test]
    fn a_url_gives_a_bucket_and_a_key() {
        let read = |url| place(url).map(|place| (place.bucket, place.key)).unwrap();
        let expected = |key: &str| ("coverage".to_owned(), key.to_owned());
        assert_eq!(read("s3://coverage"), expected("pets.exec"));
        assert_eq!(read("s3://coverage/"), expected("pets.exec"));
        assert_eq!(
            read("s3://coverage/shop//nightly/"),
            expected("shop/nightly/pets.exec")
        );
        for wrong in [
            "https://coverage/shop",
            "s3://",
            "s3://ab",
            "s3://Coverage",
            "s3://a..b/x",
            "s3://user:pass@host/x",
            "s3://coverage/../other",
            "s3://coverage/a?versionId=1",
            "s3://coverage/a%2e%2e",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn keys_are_never_shown() {
        let keys = Keys {
            access_key: "AKIA1".into(),
            secret_key: "hunter2".into(),
            authorities: None,
        };
        let bucket = Bucket::new(&place("s3://coverage").unwrap(), &keys).unwrap();
        let shown = format!("{keys:?} {}", bucket.location());
        assert!(
            !shown.contains("AKIA1") && !shown.contains("hunter2"),
            "{shown}"
        );
    }

    #[test]
    fn a_certificate_that_is_none_is_refused() {
        let keys = Keys {
            access_key: "a".into(),
            secret_key: "b".into(),
            authorities: Some(
                b"-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n".to_vec(),
            ),
        };
        let error = Bucket::new(&place("s3://coverage").unwrap(), &keys).unwrap_err();
        assert!(error.to_string().contains("ca.crt"), "{error}");
    }
}
