//! The handle through which a hook edits the history.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::draft::HistoryDraft;
use crate::change::{Captured, Change, MessageEdit, Scope};
use crate::message::{Message, ToolOutcome};
use crate::value::{ValueError, to_value};

/// The messages of a request and its system message, for editing in place.
///
/// It is a handle over a borrow: it cannot be built, cloned or kept, and there is no second history to put in its
/// place (contract M3). Every edit is one recorded [`Change`] (contract M2). An edit that a hook made counts when the
/// hook returns `Ok` (contract S5).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// #[before_model]
/// fn shorten(request: &mut ModelRequest<'_>) {
///     let mut history = request.history();
///     while history.len() > 2 {
///         history.remove(0);
///     }
/// }
///
/// let mut fixture = RequestFixture::new().user("one").user("two").user("three");
/// fixture.with(|request| shorten(request));
/// assert_eq!(fixture.messages().len(), 2);
/// ```
pub struct HistoryMut<'h> {
    draft: &'h mut HistoryDraft,
    scope: Scope,
    hook: &'h str,
}

impl<'h> HistoryMut<'h> {
    pub(crate) fn new(draft: &'h mut HistoryDraft, scope: Scope, hook: &'h str) -> Self {
        Self { draft, scope, hook }
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.draft.view(self.scope).len()
    }

    /// Whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The messages, oldest first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.draft.view(self.scope).messages().iter().map(|message| &**message)
    }

    /// The message at `index`, counted from the oldest, which is 0.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// let first = request.history().get(0).and_then(Message::text).map(str::to_owned);
    /// assert_eq!(first.as_deref(), Some("Which lamps?"));
    /// # });
    /// ```
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&Message> {
        self.draft.view(self.scope).messages().get(index).map(|message| &**message)
    }

    /// Adds a message at the end.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().push(Message::user("Only those for desks."));
    /// # });
    /// assert_eq!(fixture.messages().len(), 2);
    /// ```
    pub fn push(&mut self, message: impl Into<Arc<Message>>) {
        let end = self.len();
        self.draft.insert(self.scope, end, message.into());
    }

    /// Adds a message before the one at `index`; at the end where there is none.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().insert(0, Message::user("Here is our catalogue."));
    /// # });
    /// assert_eq!(fixture.messages()[1].text(), Some("Which lamps?"));
    /// ```
    pub fn insert(&mut self, index: usize, message: impl Into<Arc<Message>>) {
        self.draft.insert(self.scope, index, message.into());
    }

    /// Takes the message at `index` out, its tool calls and their outcomes with it (contract M12).
    pub fn remove(&mut self, index: usize) -> Option<Arc<Message>> {
        self.draft.remove(self.scope, index)
    }

    /// Keeps the messages for which `keep` says so.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Hi!").user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().retain(|message| message.text().is_none_or(|text| text.len() > 3));
    /// # });
    /// assert_eq!(fixture.messages().len(), 1);
    /// ```
    pub fn retain(&mut self, keep: impl FnMut(&Message) -> bool) {
        self.draft.retain(self.scope, keep);
    }

    /// Changes the message at `index`: its text, or what the model sees of an outcome. Says whether there is one.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("my pin is 1234");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().edit(0, |message| message.set_text("my pin is [hidden]"));
    /// # });
    /// assert_eq!(fixture.messages()[0].text(), Some("my pin is [hidden]"));
    /// ```
    pub fn edit(&mut self, index: usize, change: impl FnOnce(&mut MessageMut<'_>)) -> bool {
        let Some(message) = self.draft.view(self.scope).messages().get(index).map(Arc::clone) else {
            return false;
        };
        let mut handle = MessageMut { message: &message, edits: Vec::new() };
        change(&mut handle);
        let edits = handle.edits;
        self.draft.edit(self.scope, index, edits);
        true
    }

    /// The system message as it would be sent now.
    #[must_use]
    pub fn system(&self) -> &str {
        self.draft.view(self.scope).system.over(self.draft.compiled())
    }

    /// Makes the system message exactly this text, until [`reset_system`](Self::reset_system); through
    /// [`this_step`](crate::ModelRequest::this_step), for one request.
    ///
    /// The text wins over the compiled one, tool section included. What may be dispatched is still the roster's
    /// decision (contract M8).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().system("You are a clerk.");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().set_system("You are a librarian.");
    /// # });
    /// assert_eq!(fixture.system_text(), "You are a librarian.");
    /// ```
    pub fn set_system(&mut self, text: impl Into<String>) {
        let text = text.into();
        let change = Change::SystemSet { scope: self.scope, text: Captured::Content(text.clone()) };
        self.draft.edit_system(self.scope, change, |slot| slot.set(text.clone()));
    }

    /// Adds a section to the system message, in place of the one that this hook added before.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().system("You are a clerk.");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().append_system("Be brief.");
    /// request.history().append_system("Be very brief."); // in place of the first
    ///     
    /// # });
    /// assert_eq!(fixture.system_text(), "You are a clerk.\n\nBe very brief.");
    /// ```
    pub fn append_system(&mut self, text: impl Into<String>) {
        let (text, hook) = (text.into(), self.hook);
        let change =
            Change::SystemAppended { scope: self.scope, hook: hook.to_owned(), text: Captured::Content(text.clone()) };
        self.draft.edit_system(self.scope, change, |slot| slot.append(hook, text.clone()));
    }

    /// Goes back to the compiled system message: what hooks set or appended is gone.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().system("You are a clerk.");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().set_system("You are a librarian.");
    /// request.history().reset_system();
    /// # });
    /// assert_eq!(fixture.system_text(), "You are a clerk.");
    /// ```
    pub fn reset_system(&mut self) {
        let change = Change::SystemReset { scope: self.scope };
        self.draft.edit_system(self.scope, change, super::slot::SystemSlot::reset);
    }
}

