//! The option that makes a JVM load the agent, and what becomes of those that are there.

use super::patterns::flaw;
use super::refusal::NotInjected;
use super::shape::{ContainerShape, EnvValue};
use super::words::{is_jacoco, is_ours, listens_on, without_ours, words};
use crate::api::names::AGENT_JAR;
use crate::api::target::CoverageAgent;

/// The most bytes of the options. Linux takes up to 131,072 for one variable, and starts no process with more.
const MOST_BYTES: usize = 64 * 1024;

/// JVMs before 9 read the variable into so many bytes, and ignore a longer one (`OPTION_BUFFER_SIZE`).
const OLD_JVMS_TAKE: usize = 1023;

/// Makes the option, as the value of a variable has it: the kubelet takes `$$` for `$`.
pub(super) fn agent_option(coverage: &CoverageAgent) -> Result<String, NotInjected> {
    // Without an address it would listen on the loopback alone.
    let mut option = format!(
        "-javaagent:{AGENT_JAR}=output=tcpserver,address=*,port={},dumponexit=true",
        coverage.port
    );
    let lists = [
        ("includes", &coverage.includes),
        ("excludes", &coverage.excludes),
    ];
    for (field, patterns) in lists {
        let flawed = |pattern: &&String| flaw(pattern).is_some();
        if let Some(pattern) = patterns.iter().find(flawed) {
            return Err(NotInjected::Pattern {
                field,
                pattern: pattern.clone(),
                why: flaw(pattern).unwrap_or_default(),
            });
        }
        if !patterns.is_empty() {
            option.push_str(&format!(",{field}={}", patterns.join(":")));
        }
    }
    Ok(option.replace('$', "$$"))
}

/// Puts the option before those that a container has: only the first agent sees classes as they were compiled.
pub(super) fn java_tool_options(
    option: &str,
    container: &ContainerShape,
) -> Result<String, NotInjected> {
    let named = || container.name.clone();
    let value = match &container.java_tool_options {
        EnvValue::Absent if container.env_from => {
            return Err(NotInjected::EnvFrom { container: named() });
        }
        EnvValue::Absent => "",
        EnvValue::Value(value) => value,
        EnvValue::From => return Err(NotInjected::OptionsFromElsewhere { container: named() }),
        EnvValue::Twice => return Err(NotInjected::OptionsTwice { container: named() }),
    };
    let Some(words) = words(value) else {
        return Err(NotInjected::UnmatchedQuote { container: named() });
    };
    let another = |word: &str| is_jacoco(word) && !is_ours(word);
    let place = match words.iter().any(|word| another(&word.text)) {
        true => Some(super::shape::OPTIONS.to_owned()),
        false => container.jacoco.clone(),
    };
    if let Some(place) = place {
        let container = named();
        return Err(NotInjected::AnotherJacoco { container, place });
    }
    let kept = without_ours(value, &words);
    let whole = match kept.trim().is_empty() {
        true => option.to_owned(),
        false => format!("{option} {kept}"),
    };
    if whole.len() > MOST_BYTES {
        return Err(NotInjected::OptionsTooLong {
            container: named(),
            length: whole.len(),
            most: MOST_BYTES,
        });
    }
    Ok(whole)
}

/// Tells whether a value is one that starts with this option.
pub(super) fn starts_with(value: &EnvValue, option: &str) -> bool {
    let EnvValue::Value(value) = value else {
        return false;
    };
    let rest = value.strip_prefix(option);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Tells whether a container has an agent that listens on a port.
pub(super) fn has_listener(container: &ContainerShape, port: u16) -> bool {
    let EnvValue::Value(value) = &container.java_tool_options else {
        return false;
    };
    let words = words(value).unwrap_or_default();
    words.iter().any(|word| listens_on(&word.text, port))
}

/// Tells whether a container carries our agent with this port.
pub(super) fn carries(container: &ContainerShape, port: u16) -> bool {
    let EnvValue::Value(value) = &container.java_tool_options else {
        return false;
    };
    let words = words(value).unwrap_or_default();
    words
        .iter()
        .any(|word| is_ours(&word.text) && listens_on(&word.text, port))
}

/// Says what may go wrong with these options in some JVMs, if anything.
pub(super) fn remark(options: &str, port: u16) -> Option<String> {
    if options.len() > OLD_JVMS_TAKE {
        let message = format!(
            "JAVA_TOOL_OPTIONS has {} bytes: a JVM before 9 ignores more than {OLD_JVMS_TAKE}",
            options.len()
        );
        return Some(message);
    }
    let message = || format!("only root may listen on port {port} in some clusters");
    (port < 1024).then(message)
}
