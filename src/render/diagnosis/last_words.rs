//! What a JVM says when it does not start, and whose fault that is.
//!
//! A log may hold secrets, and more people read a status than logs. So nothing of a log is quoted but words that are written
//! down here.

use crate::api::names::AGENT_JAR;

/// How the JVM repeats the options that it has found, which may hold anything.
const OPTIONS: &str = "Picked up ";

/// A class of JaCoCo's agent in a stack trace, or in what the JVM says of a class.
const JACOCO: [&str; 3] = [
    "org.jacoco.agent.rt",
    "org/jacoco/agent/rt",
    "java/lang/$JaCoCo",
];

/// What is known of words.
enum Blame {
    /// Nobody says them but for the agent.
    Agent,
    /// They are about the agent where its jar stands behind them.
    Jar,
    /// They are about the agent where its classes are in the stack trace: other agents end the same way.
    Stack,
    /// They have nothing to do with it.
    Other,
}

/// Words by which JVMs (HotSpot, OpenJ9) end, from OpenJDK 8 to 21, in the order in which they are told.
const KNOWN: [(&str, Blame); 17] = [
    ("processing of -javaagent failed", Blame::Stack),
    ("Error opening zip file or JAR manifest missing", Blame::Jar),
    (
        "Failed to find Premain-Class manifest attribute",
        Blame::Jar,
    ),
    ("Could not find agent library instrument", Blame::Agent),
    ("Module java.instrument not found", Blame::Agent),
    ("Unrecognized option: -javaagent", Blame::Agent),
    (
        "java.net.BindException: Address already in use",
        Blame::Stack,
    ),
    ("java.net.SocketException: Permission denied", Blame::Stack),
    (
        "java.lang.IllegalArgumentException: Unknown agent option",
        Blame::Stack,
    ),
    (
        "java.lang.NoClassDefFoundError: java/lang/$JaCoCo",
        Blame::Agent,
    ),
    ("java.lang.UnsupportedClassVersionError", Blame::Stack),
    ("Unrecognized option:", Blame::Other),
    ("Unrecognized VM option", Blame::Other),
    ("Unmatched quote in JAVA_TOOL_OPTIONS", Blame::Other),
    (
        "Could not reserve enough space for object heap",
        Blame::Other,
    ),
    (
        "There is insufficient memory for the Java Runtime Environment to continue",
        Blame::Other,
    ),
    ("java.lang.OutOfMemoryError", Blame::Other),
];

/// What a log says in known words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastWords {
    /// The words.
    pub said: Vec<&'static str>,
    /// Whether they point to the agent.
    pub agent: bool,
}