impl fmt::Debug for HistoryMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No message is in it: a hook that prints what it is given must not leak the conversation.
        f.debug_struct("HistoryMut").field("scope", &self.scope).field("messages", &self.len()).finish_non_exhaustive()
    }
}

/// One message, for editing in place: its text and what the model sees of its outcomes, never its role or its ids.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// #[before_model]
/// fn hide_digits(request: &mut ModelRequest<'_>) {
///     let mut history = request.history();
///     for index in 0..history.len() {
///         history.edit(index, |message| {
///             let hidden =
///                 message.text().unwrap_or_default().replace(|c: char| c.is_ascii_digit(), "#");
///             if message.original().text() != Some(&*hidden) {
///                 message.set_text(hidden);
///             }
///         });
///     }
/// }
///
/// let mut fixture = RequestFixture::new().user("My pin is 1234.").user("Thanks!");
/// fixture.with(|request| hide_digits(request));
/// assert_eq!(fixture.messages()[0].text(), Some("My pin is ####."));
/// assert_eq!(fixture.changes().len(), 1);
/// ```
pub struct MessageMut<'m> {
    message: &'m Message,
    edits: Vec<MessageEdit>,
}

impl MessageMut<'_> {
    /// The text as it is now.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let edited = self.edits.iter().rev().find_map(|edit| match edit {
            MessageEdit::Text(text) => Some(text.as_str()),
            MessageEdit::Observed { .. } => None,
        });
        edited.or_else(|| self.message.text())
    }

    /// Replaces the text.
    pub fn set_text(&mut self, text: impl Into<String>) {
        self.edits.push(MessageEdit::Text(text.into()));
    }

    /// The message as it was before this edit.
    #[must_use]
    pub fn original(&self) -> &Message {
        self.message
    }

    /// What the model sees of the successful call `call_id`.
    #[must_use]
    pub fn observed(&self, call_id: &str) -> Option<&Value> {
        let edited = self.edits.iter().rev().find_map(|edit| match edit {
            MessageEdit::Observed { call_id: id, result } if id == call_id => Some(result),
            _ => None,
        });
        edited.or_else(|| self.outcome(call_id).and_then(ToolOutcome::observed))
    }

    /// Replaces what the model sees of the successful call `call_id`. Says whether there is one; what became of any
    /// other call is not a hook's to change.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # use protolink::{Exchange, ToolCall, ToolOutcome, Turn};
    /// # use serde_json::json;
    /// # let exchange = Exchange {
    /// #     call: ToolCall::new("call_1", "search", json!({})),
    /// #     outcome: ToolOutcome::Observed(json!({ "hits": 2, "debug": "trace" }).into()),
    /// # };
    /// # let turn = Message::Assistant(Turn::new(None, vec![exchange]));
    /// # let mut fixture = RequestFixture::new().user("Which lamps?").message(turn);
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.history().edit(1, |message| {
    ///     let hits = message.observed("call_1").map(|result| result["hits"].clone());
    ///     message.set_observed("call_1", hits).unwrap();
    /// });
    /// # });
    /// assert_eq!(fixture.messages()[1].calls()[0].outcome.observed(), Some(&json!(2)));
    /// ```
    ///
    /// # Errors
    /// [`ValueError`] when the value cannot be stored exactly (contract T7).
    pub fn set_observed(&mut self, call_id: &str, result: impl Serialize) -> Result<bool, ValueError> {
        if self.outcome(call_id).and_then(ToolOutcome::observed).is_none() {
            return Ok(false);
        }
        let result = to_value(&result)?;
        self.edits.push(MessageEdit::Observed { call_id: call_id.to_owned(), result });
        Ok(true)
    }

    fn outcome(&self, call_id: &str) -> Option<&ToolOutcome> {
        self.message.calls().iter().find(|exchange| exchange.call.id == call_id).map(|exchange| &exchange.outcome)
    }
}

impl fmt::Debug for MessageMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageMut").field("edits", &self.edits.len()).finish_non_exhaustive()
    }
}
