//! The formats of texts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base64::Engine;

use super::super::pattern;

/// Labels of letters and digits; the last of several has letters alone.
const HOSTNAME: &str = "^([a-zA-Z0-9](-?[a-zA-Z0-9]){0,62}|([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z]{2,63})$";
const MAC: &str = "^([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2}[:-]?){1,15}$";
const HEX_COLOR: &str = "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
const RGB_COLOR: &str = "^rgb\\(\\s*(1?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])\\s*(,\\s*(1?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])\\s*){2}\\)$";
const UUID: &str = "^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID3: &str = "^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const UUID4: &str = "^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const UUID5: &str = "^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$";
const OBJECT_ID: &str = "^[0-9a-fA-F]{24}$";
const SSN: &str = "^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
const EMAIL: &str = "^([^<>@,;]*<[^<>@\\s,;]+@[^<>@\\s,;]+>|[^<>@\\s,;]+@[^<>@\\s,;]+)$";
const URI: &str = "^([a-zA-Z][a-zA-Z0-9+.-]*:[^\\s\\[]+|/[^\\s]*)$";
const TIME: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})$";
/// What Go reads as a duration.
const DURATION: &str = "^[-+]?(0|(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
/// What else may be one.
const SPELLED_DURATION: &str = "^[0-9]+ *(ns|nano(second)?s?|us|µs|micro(second)?s?|ms|milli(second)?s?|s|sec(ond)?s?|\
    m|min(ute)?s?|h|hrs?|hours?|d|days?|w|wk|weeks?)$";

/// Whether a text has a format; formats that nobody knows are had by all.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "datetime" => pattern::fits(TIME, text) && is_date(text.get(..10).unwrap_or_default()),
        "date" => text.len() == 10 && is_date(text),
        "duration" => {
            pattern::fits(DURATION, text) || pattern::fits(SPELLED_DURATION, &text.to_lowercase())
        }
        "byte" => {
            let engine = base64::engine::general_purpose::STANDARD;
            !text.is_empty() && engine.decode(text).is_ok()
        }
        "email" => pattern::fits(EMAIL, text),
        "hostname" => text.len() <= 255 && pattern::fits(HOSTNAME, text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => pattern::fits(MAC, text),
        "uuid" => pattern::fits(UUID, &text.to_lowercase()),
        "uuid3" => pattern::fits(UUID3, &text.to_lowercase()),
        "uuid4" => pattern::fits(UUID4, &text.to_lowercase()),
        "uuid5" => pattern::fits(UUID5, &text.to_lowercase()),
        "uri" => pattern::fits(URI, text),
        "ssn" => pattern::fits(SSN, text),
        "hexcolor" => pattern::fits(HEX_COLOR, text),
        "rgbcolor" => pattern::fits(RGB_COLOR, text),
        "bsonobjectid" => pattern::fits(OBJECT_ID, text),
        _ => true,
    }
}

fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let most = match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.parse::<u8>().is_ok_and(|length| length <= most)
}
