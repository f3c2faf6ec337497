//! The draft on which a hook works.

mod edits;

use std::sync::Arc;

use super::slot::SystemSlot;
use super::state::History;
use super::touched::{Side, Touched};
use crate::change::{Captured, Change, Scope};
use crate::ids::MessageId;
use crate::message::Message;

/// How to take one edit back.
#[derive(Debug)]
enum Undo {
    Remove(usize),
    Insert(usize, MessageId, Arc<Message>),
    Replace(usize, Arc<Message>),
    System(SystemSlot),
}

/// Whether the running hook touched what is for this request only, and how it found it.
#[derive(Debug, Default)]
enum OverlayBefore {
    #[default]
    Untouched,
    Found(Option<Box<History>>),
}

/// A history on which hooks work, one after another.
///
/// Edits are made in place, so that their cost follows the edit and not the conversation. What the running hook did
/// counts when the loop accepts it; a hook that fails, panics or is dropped is rolled back (contract S5). What was
/// accepted is kept when the loop commits it; a step that fails before its reply is rolled back whole, as a crash
/// would do it.
#[derive(Debug, Default)]
pub(crate) struct HistoryDraft {
    base: History,
    next_id: u64,
    /// What is sent instead, once a hook used `this_step()`.
    overlay: Option<Box<History>>,
    /// The overlay as the running hook found it, once that hook touched it.
    before_hook: OverlayBefore,
    /// How to take back what was done since the last commit.
    undo: Vec<Undo>,
    /// How much of it was accepted.
    accepted: usize,
    /// The next identifier as the running hook found it.
    next_id_before: u64,
    /// What the running hook did.
    pub(super) changes: Vec<Change>,
    /// What the running hook touched, where somebody wants to know.
    touched: Option<Touched>,
    /// The compiled system message of this step.
    compiled: Arc<str>,
    /// The message that the run began with: its prompt.
    prompt: Option<MessageId>,
    /// Whether the request of this step is not known any more: it was sent before a resume, and differed from what is
    /// kept.
    lost: bool,
}

impl HistoryDraft {
    pub(crate) fn new(history: History) -> Self {
        let next_id = history.ids.iter().map(|id| id.0 + 1).max().unwrap_or(0);
        Self { base: history, next_id, next_id_before: next_id, compiled: Arc::from(""), ..Self::default() }
    }

    /// The conversation as it is kept.
    pub(crate) fn kept(&self) -> &History {
        &self.base
    }

    /// Begins the run's own turn with the prompt, which is the first that the run added.
    pub(crate) fn begin_turn(&mut self, gained: &[Change]) {
        if let Some(Change::Pushed { id, .. }) = gained.first() {
            self.prompt = Some(*id);
        }
    }

    /// Where the run's own turn begins in what is sent: at its prompt, or where that one is not sent, at the newest
    /// user message. What hooks and the loop add in the user's name begins no turn.
    pub(crate) fn turn_begins(&self) -> usize {
        let sent = self.sent();
        let prompt = self.prompt.and_then(|prompt| sent.position(prompt));
        prompt.or_else(|| sent.messages.iter().rposition(|message| message.is_user())).unwrap_or(0)
    }

    /// Measures the messages that are sent; those that were measured before are not measured again.
    pub(crate) fn measure_sent(&mut self) {
        self.base.measure();
        if let Some(overlay) = &mut self.overlay {
            // An overlay lives for one step, and takes over what is known of the kept messages.
            overlay.measure();
        }
    }

    /// What this step's request is made of.
    pub(crate) fn sent(&self) -> &History {
        self.overlay.as_deref().unwrap_or(&self.base)
    }

    /// What this step's request was made of; `None` where a resume has lost that.
    pub(crate) fn sent_or_lost(&self) -> Option<&History> {
        (!self.lost).then(|| self.sent())
    }

    /// Whether this step's request is not made of the kept conversation alone.
    pub(crate) fn sends_otherwise(&self) -> bool {
        self.overlay.is_some()
    }

    /// Says that the request of this step was made of more than what is kept.
    pub(crate) fn lose_sent(&mut self) {
        self.lost = true;
    }

    pub(crate) fn into_kept(mut self) -> History {
        self.roll_back_step();
        self.base
    }

    /// Starts a step: nothing is for this request only, and the system message is this one.
    pub(crate) fn begin_step(&mut self, compiled: Arc<str>) {
        self.overlay = None;
        self.lost = false;
        self.set_compiled(compiled);
    }

    /// Makes this the text that hooks' edits of the system message stand on.
    pub(crate) fn set_compiled(&mut self, compiled: Arc<str>) {
        self.compiled = compiled;
        self.base.system.forget();
        if let Some(overlay) = &mut self.overlay {
            overlay.system.forget();
        }
    }

