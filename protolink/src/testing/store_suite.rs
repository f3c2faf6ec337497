//! The rules that a [`RunStore`] keeps, as a suite that any store can be run through.
//!
//! ```
//! use protolink::durable::MemoryStore;
//! use protolink::testing::store_suite;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), store_suite::BrokenRules> {
//! store_suite::run_on_clock(async |clock| MemoryStore::new().with_clock(clock)).await
//! # }
//! ```

mod leases;
mod listing;
mod retention;
mod rows;
mod trial;

use std::fmt;
use std::sync::Arc;

use self::trial::{Time, Trial};
use super::ManualClock;
use crate::durable::RunStore;

/// Runs a store that has a clock of its own through the suite. `store` gives an empty store each time it is called.
///
/// The suite waits about two seconds in all, for leases to run out. Where the store's clock can be given,
/// [`run_on_clock`] is faster and has a few rules more.
///
/// ```
/// use protolink::durable::MemoryStore;
/// use protolink::testing::store_suite;
///
/// let kept = store_suite::run(async || MemoryStore::new());
/// # let _ = kept; // it takes two seconds
/// ```
///
/// # Errors
/// [`BrokenRules`] with every rule that the store breaks.
pub async fn run<S: RunStore>(store: impl AsyncFn() -> S) -> Result<(), BrokenRules> {
    run_all(async || Trial::new(Arc::new(store().await), Time::Real)).await
}

/// Runs a store through the suite on a clock that the suite moves, forwards and backwards. `store` gives an empty
/// store, on the clock that it is called with, each time it is called.
///
/// ```
/// use protolink::durable::MemoryStore;
/// use protolink::testing::store_suite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// store_suite::run_on_clock(async |clock| MemoryStore::new().with_clock(clock)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`BrokenRules`] with every rule that the store breaks.
pub async fn run_on_clock<S: RunStore>(store: impl AsyncFn(ManualClock) -> S) -> Result<(), BrokenRules> {
    run_all(async || {
        let clock = ManualClock::new();
        Trial::new(Arc::new(store(clock.clone()).await), Time::Manual(clock))
    })
    .await
}

async fn run_all(trial: impl AsyncFn() -> Trial) -> Result<(), BrokenRules> {
    let mut broken = BrokenRules(Vec::new());
    rows::check(&trial, &mut broken).await;
    leases::check(&trial, &mut broken).await;
    listing::check(&trial, &mut broken).await;
    retention::check(&trial, &mut broken).await;
    if broken.0.is_empty() { Ok(()) } else { Err(broken) }
}

/// The rules that a store broke; `{}` and `{:?}` both show a line for each.
///
/// ```
/// use protolink::durable::MemoryStore;
/// use protolink::testing::store_suite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A store that does not take the time from the clock that it is given.
/// let verdict = store_suite::run_on_clock(async |_clock| MemoryStore::new()).await;
/// let broken = verdict.err().ok_or("it breaks rules")?;
/// println!("{broken}");
/// assert!(!broken.rules().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BrokenRules(Vec<BrokenRule>);

impl BrokenRules {
    /// The broken rules, in the order of the suite.
    #[must_use]
    pub fn rules(&self) -> &[BrokenRule] {
        &self.0
    }
}

impl fmt::Display for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store breaks {} of the rules of a run store:", self.0.len())?;
        self.0.iter().try_for_each(|rule| write!(f, "\n- {rule}"))
    }
}

impl fmt::Debug for BrokenRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BrokenRules {}

/// A rule that a store broke.
///
/// ```
/// use protolink::durable::MemoryStore;
/// use protolink::testing::store_suite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A store that does not take the time from the clock that it is given.
/// let verdict = store_suite::run_on_clock(async |_clock| MemoryStore::new()).await;
/// let broken = verdict.err().ok_or("it breaks rules")?;
/// for rule in broken.rules() {
///     println!("{}: {}", rule.rule, rule.what);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The rule, in a few words.
    pub rule: &'static str,
    /// What the store did instead.
    pub what: String,
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.replace('_', " "), self.what)
    }
}

/// Tries each rule on a store of its own.
macro_rules! rules {
    ($($rule:ident),+ $(,)?) => {
        pub(super) async fn check(
            trial: &impl AsyncFn() -> super::Trial,
            broken: &mut super::BrokenRules,
        ) {
            $(
                if let Err(what) = $rule(&trial().await).await {
                    broken.0.push(super::BrokenRule { rule: stringify!($rule), what });
                }
            )+
        }
    };
}
use rules;
