//! Schedules as CronJobs have them (`cron.ParseStandard` of robfig/cron, which Kubernetes uses).

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const NAMED: [&str; 7] = [
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
];

/// One of the five fields: what it is called, its bounds and names for its numbers.
struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field {
        name: "minute",
        least: 0,
        most: 59,
        names: &[],
    },
    Field {
        name: "hour",
        least: 0,
        most: 23,
        names: &[],
    },
    Field {
        name: "day of the month",
        least: 1,
        most: 31,
        names: &[],
    },
    Field {
        name: "month",
        least: 1,
        most: 12,
        names: &MONTHS,
    },
    Field {
        name: "day of the week",
        least: 0,
        most: 6,
        names: &DAYS,
    },
];

/// Says what is wrong with a schedule, in words that follow its path.
pub(super) fn fault(schedule: &str) -> Option<String> {
    let (zone, schedule) = match schedule
        .strip_prefix("TZ=")
        .or(schedule.strip_prefix("CRON_TZ="))
    {
        Some(rest) => rest
            .split_once(' ')
            .map_or((Some(rest), ""), |(zone, rest)| (Some(zone), rest)),
        None => (None, schedule),
    };
    if zone.is_some() {
        return Some("has a time zone: it goes under `timeZone`".to_owned());
    }
    if let Some(every) = schedule.strip_prefix("@every ") {
        return (!is_duration(every))
            .then(|| "has `@every` without a time such as `1h30m`".to_owned());
    }
    if schedule.starts_with('@') {
        return (!NAMED.contains(&schedule))
            .then(|| format!("has a name that is none of `{}`", NAMED.join("`, `")));
    }
    let parts: Vec<&str> = schedule.split_whitespace().collect();
    if parts.len() != FIELDS.len() {
        return Some(format!("must have five fields, not {}", parts.len()));
    }
    parts
        .iter()
        .zip(&FIELDS)
        .find_map(|(part, field)| field.fault(part))
}

impl Field {
    fn fault(&self, text: &str) -> Option<String> {
        // Empty parts between commas are passed over.
        text.split(',')
            .filter(|part| !part.is_empty())
            .find_map(|part| self.range(part))
    }

    fn range(&self, part: &str) -> Option<String> {
        let Self {
            name, least, most, ..
        } = self;
        let wrong = |what: String| Some(format!("has as the {name} {what}"));
        let mut steps = part.split('/');
        let range = steps.next().unwrap_or_default();
        let step = steps.next();
        if steps.next().is_some() {
            return wrong(format!("`{part}` with more than one `/`"));
        }
        if let Some(step) = step
            && step.parse::<u32>().is_ok_and(|step| step == 0)
        {
            return wrong(format!("`{part}` with a step of 0"));
        }
        if let Some(step) = step
            && step.parse::<u32>().is_err()
        {
            return wrong(format!("`{part}` whose step is no number"));
        }
        let ends: Vec<&str> = range.split('-').collect();
        // What follows after a dash is passed over.
        if matches!(ends.first(), Some(&("*" | "?"))) {
            return None;
        }
        if ends.len() > 2 {
            return wrong(format!("`{part}` with more than one dash"));
        }
        let mut numbers = Vec::new();
        for end in ends {
            match self.number(end) {
                None => return wrong(format!("`{end}`, which is no number")),
                Some(7) if *most == 6 => return wrong("7: Sunday is 0".to_owned()),
                Some(n) if n < *least || n > *most => {
                    return wrong(format!("{n}, and it is from {least} to {most}"));
                }
                Some(n) => numbers.push(n),
            }
        }
        match numbers.as_slice() {
            [first, last] if first > last => {
                wrong(format!("`{part}`, which ends before it begins"))
            }
            _ => None,
        }
    }

    fn number(&self, text: &str) -> Option<u32> {
        let lower = text.to_lowercase();
        let named = self.names.iter().position(|name| *name == lower);
        match named {
            Some(index) => u32::try_from(index).ok().map(|index| index + self.least),
            None => text.parse().ok(),
        }
    }
}

/// Whether a text is a time as Go writes it: `1h30m`, `90s`.
fn is_duration(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(end).unwrap_or_default();
        let units = ["ms", "us", "µs", "ns", "h", "m", "s"];
        let Some(after) = units.iter().find_map(|unit| tail.strip_prefix(unit)) else {
            return false;
        };
        if number.is_empty() || number == "." {
            return false;
        }
        rest = after;
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn schedules_are_judged_as_kubernetes_does() {
        for schedule in [
            "* * * * *",
            "*/5 0 1 1 0",
            "0 4 * * 1-5",
            "0 0 1 JAN mon",
            "5,35 1-3/2 ? * *",
            "@daily",
            "@every 1h30m",
            "0  0 * * *",
        ] {
            assert_eq!(fault(schedule), None, "{schedule}");
        }
        let cases = [
            ("* * * *", "must have five fields, not 4"),
            ("0 0 4 * * *", "must have five fields, not 6"),
            ("60 * * * *", "has as the minute 60, and it is from 0 to 59"),
            (
                "0 0 0 * *",
                "has as the day of the month 0, and it is from 1 to 31",
            ),
            ("0 0 * * 7", "has as the day of the week 7: Sunday is 0"),
            ("a * * * *", "has as the minute `a`, which is no number"),
            (
                "5-1 * * * *",
                "has as the minute `5-1`, which ends before it begins",
            ),
            ("*/0 * * * *", "has as the minute `*/0` with a step of 0"),
            (
                "*/x * * * *",
                "has as the minute `*/x` whose step is no number",
            ),
            (
                "1/2/3 * * * *",
                "has as the minute `1/2/3` with more than one `/`",
            ),
            (
                "1-2-3 * * * *",
                "has as the minute `1-2-3` with more than one dash",
            ),
            (
                "@dayly",
                "has a name that is none of `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight`, `@hourly`",
            ),
            ("@every soon", "has `@every` without a time such as `1h30m`"),
        ];
        for (schedule, expected) in cases {
            assert_eq!(fault(schedule).as_deref(), Some(expected), "{schedule}");
        }
    }
}
