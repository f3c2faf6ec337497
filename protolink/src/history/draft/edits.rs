//! The edits that a draft takes, each made in place with a note of how to take it back.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{HistoryDraft, OverlayBefore, Undo};
use crate::change::{Captured, Change, MessageEdit, Scope};
use crate::history::slot::SystemSlot;
use crate::history::state::History;
use crate::message::Message;

impl HistoryDraft {
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

    pub(in crate::history) fn insert(&mut self, scope: Scope, index: usize, message: Arc<Message>) {
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

    pub(in crate::history) fn remove(&mut self, scope: Scope, index: usize) -> Option<Arc<Message>> {
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

    pub(in crate::history) fn retain(&mut self, scope: Scope, mut keep: impl FnMut(&Message) -> bool) {
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

    pub(in crate::history) fn edit(&mut self, scope: Scope, index: usize, edits: Vec<MessageEdit>) {
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

    pub(in crate::history) fn edit_system(&mut self, scope: Scope, change: Change, edit: impl Fn(&mut SystemSlot)) {
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
