//! What a `before_complete` hook is given (contract F1, F2, F7).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::BoxError;
use super::request::Invariant;
use crate::change::{Captured, Change};
use crate::receipt::Receipt;
use crate::run_context::RunContext;
use crate::value::{SharedValue, ValueError, to_value};

/// An answer on which hooks work, one after another.
#[derive(Debug)]
pub(crate) struct ResponseDraft {
    current: SharedValue,
    proposed: Option<Value>,
    revision: Option<String>,
}

/// What one hook did with an answer.
pub(crate) struct ResponseChanges {
    pub(crate) changes: Vec<Change>,
    /// What the model is to be told, where the hook wants another answer.
    pub(crate) revision: Option<String>,
}

impl ResponseDraft {
    pub(crate) fn new(content: SharedValue) -> Self {
        Self { current: content, proposed: None, revision: None }
    }

    pub(crate) fn content(&self) -> &SharedValue {
        &self.current
    }

    /// What the running hook did so far.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let proposed = self.proposed.iter().filter(|proposed| *self.current != **proposed);
        let content =
            proposed.map(|proposed| Change::AnswerChanged { content: Captured::Content(proposed.clone().into()) });
        let revision = self.revision.iter();
        let revision = revision.map(|feedback| Change::RevisionAsked { feedback: Captured::Content(feedback.clone()) });
        content.chain(revision).collect()
    }

    pub(crate) fn into_content(self) -> SharedValue {
        self.current
    }

    /// Keeps what the running hook did.
    pub(crate) fn accept(&mut self) -> ResponseChanges {
        let mut changes = Vec::new();
        if let Some(proposed) = self.proposed.take().filter(|proposed| *self.current != *proposed) {
            self.current = proposed.into();
            changes.push(Change::AnswerChanged { content: Captured::Content(self.current.clone()) });
        }
        let revision = self.revision.take();
        if let Some(feedback) = &revision {
            changes.push(Change::RevisionAsked { feedback: Captured::Content(feedback.clone()) });
        }
        ResponseChanges { changes, revision }
    }

    pub(crate) fn roll_back(&mut self) {
        self.proposed = None;
        self.revision = None;
    }
}

/// Says that a response is looked at as text or JSON, not as a type of the application's.
///
/// ```
/// use protolink::Untyped;
/// use protolink::prelude::*;
/// use protolink::testing::ResponseFixture;
///
/// // `FinalResponse<'_>` is short for this.
/// fn length(response: &mut FinalResponse<'_, Untyped>) -> usize {
///     response.text().map_or(0, str::len)
/// }
/// assert_eq!(ResponseFixture::text("four").with(length), 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Untyped;

/// What a [`FinalResponse`] can be looked at as: [`Untyped`], or any type that is read from JSON.
///
/// ```
/// use protolink::AnswerType;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Verdict {
///     score: u8,
/// }
///
/// fn is_an_answer<T: AnswerType>() {}
/// is_an_answer::<Verdict>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of an answer",
    label = "not readable from JSON",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`"
)]
pub trait AnswerType: Sized + Send + 'static {
    #[doc(hidden)]
    fn decode(content: &Value) -> Result<Self, ValueError>;
    #[doc(hidden)]
    fn encode(&self) -> Result<Option<Value>, ValueError>;
}

impl AnswerType for Untyped {
    fn decode(_: &Value) -> Result<Self, ValueError> {
        Ok(Self)
    }

    fn encode(&self) -> Result<Option<Value>, ValueError> {
        Ok(None)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> AnswerType for T {
    fn decode(content: &Value) -> Result<Self, ValueError> {
        T::deserialize(content).map_err(|error| ValueError::misfit(&error))
    }

    fn encode(&self) -> Result<Option<Value>, ValueError> {
        to_value(self).map(Some)
    }
}

/// The proposed answer of a run, as a `#[before_complete]` hook sees it: complete, and not yet out.
///
/// A hook can replace it, or refuse it by failing; then it is kept nowhere (contract F2, F6).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ResponseFixture;
///
/// #[before_complete]
/// fn not_empty(response: &mut FinalResponse<'_>) -> Result<(), String> {
///     match response.text() {
///         Some(text) if text.trim().is_empty() => Err("the answer is empty".to_owned()),
///         _ => Ok(()),
///     }
/// }
///
/// let mut fixture = ResponseFixture::text("  ");
/// assert_eq!(
///     fixture.with(|response| not_empty(response)),
///     Err("the answer is empty".to_owned())
/// );
/// ```
///
/// Contract clauses kept here: F1, F2, F6, F7.
pub struct FinalResponse<'r, T = Untyped> {
    draft: &'r mut ResponseDraft,
    receipts: &'r [Arc<Receipt>],
    context: &'r RunContext,
    step: u32,
    answer: T,
    changed: bool,
    _brand: Invariant<'r>,
}

impl<'r> FinalResponse<'r> {
    pub(crate) fn new(
        draft: &'r mut ResponseDraft,
        receipts: &'r [Arc<Receipt>],
        context: &'r RunContext,
        step: u32,
    ) -> Self {
        Self { draft, receipts, context, step, answer: Untyped, changed: false, _brand: PhantomData }
    }

