//! What the contract asks for, without journal, leases and processes: a list of messages, and what is done to it.

use std::collections::{BTreeMap, HashMap};

use super::plan::{Call, Edit, Plan};

/// One message as a line of text.
pub(crate) type Line = String;

/// A request as it is sent: the system message, and the messages.
pub(crate) type Request = (String, Vec<Line>);

pub(crate) struct Expected {
    /// The conversation at the end.
    pub(crate) conversation: Vec<Line>,
    /// The request of each step of each run; every attempt sends this one.
    pub(crate) requests: BTreeMap<(usize, u32), Request>,
    pub(crate) answers: Vec<String>,
    pub(crate) steps: Vec<u32>,
    /// What each action's effect should be counted as; `None` where it may be repeated.
    pub(crate) effects: HashMap<String, Option<usize>>,
}

pub(crate) fn user(text: &str) -> Line {
    format!("user: {text}")
}

pub(crate) fn assistant(text: &str) -> Line {
    format!("assistant: {text}")
}

pub(crate) fn prompt(run: usize) -> String {
    format!("prompt {run}")
}

pub(crate) fn candidate(run: usize) -> String {
    format!("draft {run}")
}

pub(crate) fn proposal(run: usize, revised: bool) -> String {
    if revised { format!("better {run}") } else { candidate(run) }
}

pub(crate) const FEEDBACK: &str = "once more";
pub(crate) const INSTRUCTIONS: &str = "Answer.";

pub(crate) fn action(run: usize, step: usize, index: usize) -> String {
    format!("run-{run}/{step}/{index}")
}

/// What becomes of a plan, when the application said of these actions whether they happened.
pub(crate) fn expected(plan: &Plan, reconciled: &HashMap<String, bool>) -> Expected {
    let mut said = Expected {
        conversation: Vec::new(),
        requests: BTreeMap::new(),
        answers: Vec::new(),
        steps: Vec::new(),
        effects: HashMap::new(),
    };
    let mut system = INSTRUCTIONS.to_owned();
    for (number, run) in plan.runs.iter().enumerate() {
        said.conversation.push(user(&prompt(number)));
        let mut receipts = 0;
        let answers_at = run.turns.len() + 1;
        let last = answers_at + usize::from(run.revision);
        for step in 1..=last {
            let turn = run.turns.get(step - 1);
            let edit = match turn {
                Some(turn) => turn.edit,
                None if step == answers_at => run.last_edit,
                None => Edit::Nothing,
            };
            // M13: the conversation, and what only this request holds.
            let mut only_here = Vec::new();
            if step > answers_at {
                only_here.extend([assistant(&candidate(number)), user(FEEDBACK)]);
            }
            match edit {
                Edit::Nothing => {}
                Edit::Push => said.conversation.push(user(&format!("note {number}.{step}"))),
                Edit::Here => only_here.push(user(&format!("here {number}.{step}"))),
                Edit::Mark => {
                    if said.conversation[0].starts_with("user") {
                        said.conversation[0].push('!');
                    }
                }
                Edit::Drop => {
                    if said.conversation[1..].iter().any(|line| line.starts_with("user")) {
                        said.conversation.remove(0);
                    }
                }
                Edit::System => system = format!("system {number}.{step}"),
            }
            let sent = said.conversation.iter().cloned().chain(only_here).collect();
            let place = (number, u32::try_from(step).unwrap_or(u32::MAX));
            said.requests.insert(place, (system.clone(), sent));
            if let Some(turn) = turn {
                let mut line = "assistant".to_owned();
                for (index, call) in turn.calls.iter().enumerate() {
                    let action = action(number, step, index);
                    line.extend([" [", &outcome(*call, &action, reconciled), "]"]);
                    receipts += usize::from(!matches!(call, Call::Removed | Call::Approve(false)));
                    let times = match (call, reconciled.get(&action)) {
                        (Call::Removed | Call::Approve(false) | Call::Ask | Call::Refuse, _) => Some(0),
                        (_, Some(happened)) => Some(usize::from(*happened)),
                        (Call::Again, None) => None,
                        (Call::Plain | Call::Approve(true) | Call::Report, None) => Some(1),
                    };
                    said.effects.insert(action, times);
                }
                said.conversation.push(line);
            }
        }
        // F7: the check has seen every receipt.
        let answer = format!("{}, checked against {receipts}", proposal(number, run.revision));
        said.conversation.push(assistant(&answer));
        said.answers.push(answer);
        said.steps.push(u32::try_from(last).unwrap_or(u32::MAX));
    }
    said
}

fn outcome(call: Call, action: &str, reconciled: &HashMap<String, bool>) -> String {
    if let Some(happened) = reconciled.get(action) {
        return format!(r#"{{"seen":{{"happened":{happened}}}}}"#);
    }
    match call {
        Call::Plain | Call::Again | Call::Approve(true) => format!(r#"{{"seen":{{"of":"{action}"}}}}"#),
        Call::Ask => r#"{"seen":"blue"}"#.to_owned(),
        Call::Removed | Call::Refuse => "rejected".to_owned(),
        Call::Approve(false) => "denied".to_owned(),
        Call::Report => "failed".to_owned(),
    }
}
