//! What is said of one scenario.

use std::fmt;

use crate::compare::differences;
use crate::deviations;
use crate::leeway;
use crate::not_here::NotHere;
use crate::observed::play;
use crate::rules::{self, Reason};
use crate::scenario::Scenario;

/// How a scenario went.
pub(crate) enum Verdict {
    /// As expected; by these clauses where that is not what was recorded.
    Passed(Vec<Reason>),
    /// It does not compile, as the contract wants it.
    Kept(String),
    /// Not as expected.
    Failed(Vec<String>),
}

/// Plays a scenario and judges it.
pub(crate) fn of(scenario: &Scenario, own: &[Scenario]) -> Verdict {
    match judge(scenario, own) {
        Ok(verdict) => verdict,
        Err(NotHere::Unwritable(what)) => Verdict::Kept(what),
        Err(error @ NotHere::Unsupported(_)) => Verdict::Failed(vec![error.to_string()]),
    }
}

fn judge(scenario: &Scenario, own: &[Scenario]) -> Result<Verdict, NotHere> {
    let (observed, totals) = play(scenario)?;
    if let Some((deviation, expected)) = deviations::of(scenario, own) {
        let lines = differences(&expected, &observed, &totals);
        let reasons = vec![(deviation.clause, deviation.instead)];
        return Ok(if lines.is_empty() { Verdict::Passed(reasons) } else { Verdict::Failed(lines) });
    }
    let (expected, mut reasons) = rules::must(scenario)?;
    let lines = differences(&expected, &observed, &totals);
    if lines.is_empty() {
        return Ok(Verdict::Passed(reasons));
    }
    Ok(match leeway::may(scenario, &expected, &observed, &totals)? {
        Some(reason) => {
            reasons.push(reason);
            Verdict::Passed(reasons)
        }
        None => Verdict::Failed(lines),
    })
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed(reasons) => {
                f.write_str("passed")?;
                reasons.iter().try_for_each(|(clause, instead)| write!(f, " [{clause}: {instead}]"))
            }
            Self::Kept(what) => write!(f, "unwritable: {what}"),
            Self::Failed(lines) => {
                f.write_str("FAILED")?;
                lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}
