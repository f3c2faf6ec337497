//! What a conversation keeps, and the draft on which a hook works.

use std::collections::VecDeque;
use std::sync::Arc;

use super::sizes::Sizes;
use super::slot::SystemSlot;
use super::touched::{Side, Touched};
use crate::change::{Captured, Change, MessageEdit, Scope};
use crate::ids::MessageId;
use crate::message::{Message, ToolOutcome};

/// The messages of a conversation, and what hooks said about its system message.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    messages: Vec<Arc<Message>>,
    ids: Vec<MessageId>,
    users: usize,
    sizes: Sizes,
    pub(super) system: SystemSlot,
}

impl History {
    pub(crate) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub(crate) fn has_user_message(&self) -> bool {
        self.users > 0
    }

    /// How large the messages are, as far as they were [measured](HistoryDraft::measure_sent).
    pub(crate) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    fn measure(&mut self) {
        self.sizes.measure(&self.messages);
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    fn position(&self, id: MessageId) -> Option<usize> {
        // Identifiers mostly rise with the position, so the usual case is a look at one place.
        match self.ids.binary_search(&id) {
            Ok(index) => Some(index),
            Err(_) => self.ids.iter().position(|candidate| *candidate == id),
        }
    }

    fn id_at(&self, index: usize) -> Option<MessageId> {
        self.ids.get(index).copied()
    }

    fn insert(&mut self, index: usize, id: MessageId, message: Arc<Message>) {
        let index = index.min(self.messages.len());
        self.users += usize::from(message.is_user());
        self.messages.insert(index, message);
        self.ids.insert(index, id);
        self.sizes.insert(index);
    }

    fn remove(&mut self, index: usize) -> Option<(MessageId, Arc<Message>)> {
        if index >= self.messages.len() {
            return None;
        }
        let message = self.messages.remove(index);
        self.users -= usize::from(message.is_user());
        self.sizes.remove(index);
        Some((self.ids.remove(index), message))
    }

    fn replace(&mut self, index: usize, message: Arc<Message>) -> Option<Arc<Message>> {
        // An edit never changes whose message it is, so the count of user messages stands.
        let place = self.messages.get_mut(index)?;
        self.sizes.forget(index);
        Some(std::mem::replace(place, message))
    }

    /// Makes an edit again that was recorded. Says whether it could be made.
    pub(crate) fn replay(&mut self, change: &Change) -> bool {
        match change {
            Change::Pushed { id, message: Captured::Content(message), .. } => {
                self.insert(self.len(), *id, Arc::clone(message));
                true
            }
            Change::Inserted { id, index, message: Captured::Content(message), .. } => {
                self.insert(*index, *id, Arc::clone(message));
                true
            }
            Change::Removed { id, .. } => self.position(*id).and_then(|index| self.remove(index)).is_some(),
            Change::Edited { id, edits: Captured::Content(edits), .. } => {
                self.position(*id).is_some_and(|index| self.apply_edits(index, edits).is_some())
            }
            Change::SystemSet { text: Captured::Content(text), .. } => {
                self.system.set(text.clone());
                true
            }
            Change::SystemAppended { hook, text: Captured::Content(text), .. } => {
                self.system.append(hook, text.clone());
                true
            }
            Change::SystemReset { .. } => {
                self.system.reset();
                true
            }
            _ => false,
        }
    }

    /// Changes a message copy-on-write, and gives the message that stood there.
    fn apply_edits(&mut self, index: usize, edits: &[MessageEdit]) -> Option<Arc<Message>> {
        let place = self.messages.get_mut(index)?;
        let before = Arc::clone(place);
        let mut message = (**place).clone();
        for edit in edits {
            match (edit, &mut message) {
                (MessageEdit::Text(text), Message::User(content)) => content.text.clone_from(text),
                (MessageEdit::Text(text), Message::Assistant(turn)) => turn.text = Some(text.clone()),
                (MessageEdit::Observed { call_id, result }, Message::Assistant(turn)) => {
                    if let Some(exchange) = turn.calls.iter_mut().find(|exchange| exchange.call.id == *call_id) {
                        exchange.outcome = ToolOutcome::Observed(result.clone().into());
                    }
                }
                (MessageEdit::Observed { .. }, Message::User(_)) => {}
            }
        }
        *place = Arc::new(message);
        self.sizes.forget(index);
        Some(before)
    }
}

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

