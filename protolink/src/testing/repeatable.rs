//! Whether a hook does the same when it runs again (contract S5: a hook can run again after a crash).

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{ObservationFixture, RequestFixture, ResponseFixture};
use crate::change::Change;
use crate::hook::{FinalResponse, HookOutput, ModelRequest, ToolObservation};

mod sealed {
    pub trait Sealed {}
}

/// An input that a test lends to a hook: [`RequestFixture`], [`ObservationFixture`] or [`ResponseFixture`].
///
/// ```
/// use protolink::testing::{Fixture, RequestFixture};
///
/// /// How much a hook does.
/// fn edits<F: Fixture>(mut fixture: F, hook: impl FnOnce(&mut F::Subject<'_>)) -> usize {
///     fixture.lend(hook);
///     fixture.done().len()
/// }
/// assert_eq!(
///     edits(RequestFixture::new(), |request| request.history().set_system("Be brief.")),
///     1
/// );
/// ```
pub trait Fixture: sealed::Sealed {
    /// What a hook is given.
    type Subject<'r>;

    /// What was done, in order.
    fn done(&self) -> &[Change];

    /// Lends the input.
    fn lend<R>(&mut self, hook: impl FnOnce(&mut Self::Subject<'_>) -> R) -> R;

    /// Lends the input to an async hook, as [`assert_repeatable_async`] does.
    ///
    /// ```
    /// use protolink::testing::{Fixture, ResponseFixture};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut fixture = ResponseFixture::text("Done.");
    /// fixture.lend_async(async |response| response.set_text("Done, and signed.")).await;
    /// assert_eq!(fixture.answer(), "Done, and signed.");
    /// # Ok(())
    /// # }
    /// ```
    fn lend_async<R>(&mut self, hook: impl AsyncFnOnce(&mut Self::Subject<'_>) -> R) -> impl Future<Output = R>;
}

macro_rules! fixture {
    ($fixture:ty, $subject:ident $(, $output:ident)?) => {
        impl$(<$output: Serialize + DeserializeOwned + Send + 'static>)? sealed::Sealed for $fixture {}

        impl$(<$output: Serialize + DeserializeOwned + Send + 'static>)? Fixture for $fixture {
            type Subject<'r> = $subject<'r $(, $output)?>;

            fn done(&self) -> &[Change] {
                self.changes()
            }

            fn lend<R>(&mut self, hook: impl FnOnce(&mut Self::Subject<'_>) -> R) -> R {
                self.with(hook)
            }

            fn lend_async<R>(
                &mut self,
                hook: impl AsyncFnOnce(&mut Self::Subject<'_>) -> R,
            ) -> impl Future<Output = R> {
                self.with_async(hook)
            }
        }
    };
}

fixture!(RequestFixture, ModelRequest);
fixture!(ObservationFixture<O>, ToolObservation, O);
fixture!(ResponseFixture, FinalResponse);

/// Runs a hook on two equal inputs, and panics where it does not do the same to both. `fixture` makes an input each
/// time it is called.
///
/// It is for one hook what [`strict`](crate::AgentBuilder::strict) is for all hooks of a run.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{
///     ObservationFixture, RequestFixture, ResponseFixture, assert_repeatable,
/// };
///
/// #[before_model]
/// fn last_ten(request: &mut ModelRequest<'_>) {
///     while request.history().len() > 10 {
///         request.history().remove(0);
///     }
/// }
///
/// #[before_complete]
/// fn greet(response: &mut FinalResponse<'_>, State(name): State<String>) {
///     response.set_text(format!("Dear {name}, .."));
/// }
///
/// assert_repeatable(|| RequestFixture::new().user("Which lamps?"), last_ten);
/// assert_repeatable(
///     || ResponseFixture::text("Two."),
///     |response| greet(response, State("Ada".to_owned())),
/// );
/// assert_repeatable(
///     || ObservationFixture::json("search", serde_json::json!(["desk lamp"])),
///     |observation| observation.result_mut()[0] = "lamp".into(),
/// );
/// ```
///
/// ```should_panic
/// # use protolink::testing::{RequestFixture, assert_repeatable};
/// let mut runs = 0;
/// assert_repeatable(RequestFixture::new, |request| {
///     runs += 1;
///     request.history().append_system(format!("This is request {runs}."));
/// });
/// ```
///
/// # Panics
/// Where the hook does something else the second time, or fails in another way; with both lists.
#[track_caller]
pub fn assert_repeatable<F: Fixture, R: HookOutput>(
    fixture: impl Fn() -> F,
    mut hook: impl FnMut(&mut F::Subject<'_>) -> R,
) {
    let mut run = || {
        let mut fixture = fixture();
        let output = fixture.lend(&mut hook);
        Did::of(&fixture, output)
    };
    let (first, second) = (run(), run());
    first.assert_same(&second);
}

/// [`assert_repeatable`] for an async hook.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{RequestFixture, assert_repeatable_async};
///
/// #[before_model]
/// async fn recall(request: &mut ModelRequest<'_>) {
///     tokio::task::yield_now().await;
///     request.this_step().append_system("The user is called Ada.");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_repeatable_async(RequestFixture::new, async |request| recall(request).await).await;
/// # }
/// ```
///
/// # Panics
/// Where the hook does something else the second time, or fails in another way; with both lists.
pub async fn assert_repeatable_async<F: Fixture, R: HookOutput>(
    fixture: impl Fn() -> F,
    mut hook: impl AsyncFnMut(&mut F::Subject<'_>) -> R,
) {
    let mut did = Vec::with_capacity(2);
    for _ in 0..2 {
        let mut fixture = fixture();
        let output = fixture.lend_async(&mut hook).await;
        did.push(Did::of(&fixture, output));
    }
    did[0].assert_same(&did[1]);
}

/// What a hook did.
#[derive(Debug, PartialEq)]
struct Did {
    changes: Vec<Change>,
    /// What it failed with, where it failed.
    error: Option<String>,
}

impl Did {
    fn of(fixture: &impl Fixture, output: impl HookOutput) -> Self {
        let error = output.into_hook_result().err().map(|error| error.to_string());
        Self { changes: fixture.done().to_vec(), error }
    }

    #[track_caller]
    fn assert_same(&self, again: &Self) {
        assert!(
            self == again,
            "the hook did not do the same twice\nfirst: {:?}{}\n then: {:?}{}",
            self.changes,
            self.failure(),
            again.changes,
            again.failure()
        );
    }

    fn failure(&self) -> String {
        self.error.as_ref().map(|error| format!(", and failed: {error}")).unwrap_or_default()
    }
}
