//! What a `before_model` hook is given (contract M1 to M5).

use std::fmt;
use std::marker::PhantomData;

use crate::change::{Captured, Change, Scope};
use crate::event::HookDifference;
use crate::history::{HistoryDraft, HistoryMut};
use crate::message::Message;
use crate::roster::{RosterDraft, ToolsMut};
use crate::run_context::RunContext;
use crate::value::{ValueError, check_depth};

/// Makes a handle's lifetime invariant: a handle that lives longer cannot be put in the place of one that lives
/// shorter, which is what `mem::swap` and assignment would need.
pub(crate) type Invariant<'r> = PhantomData<fn(&'r ()) -> &'r ()>;

/// The parts of a step that hooks work on.
#[derive(Debug)]
pub(crate) struct StepDraft {
    pub(crate) history: HistoryDraft,
    pub(crate) roster: RosterDraft,
}

impl StepDraft {
    /// Keeps what the running hook did, and hands it out.
    pub(crate) fn accept(&mut self) -> Vec<Change> {
        let mut changes = self.history.accept();
        let removed = self.roster.accept();
        if changes.is_empty() {
            return removed;
        }
        changes.extend(removed);
        changes
    }

    /// What the running hook was given beside what it leaves, where [`note_touched`](HistoryDraft::note_touched) was
    /// asked for and it touched anything.
    pub(crate) fn difference(&self) -> Option<HookDifference> {
        let (before, after) = self.history.touched(self.roster.names_around_the_hook())?;
        Some(HookDifference::between(&before, &after))
    }

    /// Whether the running hook did anything so far.
    pub(crate) fn has_changes(&self) -> bool {
        !self.history.changes().is_empty() || !self.roster.changes().is_empty()
    }

    /// What the running hook did so far.
    pub(crate) fn changes(&self) -> Vec<Change> {
        self.history.changes().iter().chain(self.roster.changes()).cloned().collect()
    }

    /// Checks that what the running hook added can be kept (contract T7).
    pub(crate) fn check_kept(&self) -> Result<(), ValueError> {
        self.history.changes().iter().try_for_each(|change| match change {
            Change::Pushed { message: Captured::Content(message), .. }
            | Change::Inserted { message: Captured::Content(message), .. } => check_message(message),
            _ => Ok(()),
        })
    }

    pub(crate) fn roll_back(&mut self) {
        self.history.roll_back();
        self.roster.roll_back();
    }
}

/// Checks the values inside of a message.
fn check_message(message: &Message) -> Result<(), ValueError> {
    let Message::Assistant(turn) = message else { return Ok(()) };
    let values = turn.calls.iter().flat_map(|exchange| [Some(&exchange.call.arguments), exchange.outcome.observed()]);
    values.chain([turn.provider.as_ref()]).flatten().try_for_each(check_depth)
}

/// One request to the model in the making, as a `#[before_model]` hook sees it.
///
/// It lends the history and the step's tools for editing in place. It cannot be built, cloned, replaced or kept past
/// the call; what a hook changes counts when the hook returns `Ok`.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// #[before_model]
/// fn finish_in_time(request: &mut ModelRequest<'_>) {
///     if request.step() > 8 {
///         request.tools().retain(|_| false);
///         request
///             .this_step()
///             .append_system("No tools are left. Answer now with what you know.");
///     }
/// }
///
/// let mut fixture = RequestFixture::new().user("Which lamps?").tool_named("search").step(9);
/// fixture.with(|request| finish_in_time(request));
/// assert!(fixture.tool_names().is_empty());
/// assert_eq!(fixture.system_text(), "No tools are left. Answer now with what you know.");
/// ```
///
/// Contract clauses kept here: M1 to M5, M11, M13.
pub struct ModelRequest<'r> {
    draft: &'r mut StepDraft,
    context: &'r RunContext,
    hook: &'r str,
    step: u32,
    _brand: Invariant<'r>,
}

impl<'r> ModelRequest<'r> {
    pub(crate) fn new(draft: &'r mut StepDraft, context: &'r RunContext, hook: &'r str, step: u32) -> Self {
        Self { draft, context, hook, step, _brand: PhantomData }
    }

    /// The conversation, for edits from now on: later steps and the kept conversation see them (contract M2).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// let mut history = request.history();
    /// history.set_system("Answer from the catalogue.");
    /// history.push(Message::user("Only those for desks."));
    /// # });
    /// assert_eq!(fixture.messages().len(), 2);
    /// assert_eq!(fixture.system_text(), "Answer from the catalogue.");
    /// ```
    pub fn history(&mut self) -> HistoryMut<'_> {
        HistoryMut::new(&mut self.draft.history, Scope::History, self.hook)
    }

    /// The conversation, for edits of this request only: what is sent differs, what is kept does not (contract M13).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.this_step().push(Message::user("From the catalogue: a desk lamp."));
    /// # });
    /// assert_eq!(fixture.sent_messages().len(), 2);
    /// assert_eq!(fixture.messages().len(), 1, "the conversation is as it was");
    /// ```
    pub fn this_step(&mut self) -> HistoryMut<'_> {
        HistoryMut::new(&mut self.draft.history, Scope::ThisStep, self.hook)
    }

    /// The tools of this step, of which a hook can take some away (contract M4).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # /// Search the catalogue.
    /// # #[tool]
    /// # fn search(query: String) -> String { query }
    /// # let mut fixture = RequestFixture::new().tool::<search>().tool_named("delete");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// request.tools().remove::<search>();
    /// # });
    /// assert_eq!(fixture.tool_names(), ["delete"]);
    /// ```
    pub fn tools(&mut self) -> ToolsMut<'_> {
        ToolsMut::new(&mut self.draft.roster)
    }

    /// The conversation and the tools together, for reading one while the other is edited.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().user("Which lamps?").tool_named("search");
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// let (mut history, tools) = request.parts();
    /// for tool in tools.iter() {
    ///     history.push(Message::user(format!("You may use {}.", tool.name())));
    /// }
    /// # });
    /// assert_eq!(fixture.messages().len(), 2);
    /// ```
    pub fn parts(&mut self) -> (HistoryMut<'_>, ToolsMut<'_>) {
        let StepDraft { history, roster } = &mut *self.draft;
        (HistoryMut::new(history, Scope::History, self.hook), ToolsMut::new(roster))
    }

    /// Facts about the run, detached from it (contract M11).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # let mut fixture = RequestFixture::new().context(|context| drop(context.metadata.insert("user".into(), "Ada".into())));
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// let user = request.context().get("user").and_then(|user| user.as_str()).unwrap_or("guest");
    /// request.history().append_system(format!("The user is {user}."));
    /// # });
    /// assert_eq!(fixture.system_text(), "The user is Ada.");
    /// ```
    #[must_use]
    pub fn context(&self) -> &'r RunContext {
        self.context
    }

    /// The step, counted from 1; a provider's retry is not a step.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.step
    }
}

impl fmt::Debug for ModelRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No message is in it: a hook that prints what it is given, as `#[tracing::instrument]` does, must not leak the
        // conversation.
        f.debug_struct("ModelRequest")
            .field("step", &self.step)
            .field("messages", &self.draft.history.kept().messages().len())
            .field("tools", &self.draft.roster.roster().specs().len())
            .finish_non_exhaustive()
    }
}
