//! How many faults people are told of.

use super::{Diagnostic, Severity};

/// Lets through so many errors and so many warnings. Each has a quota of its own: a document whose only error was dropped for
/// the warnings before it would count as sound.
pub(super) struct Quota {
    limit: usize,
    errors: usize,
    warnings: usize,
}

impl Quota {
    /// Of which nothing is used.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            errors: 0,
            warnings: 0,
        }
    }

    /// Counts a fault, and tells whether it is one of those to keep.
    pub(super) fn takes(&mut self, severity: Severity) -> bool {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        *count <= self.limit
    }

    /// Counts warnings that nobody kept.
    pub(super) fn leave_out(&mut self, warnings: usize) {
        self.warnings = self.warnings.saturating_add(warnings);
    }

    /// Tells whether there were as many errors as are kept.
    pub(super) fn is_used_up(&self) -> bool {
        self.errors >= self.limit
    }

    /// Says how many there were beyond those kept, if any.
    pub(super) fn rest(&self) -> impl Iterator<Item = Diagnostic> {
        let kinds = [
            (Severity::Error, self.errors, "errors"),
            (Severity::Warning, self.warnings, "warnings"),
        ];
        let limit = self.limit;
        kinds
            .into_iter()
            .filter_map(move |(severity, count, word)| {
                let more = count.checked_sub(limit).filter(|more| *more > 0)?;
                let message = format!("{more} more {word} are not shown");
                let told = Diagnostic::file_error(".", message);
                Some(Diagnostic { severity, ..told })
            })
    }
}

/// Keeps the first `most` errors and the first `most` warnings, and says how many there are beside them.
pub fn keep_most(
    diagnostics: impl IntoIterator<Item = Diagnostic>,
    most: usize,
) -> Vec<Diagnostic> {
    let mut quota = Quota::new(most);
    let mut kept: Vec<_> = diagnostics
        .into_iter()
        .filter(|diagnostic| quota.takes(diagnostic.severity))
        .collect();
    kept.extend(quota.rest());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_do_not_drown_errors_and_the_rest_is_counted() {
        let make = |n: usize| {
            let error = Diagnostic::file_error("a.yaml", format!("{n}"));
            let severity = if n == 9 {
                Severity::Error
            } else {
                Severity::Warning
            };
            Diagnostic { severity, ..error }
        };
        let kept = keep_most((0..10).map(make), 2);
        let told: Vec<_> = kept.iter().map(|d| (d.severity, &*d.message)).collect();
        let warning = Severity::Warning;
        assert_eq!(
            told,
            [
                (warning, "0"),
                (warning, "1"),
                (Severity::Error, "9"),
                (warning, "7 more warnings are not shown"),
            ]
        );
        assert_eq!(keep_most([], 0), []);
    }
}
