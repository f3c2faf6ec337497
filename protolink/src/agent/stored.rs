//! What an agent does with the runs of its store.

use std::sync::Arc;

use serde::Serialize;

use super::Agent;
use crate::conversation::Conversation;
use crate::durable::Record;
use crate::error::Error;
use crate::hook::text_of;
use crate::ids::{ActionId, RunId};
use crate::outcome::Interruption;
use crate::receipt::ReceiptOutcome;
use crate::run::{self, ResumeBuilder};
use crate::tool::ToolError;
use crate::value::to_value;

/// Runs that are kept in a store.
impl Agent {
    /// Takes a stored run up again (contract D2 to D11).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// agent.run("Refund it.").run_id("r-1").await?;
    ///
    /// // In another process, a week later: the same agent on the same store.
    /// let waits_for = agent.interruption("r-1").await?.ok_or("nobody is waited for")?;
    /// let outcome = agent.resume("r-1").approve(&waits_for).await?;
    /// assert_eq!(outcome.answer().map(Answer::text), Some("Done."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(&self, run_id: impl Into<RunId>) -> ResumeBuilder<'static> {
        ResumeBuilder::new(Arc::clone(&self.inner), run_id.into(), None)
    }

    /// What a stored run wrote down, one record a commit: what hooks did, what was called, what really happened and
    /// what the model saw of it. See [`durable::journal`](crate::durable::journal()).
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// use protolink::durable::Record;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Reply::text("done")]);
    /// let agent = Agent::builder("a").model(model).durable(MemoryStore::new()).build()?;
    /// agent.run("Go.").run_id("r-1").await?;
    /// let records = agent.journal("r-1").await?;
    /// assert!(matches!(records[..], [Record::Started(_), Record::Replied(_), Record::Completed { .. }]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn journal(&self, run_id: impl Into<RunId>) -> Result<Vec<Record>, Error> {
        let store = run::store_of(&self.inner)?;
        Ok(crate::durable::journal(&*store, &run_id.into()).await?)
    }

    /// What a stored run waits for, if it waits.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// agent.run("Refund it.").run_id("r-1").await?;
    /// let waits_for = agent.interruption("r-1").await?.ok_or("nobody is waited for")?;
    /// assert_eq!(waits_for.tool(), Some("refund"));
    /// assert_eq!(waits_for.arguments(), Some(&serde_json::json!({ "cents": 900 })));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where the run cannot be read.
    pub async fn interruption(&self, run_id: impl Into<RunId>) -> Result<Option<Interruption>, Error> {
        run::interruption(&self.inner, &run_id.into()).await
    }

    /// Says what came of an action that was started and of which nobody knows, or whose result could not be kept
    /// (contract D3, T7). The run can then be resumed.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool]
    /// # async fn refund(cents: u64) -> Result<String, ToolError> { Err(ToolError::uncertain("the bank did not reply")) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk").model(model).tools(tools![refund]).durable(MemoryStore::new()).build()?;
    /// let failed = agent.run("Refund it.").run_id("r-1").await;
    /// let Err(Error::Uncertain { action_id, .. }) = agent.resume("r-1").await else { panic!("nobody knows yet") };
    ///
    /// // The bank's own records say that it was paid.
    /// agent.reconcile("r-1", action_id, "900 cents").await?;
    /// assert!(agent.resume("r-1").await?.answer().is_some());
    /// # assert!(failed.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotResumable`] where the action is not an uncertain one; [`Error::Value`] where the result cannot be
    /// stored exactly.
    pub async fn reconcile(
        &self,
        run_id: impl Into<RunId>,
        action_id: impl Into<ActionId>,
        result: impl Serialize,
    ) -> Result<(), Error> {
        let run_id = run_id.into();
        let result = to_value(&result).map_err(|source| Error::Value { run_id: run_id.clone(), source })?;
        run::reconcile(&self.inner, &run_id, &action_id.into(), ReceiptOutcome::Reconciled(result.into())).await
    }

    /// Says that an action that was started and of which nobody knows came to nothing (contract D3). The run can then be
    /// resumed, and the model is told what the tool would have told it.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool]
    /// # async fn refund(cents: u64) -> Result<String, ToolError> { Err(ToolError::uncertain("the bank did not reply")) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk").model(model).tools(tools![refund]).durable(MemoryStore::new()).build()?;
    /// let failed = agent.run("Refund it.").run_id("r-1").await;
    /// let Err(Error::Uncertain { action_id, .. }) = agent.resume("r-1").await else { panic!("nobody knows yet") };
    ///
    /// // The bank's own records know nothing of it.
    /// agent.reconcile_failed("r-1", action_id, ToolError::rejected("the bank was not reached")).await?;
    /// assert!(agent.resume("r-1").await?.answer().is_some());
    /// # assert!(failed.is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NotResumable`] where the action is not an uncertain one, or its effect is known to have happened, or
    /// where [`ToolError::Uncertain`] says as little as was known before.
    pub async fn reconcile_failed(
        &self,
        run_id: impl Into<RunId>,
        action_id: impl Into<ActionId>,
        error: impl Into<ToolError>,
    ) -> Result<(), Error> {
        let run_id = run_id.into();
        let outcome = match error.into() {
            ToolError::Rejected(reason) => ReceiptOutcome::Rejected(reason),
            ToolError::Failed(error) | ToolError::Reported(error) => ReceiptOutcome::Failed(text_of(&error)),
            ToolError::Uncertain(_) => {
                return Err(Error::NotResumable {
                    run_id,
                    reason: "an uncertain end is no end of an uncertain action",
                });
            }
        };
        run::reconcile(&self.inner, &run_id, &action_id.into(), outcome).await
    }

    /// Ends a stored run that waits, failed or crashed: calls in flight are uncertain, and its conversation can go on.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # /// Give money back.
    /// # #[tool(capability = "money")]
    /// # fn refund(cents: u64) -> String { format!("{cents} cents") }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Reply::call("refund", serde_json::json!({ "cents": 900 })), Reply::text("Done.")]);
    /// # let agent = Agent::builder("clerk")
    /// #     .model(model)
    /// #     .tools(tools![refund])
    /// #     .policy(CapabilityPolicy::new().require_approval("money"))
    /// #     .durable(MemoryStore::new())
    /// #     .build()?;
    /// agent.run("Refund it.").run_id("r-1").await?;
    /// agent.cancel("r-1").await?;
    /// assert!(agent.resume("r-1").await.is_err(), "it is over");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::RunBusy`] while another worker runs it; [`Error::Store`].
    pub async fn cancel(&self, run_id: impl Into<RunId>) -> Result<(), Error> {
        run::cancel_run(&self.inner, &run_id.into()).await
    }

    /// The conversation of this name, as its runs left it in the store; a new one where there are none.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::{Reply, ScriptedModel};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let store = MemoryStore::new();
    /// let model = ScriptedModel::new([Reply::text("Hello, Ada.")]);
    /// let agent = Agent::builder("a").model(model).durable(store).build()?;
    /// agent.conversation_id("ada").await?.invoke("I am Ada.").await?;
    ///
    /// // In another process: what was said is there.
    /// assert_eq!(agent.conversation_id("ada").await?.messages().len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoStore`]; [`Error::Store`] where its runs cannot be read.
    pub async fn conversation_id(&self, name: impl Into<String>) -> Result<Conversation, Error> {
        Conversation::load(Arc::clone(&self.inner), name.into()).await
    }
}
