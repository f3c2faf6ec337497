//! What is drawn at random: runs of one conversation, and the commits at which their processes die.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// An effect that must not happen twice.
    Plain,
    /// An effect that may be repeated.
    Again,
    /// A tool that the hook takes away at each step.
    Removed,
    /// An effect that waits for a person, who says this.
    Approve(bool),
    /// A question to the user.
    Ask,
    /// An effect whose tool then fails, and says so to the model.
    Report,
    /// A tool that refuses, with nothing done.
    Refuse,
}

/// What the `before_model` hook does at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    Nothing,
    /// Adds a message from now on.
    Push,
    /// Adds a message for this request.
    Here,
    /// Marks the oldest message, if it is a user message.
    Mark,
    /// Takes the oldest message out, if another user message is left.
    Drop,
    /// Sets the system message from now on.
    System,
}

#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) calls: Vec<Call>,
    pub(crate) edit: Edit,
    /// Whether the model fails the first time that it is asked.
    pub(crate) fails: bool,
}

/// The hook that fails, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    BeforeModel(u32),
    AfterTool(u32),
    BeforeComplete,
}

#[derive(Clone, Debug)]
pub(crate) struct RunPlan {
    pub(crate) turns: Vec<Turn>,
    /// The edit at the step that gives the answer.
    pub(crate) last_edit: Edit,
    /// Whether the first answer goes back to the model.
    pub(crate) revision: bool,
    pub(crate) failing: Option<Failing>,
}

/// A process dies at one of its commits, before or after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Death {
    pub(crate) at: u64,
    pub(crate) after: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) runs: Vec<RunPlan>,
    /// How the first processes die; those after them live on.
    pub(crate) deaths: Vec<Death>,
}

fn calls() -> impl Strategy<Value = Call> {
    prop_oneof![
        3 => Just(Call::Plain),
        2 => Just(Call::Again),
        1 => Just(Call::Removed),
        2 => any::<bool>().prop_map(Call::Approve),
        1 => Just(Call::Ask),
        1 => Just(Call::Report),
        1 => Just(Call::Refuse),
    ]
}

fn edits() -> impl Strategy<Value = Edit> {
    prop_oneof![
        Just(Edit::Nothing),
        Just(Edit::Push),
        Just(Edit::Here),
        Just(Edit::Mark),
        Just(Edit::Drop),
        Just(Edit::System),
    ]
}

fn turns() -> impl Strategy<Value = Turn> {
    (vec(calls(), 1..4), edits(), prop::bool::weighted(0.2)).prop_map(|(calls, edit, fails)| Turn {
        calls,
        edit,
        fails,
    })
}

fn runs() -> impl Strategy<Value = RunPlan> {
    let failing = prop_oneof![
        (1_u32..4).prop_map(Failing::BeforeModel),
        (1_u32..4).prop_map(Failing::AfterTool),
        Just(Failing::BeforeComplete),
    ];
    (vec(turns(), 0..4), edits(), prop::bool::weighted(0.2), option::weighted(0.3, failing))
        .prop_map(|(turns, last_edit, revision, failing)| RunPlan { turns, last_edit, revision, failing })
}

pub(crate) fn plans() -> impl Strategy<Value = Plan> {
    let deaths = (1_u64..9, any::<bool>()).prop_map(|(at, after)| Death { at, after });
    (vec(runs(), 1..4), vec(deaths, 0..6)).prop_map(|(runs, deaths)| Plan { runs, deaths })
}
