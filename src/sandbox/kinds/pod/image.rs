//! Names of images.

/// Whether an image is pulled always: it is the latest one, as a name without tag and digest says as well.
pub(super) fn is_latest(image: &str) -> bool {
    let (name, digest) = match image.split_once('@') {
        Some((name, digest)) => (name, Some(digest)),
        None => (image, None),
    };
    let (repository, tag) = match name.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
        _ => (name, None),
    };
    is_repository(repository) && tag.map_or(digest.is_none(), |tag| tag == "latest")
}

/// Whether it is the name of a repository; what cannot be read as one is not taken for the latest of anything.
fn is_repository(name: &str) -> bool {
    let path = match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => path,
        _ => name,
    };
    let is_part = |part: &str| {
        let within =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
        !part.is_empty()
            && part.chars().all(within)
            && !part.starts_with(['.', '_', '-'])
            && !part.ends_with(['.', '_', '-'])
    };
    path.split('/').all(is_part)
}
