//! What a hook's changes amount to: sizes and digests, no payload.

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::digest::Digest;
use crate::ids::MessageId;
use crate::value::SharedValue;

/// What a hook's changes amount to, without payload.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).hooks(hooks![be_brief]).build()?;
/// let mut stream = agent.run("Go.").stream();
/// while let Some(event) = stream.next().await {
///     if let RunEvent::HookRan { effect, .. } = event? {
///         assert!(effect.system_changed);
///         assert_eq!(effect.messages_changed, 0);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookEffect {
    /// Tools that it removed.
    pub tools_removed: Vec<String>,
    /// How many messages it added, removed or edited.
    pub messages_changed: usize,
    /// Whether it changed the system message.
    pub system_changed: bool,
    /// What it was given beside what it left; `None` where it changed nothing of it.
    pub difference: Option<HookDifference>,
}

/// What a hook was given beside what it left, as digests and sizes of JSON.
///
/// For a result or an answer, that is the whole of its JSON. For a request it is as much of it as the hook touched, so
/// that what a record costs follows the edit and not the conversation: the JSON of an object with these members, and of
/// them only those that the hook touched:
/// - `system`: the system message of this request, as text;
/// - `history`: the messages of the conversation that it touched through `request.history()`, each as a pair of its
///   place and itself, in the order in which it first touched them. A message that it added is missing before, and one
///   that it removed is missing after. The place is the one at which the message stood when it was touched: first, for
///   what was there before; last, for what is there after;
/// - `this_step`: the same of what it touched through `request.this_step()`;
/// - `tools`: the names of the step's tools, all of them, in the order of their registration.
///
/// The digests are equal exactly if the hook left all that it touched as it had found it.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// #[before_model]
/// fn be_brief(request: &mut ModelRequest<'_>) {
///     request.history().append_system("Be brief.");
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([Reply::text("done")]);
/// let agent = Agent::builder("a").model(model).hooks(hooks![be_brief]).build()?;
/// let mut stream = agent.run("Go.").stream();
/// while let Some(event) = stream.next().await {
///     if let RunEvent::HookRan { effect, .. } = event? {
///         let difference = effect.difference.ok_or("it changed something")?;
///         assert_ne!(difference.before, difference.after);
///         assert_eq!(difference.bytes, 9, "what it added to the system message");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HookDifference {
    /// The digest of what it was given.
    pub before: Digest,
    /// The digest of what it left.
    pub after: Digest,
    /// How many bytes of JSON it added or, negative, took away.
    pub bytes: i64,
}

impl HookEffect {
    /// What these changes amount to.
    pub(crate) fn of(changes: &[Change], difference: Option<HookDifference>) -> Self {
        let mut effect = Self { difference, ..Self::default() };
        let mut messages: Vec<MessageId> = Vec::new();
        for change in changes {
            match change {
                Change::ToolRemoved { tool } => effect.tools_removed.push(tool.clone()),
                Change::Pushed { id, .. }
                | Change::Inserted { id, .. }
                | Change::Removed { id, .. }
                | Change::Edited { id, .. } => messages.push(*id),
                Change::SystemSet { .. } | Change::SystemAppended { .. } | Change::SystemReset { .. } => {
                    effect.system_changed = true;
                }
                Change::ResultChanged { .. } | Change::AnswerChanged { .. } | Change::RevisionAsked { .. } => {}
            }
        }
        messages.sort_unstable();
        messages.dedup();
        effect.messages_changed = messages.len();
        effect
    }
}

impl HookDifference {
    pub(crate) fn between<T: Serialize>(before: &T, after: &T) -> Self {
        let ((before, was), (after, is)) = (Digest::of_json(before), Digest::of_json(after));
        let bytes = i64::try_from(is).unwrap_or(i64::MAX).saturating_sub(i64::try_from(was).unwrap_or(i64::MAX));
        Self { before, after, bytes }
    }

    /// The difference of a result or an answer.
    pub(crate) fn of_content(before: &SharedValue, after: &SharedValue) -> Option<Self> {
        (!before.same(after)).then(|| Self::between(before, after))
    }
}
