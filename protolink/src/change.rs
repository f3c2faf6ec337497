//! The closed set of edits that a hook can make.
//!
//! One list serves three ends: it is what the types allow, what the events say a hook did, and what the journal
//! stores to make the edit again after a crash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::ids::MessageId;
use crate::message::Message;

/// How long an edit of the conversation lasts (contract M13).
///
/// ```
/// use protolink::Scope;
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// let mut fixture = RequestFixture::new().user("Which lamps?");
/// fixture.with(|request: &mut ModelRequest<'_>| {
///     request.history().push(Message::user("from now on"));
///     request.this_step().push(Message::user("for this request only"));
/// });
/// let scopes: Vec<_> = fixture.changes().iter().filter_map(|change| change.scope()).collect();
/// assert_eq!(scopes, [Scope::History, Scope::ThisStep]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// From now on: later steps and the kept conversation see it. Made through `request.history()`.
    History,
    /// For this request only: what is sent differs, the conversation does not. Made through `request.this_step()`.
    ThisStep,
}

/// The content of an edit, or what may be said of it where content capture is off.
///
/// ```
/// use protolink::Captured;
///
/// let captured = Captured::Content("my pin is 1234".to_owned());
/// assert_eq!(captured.content().map(String::as_str), Some("my pin is 1234"));
///
/// // As it is in events unless the agent says `.capture_content(true)`.
/// let digest = captured.without_content();
/// assert!(digest.content().is_none());
/// assert!(matches!(digest, Captured::Digest { bytes: 16, .. }));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Captured<T> {
    /// The content itself.
    Content(T),
    /// Its digest and its size in bytes of JSON.
    Digest {
        /// SHA-256 of its JSON.
        digest: Digest,
        /// The length of its JSON in bytes.
        bytes: u64,
    },
}

impl<T: Serialize> Captured<T> {
    /// The content, where it is here.
    #[must_use]
    pub fn content(&self) -> Option<&T> {
        match self {
            Self::Content(content) => Some(content),
            Self::Digest { .. } => None,
        }
    }

    /// The same without the content.
    #[must_use]
    pub fn without_content(&self) -> Self {
        match self {
            Self::Content(content) => {
                let (digest, bytes) = Digest::of_json(content);
                Self::Digest { digest, bytes }
            }
            Self::Digest { digest, bytes } => Self::Digest { digest: *digest, bytes: *bytes },
        }
    }
}

/// One edit that a hook made.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
/// use protolink::{Captured, Change};
///
/// let mut fixture = RequestFixture::new().user("Which lamps?").tool_named("delete");
/// fixture.with(|request: &mut ModelRequest<'_>| {
///     request.history().set_system("Be brief.");
///     request.tools().remove_named("delete");
/// });
/// let [Change::SystemSet { text: Captured::Content(text), .. }, Change::ToolRemoved { tool }] =
///     fixture.changes()
/// else {
///     panic!("two edits were made")
/// };
/// assert_eq!((text.as_str(), tool.as_str()), ("Be brief.", "delete"));
/// assert!(!format!("{:?}", fixture.changes()[0].without_content()).contains("brief"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// A message was added at the end.
    Pushed {
        /// How long it lasts.
        scope: Scope,
        /// The new message's identifier.
        id: MessageId,
        /// The message.
        message: Captured<Arc<Message>>,
    },
    /// A message was added before another.
    Inserted {
        /// How long it lasts.
        scope: Scope,
        /// The new message's identifier.
        id: MessageId,
        /// Where it stands now.
        index: usize,
        /// The message.
        message: Captured<Arc<Message>>,
    },
    /// A message was taken out.
    Removed {
        /// How long it lasts.
        scope: Scope,
        /// The message's identifier.
        id: MessageId,
        /// Where it stood.
        index: usize,
    },
    /// A message was changed in place.
    Edited {
        /// How long it lasts.
        scope: Scope,
        /// The message's identifier.
        id: MessageId,
        /// Where it stands.
        index: usize,
        /// What was changed, in order.
        edits: Captured<Vec<MessageEdit>>,
    },
    /// The system message was overridden.
    SystemSet {
        /// How long it lasts.
        scope: Scope,
        /// The new text.
        text: Captured<String>,
    },
    /// A section was added to the system message, in place of the hook's earlier one.
    SystemAppended {
        /// How long it lasts.
        scope: Scope,
        /// The path of the hook whose section it is.
        hook: String,
        /// The section's text.
        text: Captured<String>,
    },
    /// The system message went back to the compiled one.
    SystemReset {
        /// How long it lasts.
        scope: Scope,
    },
    /// A tool was taken out of the step's roster.
    ToolRemoved {
        /// The tool's name.
        tool: String,
    },
    /// The model sees another result than the receipt keeps.
    ResultChanged {
        /// The call that it answers.
        call_id: String,
        /// The new result.
        result: Captured<crate::value::SharedValue>,
    },
    /// The proposed answer was replaced.
    AnswerChanged {
        /// The new content.
        content: Captured<crate::value::SharedValue>,
    },
    /// The proposed answer goes back to the model.
    RevisionAsked {
        /// What the model is told.
        feedback: Captured<String>,
    },
}

