//! Schedules of CronJobs.

/// Fields of a schedule: least and most, and names for values from the least on.
const FIELDS: [(u32, u32, &[&str]); 5] = [
    (0, 59, &[]),
    (0, 23, &[]),
    (1, 31, &[]),
    (
        1,
        12,
        &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ],
    ),
    (0, 6, &["sun", "mon", "tue", "wed", "thu", "fri", "sat"]),
];

/// Says what is wrong with a schedule.
pub(super) fn check(schedule: &str) -> Result<(), String> {
    if let Some(descriptor) = schedule.strip_prefix('@') {
        return check_descriptor(schedule, descriptor);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "Expected exactly 5 fields, found {}: {schedule}",
            fields.len()
        ));
    }
    for (field, (least, most, names)) in fields.iter().zip(FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            check_range(range, least, most, names)?;
        }
    }
    Ok(())
}

fn check_descriptor(schedule: &str, descriptor: &str) -> Result<(), String> {
    match descriptor {
        "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly" => Ok(()),
        other => match other.strip_prefix("every ") {
            Some(duration) if is_duration(duration) => Ok(()),
            Some(duration) => Err(format!(
                "Failed to parse duration {schedule}: time: invalid duration {duration}"
            )),
            None => Err(format!("Unrecognized descriptor: {schedule}")),
        },
    }
}

fn check_range(range: &str, least: u32, most: u32, names: &[&str]) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts
        .first()
        .copied()
        .unwrap_or_default()
        .split('-')
        .collect();
    let (start, end) = match ends.as_slice() {
        ["*" | "?"] => (least, most),
        [one] => {
            let one = number(one, least, names)?;
            (one, if parts.len() == 2 { most } else { one })
        }
        ["*" | "?", ..] => (least, most),
        [start, end] => (number(start, least, names)?, number(end, least, names)?),
        _ => return Err(format!("Too many hyphens: {range}")),
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => number(step, least, &[])?,
        _ => return Err(format!("Too many slashes: {range}")),
    };
    if start < least {
        return Err(format!(
            "Beginning of range ({start}) below minimum ({least}): {range}"
        ));
    }
    if end > most {
        return Err(format!(
            "End of range ({end}) above maximum ({most}): {range}"
        ));
    }
    if start > end {
        return Err(format!(
            "Beginning of range ({start}) beyond end of range ({end}): {range}"
        ));
    }
    if step == 0 {
        return Err(format!(
            "Step of range should be a positive number: {range}"
        ));
    }
    Ok(())
}

fn number(text: &str, least: u32, names: &[&str]) -> Result<u32, String> {
    let lower = text.to_lowercase();
    if let Some(index) = names.iter().position(|name| *name == lower) {
        return Ok(least + u32::try_from(index).unwrap_or(0));
    }
    text.parse().map_err(|_| {
        format!("Failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax")
    })
}

/// Whether Go reads it as a duration, such as `1h30m`.
fn is_duration(text: &str) -> bool {
    let mut rest = text.trim_start_matches(['+', '-']);
    if rest == "0" {
        return true;
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(0);
        let (number, behind) = rest.split_at(end);
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        let Some(unit) = units
            .iter()
            .filter(|unit| behind.starts_with(**unit))
            .max_by_key(|unit| unit.len())
        else {
            return false;
        };
        if number.parse::<f64>().is_err() {
            return false;
        }
        rest = behind.strip_prefix(unit).unwrap_or_default();
    }
    !text.is_empty()
}
