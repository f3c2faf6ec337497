//! From a step's start to a request that is ready to be sent (contract M7, M8, M14).

use std::fmt::Write as _;
use std::sync::Arc;

use super::state::Run;
use crate::error::Error;
use crate::event::RunEvent;
use crate::hook::Stage;
use crate::message::Message;
use crate::roster::{Roster, RosterDraft};
use crate::rules::context::{Shaped, Unshaped, shape};
use crate::settings::AgentInner;
use crate::tool::ToolSpec;

impl Run {
    /// Counts the step, and starts it from the full registered roster.
    pub(super) fn begin_step(&mut self) -> Result<(), Error> {
        self.spent_now();
        self.budget.check_step(&self.spent).map_err(|limit| self.over_budget(limit))?;
        self.step += 1;
        self.spent.steps += 1;
        self.shown = false;
        let step = self.step;
        self.events.emit(|| RunEvent::StepStarted { step });
        self.draft.roster = RosterDraft::new(Roster::new(Arc::clone(&self.agent.specs)));
        Ok(())
    }

    /// Compiles the registered prompt: instructions, and the tools for a model that does not take tools by itself.
    pub(super) fn compile_prompt(&mut self) {
        let compiled = compiled_prompt(&self.agent, self.draft.roster.roster());
        self.draft.history.begin_step(compiled);
        // An answer that was sent back stands where it was given, in this request only.
        for (shift, revision) in self.revisions.iter().enumerate() {
            let place = revision.position + 2 * shift;
            let messages = [Message::assistant(revision.candidate.clone()), Message::user(revision.feedback.clone())];
            self.draft.history.show_here(place, messages);
        }
    }

    /// Compiles the prompt again where hooks removed tools, so that it names none of them.
    pub(super) fn recompile_prompt(&mut self) {
        let roster = self.draft.roster.roster();
        if roster.has_shrunk() && !self.agent.native_tools {
            let compiled = compiled_prompt(&self.agent, roster);
            self.draft.history.set_compiled(compiled);
        }
    }

    pub(super) fn check_user_message(&self) -> Result<(), Error> {
        if self.draft.history.sent().has_user_message() {
            return Ok(());
        }
        let (run_id, step) = (self.id().clone(), self.step);
        Err(Error::EmptyRequest { run_id, stage: Stage::BeforeModel, step })
    }

    /// Lets the context policy shape the request, and says what it is made of.
    pub(super) fn shape_request(&mut self) -> Result<Shaped, Error> {
        let policy = self.agent.settings.context_policy.as_ref();
        if policy.is_none() && !self.budget.counts_tokens() && !self.events.are_watched() {
            return Ok(Shaped::untouched());
        }
        self.draft.history.measure_sent();
        let shaped = shape(policy, &self.unshaped()).map_err(|source| Error::Context {
            run_id: self.id().clone(),
            step: self.step,
            source,
        })?;
        let step = self.step;
        if let Some(manifest) = &shaped.manifest {
            self.events.emit(|| RunEvent::ContextPrepared { step, manifest: manifest.clone() });
        }
        Ok(shaped)
    }

    /// The estimated size of the request as it was sent, in tokens.
    pub(super) fn estimate(&mut self, shaped: &Shaped) -> u64 {
        shaped.tokens().unwrap_or_else(|| {
            self.draft.history.measure_sent();
            self.unshaped().tokens()
        })
    }

    /// The request as the hooks left it.
    fn unshaped(&self) -> Unshaped<'_> {
        let history = &self.draft.history;
        let tools = self.draft.roster.roster().specs();
        Unshaped {
            system: history.sent_system(),
            tools,
            tool_tokens: self.agent.tool_tokens(tools),
            answer_tokens: self.answer.as_ref().map_or(0, |answer| answer.tokens),
            messages: history.sent().messages(),
            sizes: history.sent().sizes(),
            turn_begins: history.turn_begins(),
        }
    }
}

fn compiled_prompt(agent: &AgentInner, roster: &Roster) -> Arc<str> {
    if agent.native_tools || roster.specs().is_empty() {
        return Arc::clone(&agent.instructions);
    }
    let mut prompt = agent.instructions.to_string();
    if !prompt.is_empty() {
        prompt.push_str("\n\n");
    }
    tool_section(&mut prompt, roster.specs());
    prompt.into()
}

/// How a model that does not take tools by itself is told of them (contract M8).
fn tool_section(prompt: &mut String, tools: &[Arc<ToolSpec>]) {
    prompt.push_str("# Tools\n\nTo call a tool, reply with JSON only: {\"tool\": \"<name>\", \"arguments\": {..}}\n");
    for tool in tools {
        // Writing to a string does not fail.
        let _ = write!(prompt, "\n- {}: {}\n  arguments: {}", tool.name(), tool.description(), tool.schema());
    }
}