/// One change inside a message.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
/// use protolink::{Captured, Change, MessageEdit};
///
/// let mut fixture = RequestFixture::new().user("my pin is 1234");
/// fixture.with(|request: &mut ModelRequest<'_>| {
///     request.history().edit(0, |message| message.set_text("my pin is [hidden]"));
/// });
/// let [Change::Edited { edits: Captured::Content(edits), .. }] = fixture.changes() else {
///     panic!("one edit was made")
/// };
/// assert_eq!(edits[..], [MessageEdit::Text("my pin is [hidden]".to_owned())]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MessageEdit {
    /// The text was replaced.
    Text(String),
    /// What the model sees of a call's outcome was replaced.
    Observed {
        /// The call.
        call_id: String,
        /// The new result.
        result: Value,
    },
}

impl Change {
    /// How long an edit of the conversation lasts; `None` for every other edit.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        match self {
            Self::Pushed { scope, .. }
            | Self::Inserted { scope, .. }
            | Self::Removed { scope, .. }
            | Self::Edited { scope, .. }
            | Self::SystemSet { scope, .. }
            | Self::SystemAppended { scope, .. }
            | Self::SystemReset { scope } => Some(*scope),
            Self::ToolRemoved { .. }
            | Self::ResultChanged { .. }
            | Self::AnswerChanged { .. }
            | Self::RevisionAsked { .. } => None,
        }
    }

    /// The same edit with digests in place of contents.
    #[must_use]
    pub fn without_content(&self) -> Self {
        match self {
            Self::Pushed { scope, id, message } => {
                Self::Pushed { scope: *scope, id: *id, message: message.without_content() }
            }
            Self::Inserted { scope, id, index, message } => {
                Self::Inserted { scope: *scope, id: *id, index: *index, message: message.without_content() }
            }
            Self::Edited { scope, id, index, edits } => {
                Self::Edited { scope: *scope, id: *id, index: *index, edits: edits.without_content() }
            }
            Self::SystemSet { scope, text } => Self::SystemSet { scope: *scope, text: text.without_content() },
            Self::SystemAppended { scope, hook, text } => {
                Self::SystemAppended { scope: *scope, hook: hook.clone(), text: text.without_content() }
            }
            Self::ResultChanged { call_id, result } => {
                Self::ResultChanged { call_id: call_id.clone(), result: result.without_content() }
            }
            Self::AnswerChanged { content } => Self::AnswerChanged { content: content.without_content() },
            Self::RevisionAsked { feedback } => Self::RevisionAsked { feedback: feedback.without_content() },
            Self::Removed { .. } | Self::SystemReset { .. } | Self::ToolRemoved { .. } => self.clone(),
        }
    }
}
