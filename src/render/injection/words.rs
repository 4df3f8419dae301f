//! `JAVA_TOOL_OPTIONS` as the JVM splits it.

use std::ops::Range;

use crate::api::names::AGENT_JAR;
use crate::api::target::DEFAULT_COVERAGE_PORT;

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Where it stands, quotes included.
    pub range: Range<usize>,
    /// What the JVM takes it for.
    pub text: String,
}

/// Splits options at white space, but not within quotes; `None` when a quote has no end: no JVM starts with that
/// (HotSpot, `Arguments::parse_options_buffer`).
pub fn words(options: &str) -> Option<Vec<Word>> {
    let mut words: Vec<Word> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut quote = None;
    for (at, c) in options.char_indices() {
        match quote {
            Some(end) if c == end => quote = None,
            None if is_space(c) => {
                words.extend(open.take().map(|(start, text)| Word {
                    range: start..at,
                    text,
                }));
            }
            _ => {
                let (_, text) = open.get_or_insert_with(|| (at, String::new()));
                match c {
                    '"' | '\'' if quote.is_none() => quote = Some(c),
                    c => text.push(c),
                }
            }
        }
    }
    words.extend(open.map(|(start, text)| Word {
        range: start..options.len(),
        text,
    }));
    quote.is_none().then_some(words)
}

/// White space as C has it, which is how the JVM has it.
fn is_space(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\x0b'
}

/// The path of a Java agent that an option names.
fn agent_path(option: &str) -> Option<&str> {
    let named = option.strip_prefix("-javaagent:")?;
    Some(named.split_once('=').map_or(named, |(path, _)| path))
}

/// Tells whether an option is the agent that we put there.
pub fn is_ours(option: &str) -> bool {
    agent_path(option) == Some(AGENT_JAR)
}

/// Tells whether an option names a JaCoCo agent, whoever put it there.
pub fn is_jacoco(option: &str) -> bool {
    agent_path(option).is_some_and(|path| path.to_ascii_lowercase().contains("jacoco"))
}

/// Tells whether an option is a JaCoCo agent that listens on a port (`AgentOptions`: the last of two values counts, and
/// without one it is 6300).
pub fn listens_on(option: &str, port: u16) -> bool {
    let Some((_, options)) = option.split_once('=').filter(|_| is_jacoco(option)) else {
        return false;
    };
    let value = |key: &str| {
        let mut pairs = options.rsplit(',').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
    };
    let listens = value("port").map_or(Some(DEFAULT_COVERAGE_PORT), |port| port.parse().ok());
    value("output") == Some("tcpserver") && listens == Some(port)
}

/// Tells whether a text that is not for the JVM alone, such as a command line, names a JaCoCo agent.
pub fn mentions_jacoco(text: &str) -> bool {
    match words(text) {
        Some(words) => words.iter().any(|word| is_jacoco(&word.text)),
        None => text.split(is_space).any(is_jacoco),
    }
}

/// Takes our agent out of options, each with one blank beside it, and leaves the rest as it is.
pub fn without_ours(options: &str, words: &[Word]) -> String {
    let mut rest = options.to_owned();
    for word in words.iter().rev().filter(|word| is_ours(&word.text)) {
        let Range { mut start, mut end } = word.range.clone();
        if rest
            .get(end..)
            .is_some_and(|after| after.starts_with(is_space))
        {
            end += 1;
        } else if rest
            .get(..start)
            .is_some_and(|before| before.ends_with(is_space))
        {
            start -= 1;
        }
        rest.replace_range(start..end, "");
    }
    rest
}

/// Takes our agent out of the value of a variable and gives the rest; `None` when it is not in there.
pub fn without_agent(options: &str) -> Option<String> {
    let words = words(options)?;
    let mut ours = words.iter().filter(|word| is_ours(&word.text));
    ours.next()?;
    Some(without_ours(options, &words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(options: &str) -> Option<Vec<String>> {
        Some(words(options)?.into_iter().map(|word| word.text).collect())
    }

    #[test]
    fn options_are_split_as_the_jvm_does() {
        for (options, expected) in [
            ("", &[][..]),
            ("  ", &[]),
            ("-Xmx1g", &["-Xmx1g"]),
            (" -Xmx1g\t-ea\x0b-Da=b ", &["-Xmx1g", "-ea", "-Da=b"]),
            ("-Da=\"b c\"d -ea", &["-Da=b cd", "-ea"]),
            ("'-Da=\"' -ea", &["-Da=\"", "-ea"]),
            ("-Da='' \"\"", &["-Da=", ""]),
            ("-Dä=ö -ea", &["-Dä=ö", "-ea"]),
        ] {
            assert_eq!(split(options).unwrap(), expected, "{options:?}");
        }
        assert_eq!(split("-Da=\"b"), None);
        assert_eq!(split("-Da=\"b'"), None);
    }

    #[test]
    fn ours_is_taken_out_and_the_rest_is_what_it_was() {
        let ours = "-javaagent:/covergence-agent/jacocoagent.jar";
        for (options, rest) in [
            (format!("{ours}=a=b  -Xmx1g "), " -Xmx1g "),
            (format!("{ours} -Xmx1g"), "-Xmx1g"),
            (format!("-Xmx1g {ours}=a"), "-Xmx1g"),
            (format!("-ea {ours} -Xmx1g {ours}=x"), "-ea -Xmx1g"),
            (ours.to_owned(), ""),
            (format!("\"{ours}=a\" -Da='b c'"), "-Da='b c'"),
            (format!("{ours}x -ea"), &format!("{ours}x -ea")),
        ] {
            assert_eq!(without_ours(&options, &words(&options).unwrap()), rest);
            let is_in = options != rest;
            assert_eq!(without_agent(&options), is_in.then(|| rest.to_owned()));
        }
    }

    #[test]
    fn an_agent_that_listens_tells_its_port() {
        let on =
            |options: &str, port| listens_on(&format!("-javaagent:/jacoco.jar={options}"), port);
        assert!(on("output=tcpserver,address=*", 6300));
        assert!(on(
            "port=6300,output=tcpserver,port=7000,includes=a.*",
            7000
        ));
        assert!(!on("output=tcpserver,port=7000", 6300));
        assert!(!on("port=6300", 6300));
        assert!(!on("output=tcpserver,port=x", 6300));
        assert!(!listens_on("-javaagent:/otel.jar=output=tcpserver", 6300));
    }

    #[test]
    fn jacoco_is_told_by_the_path_of_the_agent() {
        for text in [
            "-javaagent:/opt/jacocoagent.jar=output=none",
            "java -javaagent:/opt/org.jacoco.agent-0.8.8-runtime.jar -jar a.jar",
            "exec java '-javaagent:/my dir/JaCoCo.jar' -jar a.jar",
            "it's -javaagent:/jacoco/agent.jar",
        ] {
            assert!(mentions_jacoco(text), "{text}");
        }
        for text in [
            "-javaagent:/otel.jar=jacoco=no",
            "-Djacoco=-javaagent:/otel.jar",
            "jacoco",
        ] {
            assert!(!mentions_jacoco(text), "{text}");
        }
    }
}
