//! What has to hold of a folder whenever a child has died on it. Effects are taken from their own file, so that the
//! check does not believe the store.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use protolink::durable::{
    CallState, Page, Record, Row, RunFilter, RunState, RunStore, RunSummary, SqliteStore, decode,
};
use protolink::{Message, Receipt, ReceiptOutcome, RunId, ToolOutcome};
use serde_json::Value;

use super::child::{CONVERSATION, Orders, acknowledged_file, agent, effects_file};
use super::point::Points;
use super::program::{Step, answer, call_id, prompt};

/// A promise that was not kept.
#[derive(Debug, thiserror::Error)]
#[error("{promise}, but not here: {detail}")]
pub(crate) struct Broken {
    pub(crate) promise: &'static str,
    pub(crate) detail: String,
}

pub(crate) const ACKNOWLEDGED_IS_THERE: &str = "what was acknowledged is in the store";
pub(crate) const CONTINUES: &str = "a run is a continuation of what was committed";
pub(crate) const NOT_AGAIN: &str = "a tool with a committed receipt does not run again";
pub(crate) const ONCE: &str = "an effect happens once, unless its tool may be repeated";
pub(crate) const INTENT_FIRST: &str = "an effect has a committed intent";
pub(crate) const NO_INVENTION: &str = "a receipt has its effect";
pub(crate) const EXCLUDED: &str = "a tool that was excluded does not run";
pub(crate) const ANSWERED: &str = "every call is answered, refused or uncertain";
pub(crate) const TRANSCRIPT: &str = "the conversation says what was said, once";

type Kept<T = ()> = Result<T, Broken>;

fn broken<T>(promise: &'static str, detail: impl Into<String>) -> Kept<T> {
    Err(Broken { promise, detail: detail.into() })
}

/// What was seen of a folder so far.
#[derive(Default)]
pub(crate) struct Watch {
    rows: HashMap<RunId, Vec<Row>>,
    records: HashMap<RunId, Vec<Record>>,
    states: HashMap<RunId, RunState>,
    receipts: HashMap<String, Receipt>,
    effects: usize,
    acknowledged: usize,
}

/// One line of the file of effects.
struct Effect<'a> {
    generation: &'a str,
    action: &'a str,
    tool: &'a str,
}

impl Watch {
    /// How many rows were seen.
    pub(crate) fn progress(&self) -> usize {
        self.rows.values().map(Vec::len).sum()
    }

    /// Looks at a folder on which nobody works.
    pub(crate) async fn look(&mut self, orders: &Orders) -> Kept {
        let effects = std::fs::read_to_string(effects_file(&orders.folder)).unwrap_or_default();
        let effects = effects.lines().map(effect).collect::<Vec<_>>();
        for effect in &effects[self.effects..] {
            if self.receipts.contains_key(effect.action) {
                return broken(NOT_AGAIN, format!("{} of {}", effect.action, effect.tool));
            }
        }
        self.effects = effects.len();
        let store = orders.open();
        self.read(&store).await?;
        self.acknowledged(orders)?;
        self.effects_fit(&effects)
    }

    async fn read(&mut self, store: &SqliteStore) -> Kept {
        let listed = store.list(&RunFilter::new().conversation(CONVERSATION), Page::first(u32::MAX)).await;
        let listed: Vec<RunSummary> =
            listed.map_err(|error| Broken { promise: CONTINUES, detail: error.to_string() })?.runs;
        for summary in listed {
            let run_id = &summary.run_id;
            let seen = self.rows.get(run_id).map_or(0, |rows| rows.len() as u64);
            if seen == summary.rows && summary.state.is_ended() {
                continue;
            }
            let stored = store.load(run_id).await;
            let stored = stored.map_err(|error| Broken { promise: CONTINUES, detail: error.to_string() })?;
            let before = self.rows.remove(run_id).unwrap_or_default();
            if !stored.rows.starts_with(&before) {
                return broken(CONTINUES, format!("{run_id} had {} rows and has others now", before.len()));
            }
            let records = decode(&stored).map_err(|error| Broken { promise: CONTINUES, detail: error.to_string() })?;
            for record in &records {
                let receipt = match record {
                    Record::Receipted { receipt, .. } => receipt.clone(),
                    Record::Decided(decided) => match &decided.state {
                        CallState::Done(receipt) => (**receipt).clone(),
                        _ => continue,
                    },
                    _ => continue,
                };
                self.receipts.insert(receipt.action_id.to_string(), receipt);
            }
            self.states.insert(run_id.clone(), summary.state);
            self.records.insert(run_id.clone(), records);
            self.rows.insert(run_id.clone(), stored.rows);
        }
        Ok(())
    }

