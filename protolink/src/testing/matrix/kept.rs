//! What a run left in its store: it must be the same whatever happened on the way.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use super::Matrix;
use crate::durable::{CallState, HookRecord, Record, RunStore, decode};
use crate::error::Error;
use crate::ids::ActionId;
use crate::message::Message;
use crate::receipt::{Receipt, ReceiptOutcome};

/// The conversation, the receipts, and what each hook did.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept {
    messages: Vec<Arc<Message>>,
    receipts: BTreeMap<ActionId, Receipt>,
    hooks: Vec<HookRecord>,
}

impl Kept {
    pub(super) async fn read(store: &Arc<dyn RunStore>) -> Result<Self, Error> {
        let place = crate::run::conversation(store, Matrix::CONVERSATION.to_owned()).await?;
        let mut kept = Self { messages: place.history.messages().to_vec(), ..Self::default() };
        for record in decode(&store.load(&Matrix::RUN_ID.into()).await?)? {
            match record {
                Record::Replied(replied) => kept.hooks.extend(replied.hooks),
                Record::Completed { hooks, .. } => kept.hooks.extend(hooks),
                Record::Receipted { receipt, .. } => kept.keep(receipt),
                Record::Decided(decided) => {
                    if let CallState::Done(receipt) = decided.state {
                        kept.keep((*receipt).clone());
                    }
                }
                _ => {}
            }
        }
        Ok(kept)
    }

    fn keep(&mut self, mut receipt: Receipt) {
        // Who said what came of an action is to differ; what came of it is not.
        if let ReceiptOutcome::Reconciled(result) = receipt.outcome {
            receipt.outcome = ReceiptOutcome::Returned(result);
        }
        self.receipts.insert(receipt.action_id.clone(), receipt);
    }

    /// What came of an action.
    pub(super) fn outcome(&self, action_id: &ActionId) -> Option<&ReceiptOutcome> {
        self.receipts.get(action_id).map(|receipt| &receipt.outcome)
    }

    /// How many actions ran.
    pub(super) fn actions(&self) -> usize {
        self.receipts.len()
    }

    /// In what it differs from what the first run left, in words.
    pub(super) fn differences(&self, first: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        differences.extend(difference("message", &self.messages, &first.messages));
        let receipts = |kept: &Self| kept.receipts.values().cloned().collect::<Vec<_>>();
        differences.extend(difference("receipt", &receipts(self), &receipts(first)));
        differences.extend(difference("hook run that is kept", &self.hooks, &first.hooks));
        differences
    }
}

/// Where two lists part.
fn difference<T: PartialEq + Debug>(what: &str, is: &[T], was: &[T]) -> Option<String> {
    let place = (0..is.len().max(was.len())).find(|place| is.get(*place) != was.get(*place))?;
    let shown = |item: Option<&T>| item.map_or_else(|| "missing".to_owned(), |item| format!("{item:?}"));
    Some(format!("{what} {} is {}, and was {}", place + 1, shown(is.get(place)), shown(was.get(place))))
}
