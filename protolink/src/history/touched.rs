//! What the running hook touched of a history, as it found it and as it left it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::ids::MessageId;
use crate::message::Message;

/// Where a message stood when it was touched, and the message.
type Placed = (usize, Arc<Message>);

/// The messages that a hook touched in one scope, in the order in which it first touched them.
#[derive(Debug, Default)]
pub(super) struct TouchedMessages {
    /// Each as the hook found it, if it did, and as it left it, if it is still there.
    messages: Vec<(Option<Placed>, Option<Placed>)>,
    indices: BTreeMap<MessageId, usize>,
}

impl TouchedMessages {
    pub(super) fn touch(&mut self, id: MessageId, found: Option<Placed>, left: Option<Placed>) {
        let index = *self.indices.entry(id).or_insert_with(|| {
            self.messages.push((found, None));
            self.messages.len() - 1
        });
        self.messages[index].1 = left;
    }

    fn side<'t>(
        &'t self,
        side: impl Fn(&'t (Option<Placed>, Option<Placed>)) -> &'t Option<Placed>,
    ) -> Option<Vec<&'t Placed>> {
        (!self.messages.is_empty()).then(|| self.messages.iter().filter_map(|both| side(both).as_ref()).collect())
    }
}

/// What a hook touched of a history; filled only where somebody wants to know.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    pub(super) history: TouchedMessages,
    pub(super) this_step: TouchedMessages,
    /// The system message of the request as the hook found it.
    pub(super) system: Option<String>,
}

/// One side of what a hook touched; what it did not touch is not there. The members stand in the order of their names,
/// as they do in a value of `serde_json`.
#[derive(Debug, Serialize)]
pub(crate) struct Side<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<&'t Placed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    this_step: Option<Vec<&'t Placed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<&'t str>>,
}

impl Touched {
    /// What was found and what was left, with what is so of the system message and of the names of tools.
    pub(super) fn sides<'t>(
        &'t self,
        system: &'t str,
        tools: Option<(Vec<&'t str>, Vec<&'t str>)>,
    ) -> Option<(Side<'t>, Side<'t>)> {
        let (tools_before, tools_after) = tools.unzip();
        let before = Side {
            history: self.history.side(|(found, _)| found),
            system: self.system.as_deref(),
            this_step: self.this_step.side(|(found, _)| found),
            tools: tools_before,
        };
        let after = Side {
            history: self.history.side(|(_, left)| left),
            system: self.system.as_ref().map(|_| system),
            this_step: self.this_step.side(|(_, left)| left),
            tools: tools_after,
        };
        let touched =
            before.system.is_some() || before.history.is_some() || before.this_step.is_some() || before.tools.is_some();
        touched.then_some((before, after))
    }
}
