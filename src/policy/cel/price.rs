//! What a function of the library costs, paid before it is called.

use kube_cel::cel::Value;

use super::budget::{Budget, units};
use super::fault::Fault;
use super::regex;

/// Pays for a function by the size of its arguments, and of its result where that may be larger.
///
/// # Errors
/// When there is not enough left, or the result would be too large by itself.
pub fn pay(
    budget: &Budget,
    name: &str,
    target: Option<&Value>,
    args: &[Value],
) -> Result<(), Fault> {
    let mut sizes = Vec::new();
    for value in target.into_iter().chain(args) {
        let size = budget.charge_value(value)?;
        // The library makes values of its own of them.
        budget.charge(size)?;
        sizes.push(size);
    }
    let product = || {
        sizes
            .iter()
            .fold(1_u64, |all, size| all.saturating_mul(*size))
    };
    let text = |value: Option<&Value>| match value {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    match name {
        "sets.contains" | "sets.equivalent" | "sets.intersects" => budget.charge(product()),
        "indexOf" | "lastIndexOf" => match (text(target), text(args.first())) {
            (Some(text), Some(sought)) => {
                let work = units(text.len()).saturating_mul(units(sought.len()));
                budget.charge(work / 10)
            }
            _ => budget.charge(product()),
        },
        "matches" | "find" | "findAll" => {
            let (text, pattern) = match target {
                Some(_) => (text(target), text(args.first())),
                None => (text(args.first()), text(args.get(1))),
            };
            let weight = pattern.map_or(0, |pattern| regex::weight(&pattern));
            let length = text.map_or(0, |text| units(text.len()));
            // Compiling takes longer than matching.
            let compiling = weight.saturating_mul(5).saturating_add(100);
            let matching = length.saturating_mul(weight / 100 + 1) / 10;
            budget.charge(compiling.saturating_add(matching))?;
            // Each match may be a text of its own.
            budget.charge(if name == "findAll" { length } else { 0 })
        }
        "replace" => {
            let (from, to) = (text(args.first()), text(args.get(1)));
            let from = from.map_or(1, |from| units(from.len()).max(1));
            let to = to.map_or(0, |to| units(to.len()));
            let length = text(target).map_or(0, |text| units(text.len()));
            budget.charge((length / from).saturating_add(1).saturating_mul(to) / 10)
        }
        "split" => budget.charge(text(target).map_or(0, |text| units(text.len()))),
        "join" => match target {
            Some(Value::List(items)) => {
                let separator = text(args.first()).map_or(0, |text| units(text.len()));
                budget.charge(units(items.len()).saturating_mul(separator) / 10)
            }
            _ => Ok(()),
        },
        "format" => match text(target) {
            Some(text) => precise(&text),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Refuses `%.100000000f`, whose result is as long as it says.
fn precise(format: &str) -> Result<(), Fault> {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once("%.") {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 2 {
            return Err(Fault::error("format(): more than 99 digits are asked for"));
        }
        rest = after;
    }
    Ok(())
}