    pub(super) fn compiled(&self) -> &str {
        &self.compiled
    }

    /// The system message of this step's request.
    pub(crate) fn sent_system(&self) -> &str {
        self.sent().system.over(&self.compiled)
    }

    /// What the running hook did so far.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Takes note of what the next hook touches.
    #[cold]
    pub(crate) fn note_touched(&mut self) {
        self.touched = Some(Touched::default());
    }

    /// What the running hook touched, as it found it and as it left it; `None` where it touched nothing, or nobody
    /// wanted to know. `tools` are the names before and after, where it removed some.
    pub(crate) fn touched<'t>(&'t self, tools: Option<(Vec<&'t str>, Vec<&'t str>)>) -> Option<(Side<'t>, Side<'t>)> {
        self.touched.as_ref()?.sides(self.sent_system(), tools)
    }

    fn touch(
        &mut self,
        scope: Scope,
        id: MessageId,
        found: Option<(usize, Arc<Message>)>,
        left: Option<(usize, Arc<Message>)>,
    ) {
        if let Some(touched) = &mut self.touched {
            match scope {
                Scope::History => touched.history.touch(id, found, left),
                Scope::ThisStep => touched.this_step.touch(id, found, left),
            }
        }
    }

    /// Keeps what the running hook did, and hands it out.
    pub(crate) fn accept(&mut self) -> Vec<Change> {
        self.accepted = self.undo.len();
        self.next_id_before = self.next_id;
        self.before_hook = OverlayBefore::Untouched;
        self.touched = None;
        std::mem::take(&mut self.changes)
    }

    /// Makes what was accepted a part of the conversation for good.
    pub(crate) fn commit(&mut self) {
        self.undo.clear();
        self.accepted = 0;
    }

    /// Takes back what the running hook did.
    pub(crate) fn roll_back(&mut self) {
        self.undo_down_to(self.accepted);
        self.next_id = self.next_id_before;
        if let OverlayBefore::Found(overlay) = std::mem::take(&mut self.before_hook) {
            self.overlay = overlay;
        }
        self.touched = None;
        self.changes.clear();
    }

    /// Takes back everything since the last commit.
    pub(crate) fn roll_back_step(&mut self) {
        self.roll_back();
        self.undo_down_to(0);
        self.accepted = 0;
        self.overlay = None;
    }

    fn undo_down_to(&mut self, accepted: usize) {
        while self.undo.len() > accepted {
            match self.undo.pop() {
                None => return,
                Some(Undo::Remove(index)) => drop(self.base.remove(index)),
                Some(Undo::Insert(index, id, message)) => self.base.insert(index, id, message),
                Some(Undo::Replace(index, message)) => drop(self.base.replace(index, message)),
                Some(Undo::System(system)) => self.base.system = system,
            }
        }
    }

    /// Adds a message in the loop's own name, and gives the edit as it is recorded.
    pub(crate) fn record_push(&mut self, message: Arc<Message>) -> Change {
        let id = self.fresh_id();
        self.next_id_before = self.next_id;
        let end = self.base.len();
        self.base.insert(end, id, Arc::clone(&message));
        Change::Pushed { scope: Scope::History, id, message: Captured::Content(message) }
    }

    /// Adds a message in the loop's own name that counts with the next commit, and gives the edit as it is recorded.
    pub(crate) fn say(&mut self, message: Message) -> Vec<Change> {
        let end = self.base.len();
        self.insert(Scope::History, end, Arc::new(message));
        self.accept()
    }

    /// Puts messages of the loop's own into this step's request, and nowhere else.
    pub(crate) fn show_here(&mut self, index: usize, messages: impl IntoIterator<Item = Message>) {
        for (shift, message) in messages.into_iter().enumerate() {
            let id = self.fresh_id();
            self.next_id_before = self.next_id;
            self.overlay.get_or_insert_with(|| Box::new(self.base.clone())).insert(
                index + shift,
                id,
                Arc::new(message),
            );
        }
    }

    /// Makes recorded edits again.
    pub(crate) fn replay(&mut self, change: &Change) -> bool {
        if let Change::Pushed { id, .. } | Change::Inserted { id, .. } = change {
            self.next_id = self.next_id.max(id.0 + 1);
            self.next_id_before = self.next_id;
        }
        self.base.replay(change)
    }

    pub(super) fn view(&self, scope: Scope) -> &History {
        match scope {
            Scope::History => &self.base,
            Scope::ThisStep => self.sent(),
        }
    }

    fn fresh_id(&mut self) -> MessageId {
        let id = MessageId(self.next_id);
        self.next_id += 1;
        id
    }
}