    fn acknowledged(&mut self, orders: &Orders) -> Kept {
        let text = std::fs::read_to_string(acknowledged_file(&orders.folder)).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines[self.acknowledged..] {
            let mut words = line.split(' ');
            let (Some(run_id), Some(sequence), Some(checksum)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let sequence: usize = sequence.parse().expect("a sequence is a number");
            let row = self.rows.get(&RunId::from(run_id)).and_then(|rows| rows.get(sequence - 1));
            let found = row.map(|row| {
                row.checksum.iter().fold(String::new(), |mut text, byte| {
                    let _ = write!(text, "{byte:02x}");
                    text
                })
            });
            if found.as_deref() != Some(checksum) {
                return broken(ACKNOWLEDGED_IS_THERE, *line);
            }
        }
        self.acknowledged = lines.len();
        Ok(())
    }

    fn effects_fit(&self, effects: &[Effect<'_>]) -> Kept {
        let mut happened: HashMap<&str, usize> = HashMap::new();
        let mut in_one_process = HashSet::new();
        let (mut intended, mut excluded) = (HashSet::new(), HashSet::new());
        for records in self.records.values() {
            collect_intents(records, &mut intended, &mut excluded);
        }
        for effect in effects {
            let times = happened.entry(effect.action).or_default();
            *times += 1;
            if *times > 1 && effect.tool != "again" {
                return broken(ONCE, format!("{} of {} happened {times} times", effect.action, effect.tool));
            }
            if !in_one_process.insert((effect.generation, effect.action)) {
                return broken(ONCE, format!("{} happened twice in process {}", effect.action, effect.generation));
            }
            if excluded.contains(effect.action) {
                return broken(EXCLUDED, effect.action);
            }
            if !intended.contains(effect.action) {
                return broken(INTENT_FIRST, format!("{} of {}", effect.action, effect.tool));
            }
        }
        for (action, receipt) in &self.receipts {
            let real = matches!(receipt.outcome, ReceiptOutcome::Returned(_) | ReceiptOutcome::Failed(_));
            if real && receipt.tool != "ask_user" && !happened.contains_key(action.as_str()) {
                return broken(NO_INVENTION, action);
            }
        }
        Ok(())
    }

    /// Looks at the whole conversation, once all its runs have ended.
    pub(crate) async fn look_at_the_end(&self, orders: &Orders) -> Kept {
        let points = Arc::new(Points::new(None, orders.folder.join("unused")));
        let (agent, _) = agent(orders, orders.open(), points);
        let conversation = agent.conversation_id(CONVERSATION).await;
        let conversation =
            conversation.map_err(|error| Broken { promise: TRANSCRIPT, detail: format!("{error:?}") })?;
        let mut messages = conversation.messages().iter().map(|message| &**message).peekable();
        for number in 0..orders.runs {
            let run_id = RunId::from(format!("run-{number}"));
            let state = self.states.get(&run_id).copied();
            expect_text(messages.next(), &prompt(number))?;
            let program = orders.programs.of(number);
            match state {
                Some(RunState::Completed) => {
                    for (turn, steps) in program.iter().enumerate() {
                        expect_text(messages.next(), &format!("note {}", turn + 1))?;
                        self.turn(messages.next(), number, turn, steps, false)?;
                    }
                    expect_text(messages.next(), &format!("note {}", program.len() + 1))?;
                    let answered = format!("{} (checked)", answer(number));
                    expect_text(messages.next(), &answered)?;
                    let last = self.records.get(&run_id).and_then(|records| records.last());
                    if !matches!(last, Some(Record::Completed { content, .. }) if **content == Value::String(answered))
                    {
                        return broken(TRANSCRIPT, format!("{run_id} ended with {last:?}"));
                    }
                }
                Some(RunState::Cancelled) => {
                    for (turn, steps) in program.iter().enumerate() {
                        let note = format!("note {}", turn + 1);
                        if messages.next_if(|message| message.text() == Some(&note)).is_none() {
                            break;
                        }
                        let ends = messages.peek().is_none_or(|_| turn + 1 == program.len());
                        let message = messages.next();
                        let ends = ends || messages.peek().is_none_or(|next| next.text() == Some(&prompt(number + 1)));
                        self.turn(message, number, turn, steps, ends)?;
                    }
                }
                other => return broken(TRANSCRIPT, format!("{run_id} is {other:?}")),
            }
        }
        match messages.next() {
            None => Ok(()),
            Some(more) => broken(TRANSCRIPT, format!("there is more: {more:?}")),
        }
    }

    /// One turn: every call in its place, with an outcome that can be. `cut` says that its run was cancelled in it.
    fn turn(&self, message: Option<&Message>, number: usize, turn: usize, steps: &[Step], cut: bool) -> Kept {
        let calls = message.map(Message::calls).unwrap_or_default();
        let ids: Vec<&str> = calls.iter().map(|exchange| exchange.call.id.as_str()).collect();
        let expected: Vec<String> = (0..steps.len()).map(|index| call_id(number, turn, index)).collect();
        if ids != expected {
            return broken(ANSWERED, format!("{ids:?} are answered of {expected:?}"));
        }
        for (index, (step, exchange)) in steps.iter().zip(calls).enumerate() {
            let action = format!("run-{number}/{}/{index}", turn + 1);
            if !self.outcome_fits(&action, *step, &exchange.outcome, cut) {
                return broken(TRANSCRIPT, format!("{action}, {step:?}: {:?}", exchange.outcome));
            }
        }
        Ok(())
    }

    fn outcome_fits(&self, action: &str, step: Step, outcome: &ToolOutcome, cut: bool) -> bool {
        if cut && matches!(outcome, ToolOutcome::Uncertain | ToolOutcome::Cancelled | ToolOutcome::Withheld { .. }) {
            return true;
        }
        let receipt = self.receipts.get(action);
        if let (Some(Receipt { outcome: ReceiptOutcome::Reconciled(value), .. }), Some(seen)) =
            (receipt, outcome.observed())
        {
            return seen["seen"] == **value;
        }
        match (step, outcome) {
            (Step::Ask, ToolOutcome::Observed(value)) => value["seen"] == "blue",
            (Step::Plain | Step::Again | Step::Approved | Step::Forbidden, ToolOutcome::Observed(value)) => {
                value["seen"]["of"] == *action && receipt.is_some()
            }
            (Step::Fails, ToolOutcome::Failed(_)) => receipt.is_some(),
            (Step::Rejected, ToolOutcome::Denied(_)) | (Step::Forbidden | Step::Refuses, ToolOutcome::Rejected(_)) => {
                true
            }
            _ => false,
        }
    }
}

fn effect(line: &str) -> Effect<'_> {
    let mut words = line.split(' ');
    let mut word = || words.next().expect("an effect has three words");
    Effect { generation: word(), action: word(), tool: word() }
}

fn expect_text(message: Option<&Message>, text: &str) -> Kept {
    match message.and_then(Message::text) {
        Some(found) if found == text => Ok(()),
        found => broken(TRANSCRIPT, format!("{text:?} should stand where {found:?} stands")),
    }
}

/// The actions that a run intended, and those whose tool its step excluded.
fn collect_intents(records: &[Record], intended: &mut HashSet<String>, excluded: &mut HashSet<String>) {
    for record in records {
        match record {
            Record::Replied(replied) => {
                for call in &replied.calls {
                    if call.state == CallState::Intended {
                        intended.insert(call.action_id.to_string());
                    }
                    if !replied.roster.contains(&call.call.name) {
                        excluded.insert(call.action_id.to_string());
                    }
                }
            }
            Record::Dispatched { actions, .. } => intended.extend(actions.iter().map(ToString::to_string)),
            _ => {}
        }
    }
}
