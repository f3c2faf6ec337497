//! The agent loop: what a step is, told in the order of the contract's M7.

mod ask;
mod builder;
mod close;
mod complete;
mod decide;
mod dispatch;
mod events;
mod handle;
mod hooks;
mod judge;
mod observe;
mod place;
mod prepare;
mod resume;
mod start;
mod state;
mod stream;
mod telemetry;
mod waiting;

pub use builder::RunBuilder;
pub use dispatch::{ToolPanicked, ToolTimedOut};
pub use handle::{RunEvents, RunHandle};
pub(crate) use place::HistoryPlace;
pub use resume::ResumeBuilder;
pub(crate) use resume::{cancel_run, conversation, interruption, reconcile, store_of};
pub(crate) use start::call_tool;
pub use stream::RunStream;

use crate::error::Error;
use crate::outcome::Outcome;
use state::{Phase, Run};

impl Run {
    /// Runs from where the run stands to its end, or to where a person is waited for.
    async fn go_on(&mut self) -> Result<Outcome, Error> {
        loop {
            self.check_cancelled()?;
            match &self.phase {
                Phase::Prepare => self.step().await?,
                Phase::Calls(_) => {
                    // T6: every call is decided before any is dispatched.
                    if let Some(interruption) = self.decide().await? {
                        return Ok(Outcome::Interrupted(interruption));
                    }
                    // D1: the intents are committed, each call runs, each receipt is committed.
                    self.dispatch().await?;
                    // S7: a tool that ended all the same has its receipt, and no later stage runs.
                    self.check_cancelled()?;
                    // T2, T3: hooks shape copies, in the order of the calls.
                    if let Some(answer) = self.observe().await? {
                        return Ok(Outcome::Completed(answer));
                    }
                }
                Phase::Answer(_) => {
                    // F1, F3: the answer is checked, then committed, then announced.
                    if let Some(answer) = self.complete().await? {
                        return Ok(Outcome::Completed(answer));
                    }
                }
                Phase::Ended(answer) => return Ok(Outcome::Completed(answer.clone())),
            }
        }
    }

    /// One step, from the registered prompt to the model's reply (contract M7).
    async fn step(&mut self) -> Result<(), Error> {
        // P2: a step is counted when it starts.
        self.begin_step()?;
        // M7: the registered tool prompt comes first.
        self.compile_prompt();
        // M6, S2: each hook once, in order.
        self.run_before_model().await?;
        // M8: the prompt is made again where the roster shrank.
        self.recompile_prompt();
        // M14: nothing is sent without a user message.
        self.check_user_message()?;
        // M7: the context policy shapes the request, the manifest says how.
        let shaped = self.shape_request()?;
        // P2, M6: the budget is checked on the request as it is sent; every attempt sends this one.
        let reply = self.ask(&shaped).await?;
        // M9, P1, D1: what becomes of the reply is decided, and committed before anything is done about it.
        self.judge(reply).await
    }
}
