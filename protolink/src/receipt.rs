//! What really happened: one receipt for each tool call that ran.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::Digest;
use crate::ids::ActionId;
use crate::value::SharedValue;

/// The record of one tool call that ran, with its true result.
///
/// No hook can change it: an `after_tool` hook changes what the model sees, and both are on record (contract T3).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ResponseFixture;
///
/// #[before_complete]
/// fn grounded(response: &mut FinalResponse<'_>) -> Result<(), String> {
///     let receipt = response.receipts().last().ok_or("no tool was called")?;
///     println!(
///         "{} gave {:?}, on record as {}",
///         receipt.tool,
///         receipt.result(),
///         receipt.digest()
///     );
///     Ok(())
/// }
///
/// let mut fixture =
///     ResponseFixture::text("Three lamps.").receipt("search", serde_json::json!([1, 2, 3]));
/// assert!(fixture.with(|response| grounded(response)).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The action that ran.
    pub action_id: ActionId,
    /// The provider's identifier of the call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments that it ran with.
    pub arguments: Value,
    /// The step, counted from 1.
    pub step: u32,
    /// How it ended.
    pub outcome: ReceiptOutcome,
}

/// How a tool call that ran ended.
///
/// ```
/// use protolink::ReceiptOutcome;
/// use protolink::prelude::*;
/// use protolink::testing::ResponseFixture;
///
/// #[before_complete]
/// fn all_succeeded(response: &mut FinalResponse<'_>) -> Result<(), String> {
///     for receipt in response.receipts() {
///         match &receipt.outcome {
///             ReceiptOutcome::Returned(_) | ReceiptOutcome::Reconciled(_) => {}
///             other => return Err(format!("`{}` did not succeed: {other:?}", receipt.tool)),
///         }
///     }
///     Ok(())
/// }
///
/// let mut fixture =
///     ResponseFixture::text("Three lamps.").receipt("search", serde_json::json!([1, 2, 3]));
/// assert!(fixture.with(|response| all_succeeded(response)).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReceiptOutcome {
    /// It gave this back.
    Returned(SharedValue),
    /// It failed; the text is its error's.
    Failed(String),
    /// It said that nothing was done.
    Rejected(String),
    /// It gave something back that cannot be stored exactly: its effect is done, and its result is to be reconciled
    /// (contract T7).
    Unkept(String),
    /// It was started, and the application said later what came of it (contract D3).
    Reconciled(SharedValue),
    /// It was cancelled while it ran: whether its effect happened is not known.
    Cancelled,
}

impl Receipt {
    /// The true result, where the call succeeded.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        self.shared_result().map(|value| &**value)
    }

    /// The digest of the whole receipt.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_json(self).0
    }

    /// A receipt for a test's fixture.
    pub(crate) fn fixture(tool: String, number: usize, result: Value) -> Self {
        Self {
            action_id: ActionId::from(format!("fixture/1/{}", number.saturating_sub(1))),
            call_id: format!("call_{number}"),
            tool,
            arguments: Value::Object(serde_json::Map::new()),
            step: 1,
            outcome: ReceiptOutcome::Returned(result.into()),
        }
    }

    pub(crate) fn shared_result(&self) -> Option<&SharedValue> {
        match &self.outcome {
            ReceiptOutcome::Returned(value) | ReceiptOutcome::Reconciled(value) => Some(value),
            _ => None,
        }
    }
}
