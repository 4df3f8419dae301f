//! What a regular expression costs, estimated before it is compiled. The engine itself is linear in the text, but it
//! unrolls counted repetitions, so that `(x{100}){100}` is a program of ten thousand steps.

/// What a class such as `\w` or `.` weighs: it is compiled to the ranges of all of Unicode.
const CLASS: u64 = 60;

/// How large the program of a pattern is, about, in steps.
pub fn weight(pattern: &str) -> u64 {
    // Weights of the groups that are open, each with that of its last item, which a repetition repeats.
    let mut open: Vec<(u64, u64)> = Vec::new();
    let (mut sum, mut last) = (1_u64, 0_u64);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '(' => {
                open.push((sum, last));
                (sum, last) = (1, 0);
            }
            ')' => {
                let inner = sum;
                let (before, _) = open.pop().unwrap_or((1, 0));
                (sum, last) = (before.saturating_add(inner), inner);
            }
            '{' => {
                let mut most = 0_u64;
                let mut number = 0_u64;
                for c in chars.by_ref() {
                    match c.to_digit(10) {
                        Some(digit) => {
                            number = number.saturating_mul(10).saturating_add(u64::from(digit));
                        }
                        None => number = 0,
                    }
                    most = most.max(number);
                    if c == '}' {
                        break;
                    }
                }
                let more = last.saturating_mul(most.saturating_sub(1));
                sum = sum.saturating_add(more);
                last = last.saturating_add(more);
            }
            '\\' => {
                last = match chars.next() {
                    Some(c) if c.is_ascii_alphabetic() => CLASS,
                    _ => 1,
                };
                sum = sum.saturating_add(last);
            }
            '.' => {
                last = CLASS;
                sum = sum.saturating_add(last);
            }
            _ => {
                last = 1;
                sum = sum.saturating_add(last);
            }
        }
    }
    // What is never closed is no expression, and is refused soon.
    open.iter()
        .fold(sum, |all, (sum, _)| all.saturating_add(*sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply_and_nothing_overflows() {
        assert!(weight("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$") < 50);
        assert!(weight(r"^\d{4}-\d{2}-\d{2}$") < 1_000);
        assert!(weight("(x{100}){100}") >= 10_000);
        assert!(weight(r"((\w{500}){500}){500}") > 1_000_000_000);
        assert!(weight(&"(x{99999999999})".repeat(20)) > 1_000_000_000);
        assert!(weight(&"(".repeat(1000)) >= 1000);
    }
}