impl LastWords {
    /// Finds known words in the end of a log. `port` is the agent's.
    pub fn in_log(log: &str, port: u16) -> Self {
        // In what the JVM repeats of its options, everything that we look for may stand.
        let lines = || log.lines().filter(|line| !line.contains(OPTIONS));
        let of_jacoco = |line: &str| JACOCO.iter().any(|class| line.contains(class));
        let in_stack = lines().any(of_jacoco);
        let mut words = Self::default();
        for (known, blame) in KNOWN {
            let mut found = lines().filter(|line| line.contains(known)).peekable();
            if found.peek().is_none() || words.said.iter().any(|said| said.starts_with(known)) {
                continue;
            }
            words.said.push(known);
            words.agent |= match blame {
                Blame::Agent => true,
                Blame::Jar => found.any(|line| line.contains(AGENT_JAR)),
                Blame::Stack => in_stack,
                Blame::Other => false,
            };
        }
        // The agent listens first, so that it is the application that finds its port taken.
        let taken = format!("Port {port} was already in use");
        if lines().any(|line| line.contains(&taken)) {
            words.said.push("the port of the agent was already in use");
            words.agent = true;
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As OpenJDK 17 and JaCoCo 0.8.6 write it, shortened.
    const TAKEN_PORT: &str = "\
Picked up JAVA_TOOL_OPTIONS: -javaagent:/covergence-agent/jacocoagent.jar=output=tcpserver,port=6300 -Dpassword=hunter2
java.net.BindException: Address already in use
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
\tat org.jacoco.agent.rt.internal_0000.output.TcpServerOutput.createServerSocket(TcpServerOutput.java:107)
Caused by: java.net.BindException: Address already in use
FATAL ERROR in native method: processing of -javaagent failed, processJavaStart failed
";

    fn words(log: &str) -> (Vec<&'static str>, bool) {
        let LastWords { said, agent } = LastWords::in_log(log, 6300);
        (said, agent)
    }

    #[test]
    fn what_the_agent_does_to_a_jvm_is_told_and_blamed_on_it() {
        let taken = [
            "processing of -javaagent failed",
            "java.net.BindException: Address already in use",
        ];
        assert_eq!(words(TAKEN_PORT), (taken.to_vec(), true));
        for (log, said) in [
            (
                "Error opening zip file or JAR manifest missing : /covergence-agent/jacocoagent.jar\nError occurred during initialization of VM\nagent library failed to init: instrument",
                "Error opening zip file or JAR manifest missing",
            ),
            (
                "Failed to find Premain-Class manifest attribute in /covergence-agent/jacocoagent.jar",
                "Failed to find Premain-Class manifest attribute",
            ),
            (
                "Unrecognized option: -javaagent:/covergence-agent/jacocoagent.jar=a",
                "Unrecognized option: -javaagent",
            ),
            (
                "Could not find agent library instrument on the library path, with error: x",
                "Could not find agent library instrument",
            ),
            (
                "Web server failed to start. Port 6300 was already in use.",
                "the port of the agent was already in use",
            ),
            (
                "java.lang.NoClassDefFoundError: java/lang/$JaCoCo",
                "java.lang.NoClassDefFoundError: java/lang/$JaCoCo",
            ),
        ] {
            assert_eq!(words(log), (vec![said], true), "{log}");
        }
    }

    #[test]
    fn what_others_do_is_told_and_not_blamed_on_the_agent() {
        for (log, said) in [
            // Another agent.
            (
                "\tat com.example.Agent.premain(Agent.java:1)\nFATAL ERROR in native method: processing of -javaagent failed",
                "processing of -javaagent failed",
            ),
            (
                "Error opening zip file or JAR manifest missing : /opt/other.jar",
                "Error opening zip file or JAR manifest missing",
            ),
            // The application's own port.
            (
                "java.net.BindException: Address already in use\n\tat com.example.Main.main(Main.java:1)",
                "java.net.BindException: Address already in use",
            ),
            ("Unrecognized option: b", "Unrecognized option:"),
            (
                "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space",
                "java.lang.OutOfMemoryError",
            ),
        ] {
            assert_eq!(words(log), (vec![said], false), "{log}");
        }
        assert_eq!(words("Port 8080 was already in use"), (vec![], false));
        assert_eq!(words(""), (vec![], false));
    }

    #[test]
    fn options_that_the_jvm_repeats_say_nothing() {
        let repeated = "Picked up JAVA_TOOL_OPTIONS: -Da='processing of -javaagent failed' -Db=org.jacoco.agent.rt";
        assert_eq!(words(repeated), (vec![], false));
        // A stack trace of the application that went on with the agent at work names no known words.
        assert_eq!(
            words("\tat org.jacoco.agent.rt.internal.Offline.getProbes(Offline.java:1)"),
            (vec![], false)
        );
    }

    #[test]
    fn nothing_but_known_words_is_quoted() {
        let log = format!(
            "{TAKEN_PORT}login with token=s3cr3t failed: java.lang.OutOfMemoryError: s3cr3t\nUnrecognized option: --password=s3cr3t"
        );
        let told = format!("{:?}", LastWords::in_log(&log, 6300).said);
        assert!(
            !told.contains("s3cr3t") && !told.contains("hunter2"),
            "{told}"
        );
        assert!(told.contains("OutOfMemoryError"), "{told}");
    }
}
