//! From text to an expression that can be evaluated, or the reason why not.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use kube_cel::cel::parser::{Expression as Ast, Parser};

use super::budget::Budget;
use super::check::check;
use super::env::Env;
use super::eval::Machine;
use super::fault::Fault;
use kube_cel::cel::Value;

/// The longest expression, in bytes. The longest that people publish have a tenth of that.
const LONGEST: usize = 10_000;

/// The most signs that nest or chain something: what is parsed recursively, on a stack of 2 MiB.
const SIGNS: usize = 1_000;

/// The most brackets within each other.
const BRACKETS: usize = 24;

/// The most `?:`, each of which is parsed within the one before it.
const CHOICES: usize = 40;

/// What an expression may name.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// Values such as `object`.
    pub values: &'a [&'static str],
    /// Variables, as `variables.NAME`; none means that there is no `variables`.
    pub variables: &'a [&'a str],
}

/// An expression, parsed and checked.
#[derive(Clone, Debug)]
pub struct Expression {
    ast: Ast,
    /// The values that it names.
    pub mentions: BTreeSet<String>,
}

impl Expression {
    /// Parses and checks an expression.
    ///
    /// # Errors
    /// What is wrong with it, with line and column in it where they are known.
    pub fn compile(source: &str, names: Names<'_>) -> Result<Self, String> {
        if source.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let signs = source.chars().filter(|c| "+-*/%.!?<>=&|([{,:".contains(*c));
        if signs.count() > SIGNS {
            return Err(format!("it has more than {SIGNS} operators"));
        }
        let (brackets, choices) = nesting(source);
        if brackets > BRACKETS {
            return Err(format!(
                "it has more than {BRACKETS} brackets within each other"
            ));
        }
        if choices > CHOICES {
            return Err(format!("it has more than {CHOICES} choices (?:)"));
        }
        let ast = parse(source)?;
        let mentions = check(&ast, names)?;
        Ok(Self { ast, mentions })
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// Why it has no value.
    pub fn evaluate(&self, env: &Env<'_>, budget: &Budget) -> Result<Value, Fault> {
        self.evaluate_at(env, budget, 0)
    }

    /// Evaluates it as a part of another one.
    pub(super) fn evaluate_at(
        &self,
        env: &Env<'_>,
        budget: &Budget,
        depth: u32,
    ) -> Result<Value, Fault> {
        Machine::new(env, budget, depth).eval(&self.ast, None)
    }
}

/// How many brackets are within each other at the most, and how many choices there are. What is within quotes counts as
/// well: nobody writes so many.
fn nesting(source: &str) -> (usize, usize) {
    let (mut open, mut most, mut choices) = (0_usize, 0, 0);
    let mut before = ' ';
    for c in source.chars() {
        match c {
            '(' | '[' | '{' => {
                open += 1;
                most = most.max(open);
            }
            ')' | ']' | '}' => open = open.saturating_sub(1),
            // `a.?b`, `a[?b]` and `[?a]` are no choices.
            '?' if !matches!(before, '.' | '[' | '{' | ',') => choices += 1,
            _ => {}
        }
        if !c.is_whitespace() {
            before = c;
        }
    }
    (most, choices)
}

/// The parser is generated code around a runtime with panics of its own; its bound on recursion is one, which is why that
/// is never reached. A text that finds another one must fail its own policy, never the process that reads it.
fn parse(source: &str) -> Result<Ast, String> {
    let parser = || {
        let parser = Parser::new().enable_optional_syntax(true);
        // What nests is bounded above; the parser panics where it meets a bound of its own.
        parser.max_recursion_depth(u16::MAX).parse(source)
    };
    match catch_unwind(AssertUnwindSafe(parser)) {
        Ok(Ok(ast)) => Ok(ast),
        Ok(Err(errors)) => Err(match errors.errors.first() {
            Some(error) => {
                let (line, column) = error.pos;
                let what = error.msg.lines().next().unwrap_or_default();
                let what: String = what.chars().take(200).collect();
                format!("line {line}, column {column}: {what}")
            }
            None => "it is no CEL".to_owned(),
        }),
        Err(_) => Err("it is no CEL".to_owned()),
    }
}
