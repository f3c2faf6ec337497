//! Where the contract asks for something else than was recorded.
//!
//! The recorded implementation breaks, or never gave, some of the contract's promises. Each such scenario of the
//! project's own file is listed here with its clause and with what is expected instead. [`rules`](crate::rules) says the
//! same of scenarios that are not listed.

use serde_json::json;

use crate::scenario::{Expectation, ExpectedError, ExpectedResult, Scenario};

/// One scenario whose record the contract overrules.
pub(crate) struct Deviation {
    pub(crate) id: &'static str,
    pub(crate) clause: &'static str,
    pub(crate) instead: &'static str,
    change: fn(&mut Expectation),
}

/// All of them.
pub(crate) const DEVIATIONS: [Deviation; 6] = [
    Deviation {
        id: "B16",
        clause: "S5",
        instead: "a hook's error fails the run, whatever its class; only a token or a handle cancels",
        change: |expected| expected.commands[0].result.task_state = Some("failed".to_owned()),
    },
    Deviation {
        id: "F05",
        clause: "P1",
        instead: "a denied call is told to the model as a correction, and the run goes on to its answer",
        change: |expected| {
            let command = &mut expected.commands[0];
            command.result = completed("x");
            command.hooks.extend(["before_model:A@2".to_owned(), "before_complete:A@2".to_owned()]);
            command.rosters.push(vec!["eff".to_owned()]);
        },
    },
    Deviation {
        id: "K03",
        clause: "P1",
        instead: "a rejected call is told to the model as a correction, and the run goes on to its answer",
        change: |expected| {
            let command = &mut expected.commands[1];
            command.result = completed("x");
            command.hooks.extend(["before_model:A@2".to_owned(), "before_complete:A@2".to_owned()]);
            command.rosters.push(vec!["danger".to_owned(), "pay".to_owned()]);
        },
    },
    Deviation {
        id: "K08",
        clause: "D6",
        instead: "hooks are ordered within their stage (S2): these two share none, so no run can tell the order of \
                  their groups, the fingerprint is the same, and the resume goes on as without a change",
        change: |expected| {
            expected.commands[3].result.fingerprint = expected.commands[1].result.fingerprint.clone();
            let command = &mut expected.commands[4];
            command.result = completed("x");
            command.hooks = ["after_tool:A@1", "before_model:A@2", "before_complete:B@2"].map(str::to_owned).to_vec();
            command.rosters = vec![["danger", "pay", "read_context_artifact"].map(str::to_owned).to_vec()];
            expected.totals.tool_executions.insert("pay".to_owned(), 1);
        },
    },
    Deviation {
        id: "K09",
        clause: "D6",
        instead: "a changed body is another contract, and the resume is refused (D5). The scenario's hooks stand for \
                  annotated functions, whose source is in the fingerprint; they are registered as closures, which have \
                  no source to look at (S6), under names that carry what they do",
        change: |expected| {
            expected.commands[3].result.fingerprint = Some("another".to_owned());
            let command = &mut expected.commands[4];
            command.result = ExpectedResult { error: Some(contract_changed()), ..ExpectedResult::default() };
            command.hooks.clear();
            command.rosters.clear();
            expected.totals.tool_executions.clear();
        },
    },
    Deviation {
        id: "L01",
        clause: "P2",
        instead: "a budget that is used up is seen when the step starts, before its hooks spend work",
        change: |expected| drop(expected.commands[0].hooks.pop()),
    },
];

fn completed(answer: &str) -> ExpectedResult {
    let outputs = Some(vec![json!(answer)]);
    ExpectedResult { task_state: Some("completed".to_owned()), outputs, ..ExpectedResult::default() }
}

/// The refusal of a resume whose agent is not the one that the run was started with (contract D5).
pub(crate) fn contract_changed() -> ExpectedError {
    let class = "CheckpointMismatchError".to_owned();
    ExpectedError { class, message: String::new(), kind: Some("ContractChanged") }
}

/// The deviation of a scenario that is one of the project's own, and what is expected of it.
pub(crate) fn of(scenario: &Scenario, own: &[Scenario]) -> Option<(&'static Deviation, Expectation)> {
    let deviation = DEVIATIONS.iter().find(|deviation| deviation.id == scenario.id)?;
    let is_own = |own: &Scenario| own.id == scenario.id && own.setup == scenario.setup && own.run == scenario.run;
    if !own.iter().any(is_own) {
        return None;
    }
    let mut expected = scenario.expect.clone();
    (deviation.change)(&mut expected);
    expected.count();
    Some((deviation, expected))
}