    /// The overlay, made of the kept history when it is first needed.
    fn overlay(&mut self) -> &mut History {
        if matches!(self.before_hook, OverlayBefore::Untouched) {
            self.before_hook = OverlayBefore::Found(self.overlay.clone());
        }
        self.overlay.get_or_insert_with(|| Box::new(self.base.clone()))
    }

    /// Keeps the overlay as it was, if there is one that an edit of the kept history will change too.
    fn shared_overlay(&mut self) -> Option<&mut History> {
        if self.overlay.is_some() { Some(self.overlay()) } else { None }
    }

    pub(super) fn insert(&mut self, scope: Scope, index: usize, message: Arc<Message>) {
        let index = index.min(self.view(scope).len());
        let at_end = index == self.view(scope).len();
        let id = self.fresh_id();
        match scope {
            Scope::ThisStep => self.overlay().insert(index, id, Arc::clone(&message)),
            Scope::History => {
                let before = index.checked_sub(1).and_then(|index| self.base.id_at(index));
                self.base.insert(index, id, Arc::clone(&message));
                self.undo.push(Undo::Remove(index));
                if let Some(overlay) = self.shared_overlay() {
                    // After the same neighbour; at the end where that one is not sent.
                    let place = match before {
                        None => 0,
                        Some(_) if at_end => overlay.len(),
                        Some(id) => overlay.position(id).map_or(overlay.len(), |place| place + 1),
                    };
                    overlay.insert(place, id, Arc::clone(&message));
                }
            }
        }
        self.touch(scope, id, None, Some((index, Arc::clone(&message))));
        let message = Captured::Content(message);
        self.changes.push(if at_end {
            Change::Pushed { scope, id, message }
        } else {
            Change::Inserted { scope, id, index, message }
        });
    }

    pub(super) fn remove(&mut self, scope: Scope, index: usize) -> Option<Arc<Message>> {
        self.view(scope).id_at(index)?;
        let (id, message) = match scope {
            Scope::ThisStep => self.overlay().remove(index)?,
            Scope::History => {
                let (id, message) = self.base.remove(index)?;
                self.undo.push(Undo::Insert(index, id, Arc::clone(&message)));
                if let Some(overlay) = self.shared_overlay()
                    && let Some(place) = overlay.position(id)
                {
                    overlay.remove(place);
                }
                (id, message)
            }
        };
        self.touch(scope, id, Some((index, Arc::clone(&message))), None);
        self.changes.push(Change::Removed { scope, id, index });
        Some(message)
    }

    pub(super) fn retain(&mut self, scope: Scope, mut keep: impl FnMut(&Message) -> bool) {
        // One pass, and one recorded removal for each message that goes.
        let doomed: VecDeque<usize> = self
            .view(scope)
            .messages()
            .iter()
            .enumerate()
            .filter(|(_, message)| !keep(message))
            .map(|(index, _)| index)
            .collect();
        for (gone, index) in doomed.into_iter().enumerate() {
            self.remove(scope, index - gone);
        }
    }

    pub(super) fn edit(&mut self, scope: Scope, index: usize, edits: Vec<MessageEdit>) {
        let Some(id) = self.view(scope).id_at(index) else { return };
        if edits.is_empty() {
            return;
        }
        let found = Arc::clone(&self.view(scope).messages[index]);
        match scope {
            Scope::ThisStep => drop(self.overlay().apply_edits(index, &edits)),
            Scope::History => {
                if let Some(before) = self.base.apply_edits(index, &edits) {
                    self.undo.push(Undo::Replace(index, before));
                }
                if let Some(overlay) = self.shared_overlay()
                    && let Some(place) = overlay.position(id)
                {
                    overlay.apply_edits(place, &edits);
                }
            }
        }
        let left = Arc::clone(&self.view(scope).messages[index]);
        self.touch(scope, id, Some((index, found)), Some((index, left)));
        self.changes.push(Change::Edited { scope, id, index, edits: Captured::Content(edits) });
    }

    pub(super) fn edit_system(&mut self, scope: Scope, change: Change, edit: impl Fn(&mut SystemSlot)) {
        if self.touched.as_ref().is_some_and(|touched| touched.system.is_none()) {
            let found = Some(self.sent_system().to_owned());
            self.touched.get_or_insert_default().system = found;
        }
        match scope {
            Scope::ThisStep => edit(&mut self.overlay().system),
            Scope::History => {
                self.undo.push(Undo::System(self.base.system.clone()));
                edit(&mut self.base.system);
                if let Some(overlay) = self.shared_overlay() {
                    edit(&mut overlay.system);
                }
            }
        }
        self.changes.push(change);
    }
}