    /// The same response, looked at as a `T`.
    #[doc(hidden)]
    pub fn narrow<T: AnswerType>(&mut self) -> Result<FinalResponse<'_, T>, BoxError> {
        let answer = T::decode(self.content())?;
        Ok(FinalResponse {
            draft: self.draft,
            receipts: self.receipts,
            context: self.context,
            step: self.step,
            answer,
            changed: false,
            _brand: PhantomData,
        })
    }

    /// The proposed answer: a JSON string for a plain one.
    #[must_use]
    pub fn content(&self) -> &Value {
        self.draft.proposed.as_ref().unwrap_or(&self.draft.current)
    }

    /// The proposed answer as text; `None` where it is structured.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.content().as_str()
    }

    /// Replaces the answer by text.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ResponseFixture;
    /// # let mut fixture = ResponseFixture::text("Call +49 30 123456.");
    /// # fixture.with(|response: &mut FinalResponse<'_>| {
    /// let hidden: String =
    ///     response.text().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "#");
    /// response.set_text(hidden);
    /// # });
    /// assert_eq!(fixture.answer(), "Call +## ## ######.");
    /// ```
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.draft.proposed = Some(Value::String(text.into()));
    }

    /// Replaces the answer by any value.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ResponseFixture;
    /// # let mut fixture = ResponseFixture::text("7");
    /// # fixture.with(|response: &mut FinalResponse<'_>| {
    /// let score: u8 = response.text().and_then(|text| text.parse().ok()).unwrap_or_default();
    /// response.set_content(serde_json::json!({ "score": score }))
    /// # }).unwrap();
    /// assert_eq!(fixture.answer()["score"], 7);
    /// ```
    ///
    /// # Errors
    /// [`ValueError`] when the value cannot be stored exactly (contract T7); the answer is then as it was.
    pub fn set_content(&mut self, content: impl Serialize) -> Result<(), ValueError> {
        self.draft.proposed = Some(to_value(&content)?);
        Ok(())
    }
}

impl<T: AnswerType + Serialize> FinalResponse<'_, T> {
    /// The proposed answer in its own type.
    #[must_use]
    pub fn answer(&self) -> &T {
        &self.answer
    }

    /// The proposed answer in its own type, for changing it.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Verdict { score: u8 }
    /// #[before_complete]
    /// fn in_range(response: &mut FinalResponse<'_, Verdict>) {
    ///     response.answer_mut().score = response.answer().score.min(10);
    /// }
    /// ```
    pub fn answer_mut(&mut self) -> &mut T {
        self.changed = true;
        &mut self.answer
    }
}

impl<'r, T> FinalResponse<'r, T> {
    /// What the run's tools really gave back, oldest first (contract F7).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ResponseFixture;
    /// #[before_complete]
    /// fn grounded(response: &mut FinalResponse<'_>) -> Result<(), String> {
    ///     match response.receipts().iter().find(|receipt| receipt.tool == "search") {
    ///         Some(_) => Ok(()),
    ///         None => Err("it answers without having looked".to_owned()),
    ///     }
    /// }
    ///
    /// let mut looked =
    ///     ResponseFixture::text("Three lamps.").receipt("search", serde_json::json!([1, 2, 3]));
    /// assert!(looked.with(|response| grounded(response)).is_ok());
    /// assert!(ResponseFixture::text("Three lamps.").with(|response| grounded(response)).is_err());
    /// ```
    #[must_use]
    pub fn receipts(&self) -> &'r [Arc<Receipt>] {
        self.receipts
    }

    /// Facts about the run, detached from it (contract M11).
    #[must_use]
    pub fn context(&self) -> &'r RunContext {
        self.context
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }

    /// Sends the answer back to the model with this feedback, instead of letting it leave.
    ///
    /// The agent must allow it by [`max_revisions`](crate::AgentBuilder::max_revisions); without that, and past that
    /// many revisions, the run fails with a typed error.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ResponseFixture;
    /// # let mut fixture = ResponseFixture::text("It is so.");
    /// # fixture.with(|response: &mut FinalResponse<'_>| {
    /// if !response.text().unwrap_or_default().contains("[1]") {
    ///     response.ask_revision("Cite your source as [1].");
    /// }
    /// # });
    /// assert_eq!(fixture.revision(), Some("Cite your source as [1]."));
    /// ```
    pub fn ask_revision(&mut self, feedback: impl Into<String>) {
        self.draft.revision = Some(feedback.into());
    }
}

impl<T: AnswerType> FinalResponse<'_, T> {
    /// Hands a changed answer back as JSON.
    #[doc(hidden)]
    pub fn commit(self) -> Result<(), BoxError> {
        if self.changed
            && let Some(content) = self.answer.encode()?
        {
            self.draft.proposed = Some(content);
        }
        Ok(())
    }
}

impl<T> fmt::Debug for FinalResponse<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FinalResponse").field("step", &self.step).finish_non_exhaustive()
    }
}
