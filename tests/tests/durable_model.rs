//! D1 to D4, D9 to D11, M2, M6, M9, M13, F3: random programs of hooks, replies, failures, pauses and deaths against a
//! reference in memory that says in a few lines what the contract asks for.

#[path = "durable_model/drive.rs"]
mod drive;
#[path = "durable_model/plan.rs"]
mod plan;
#[path = "durable_model/reference.rs"]
mod reference;

use drive::{Twist, drive};
use plan::{Call, Death, Edit, Failing, Plan, RunPlan, Turn, plans};
use proptest::prelude::*;
use protolink_tests::durable::Place;

fn check(place: &Place, plan: &Plan, twist: Option<Twist>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(drive(place, plan, twist)).map_err(|error| error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d2_any_program_does_in_memory_what_the_reference_says(plan in plans()) {
        check(&Place::memory(), &plan, None).map_err(TestCaseError::fail)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d2_any_program_does_on_a_file_what_the_reference_says(plan in plans()) {
        let place = Place::file().expect("a folder can be made");
        check(&place, &plan, None).map_err(TestCaseError::fail)?;
    }
}

/// A run with something of everything, that dies in the middle and fails once.
fn everything() -> Plan {
    let turn = |calls: &[Call], edit| Turn { calls: calls.to_vec(), edit, fails: false };
    let run = RunPlan {
        turns: vec![
            turn(&[Call::Plain, Call::Removed], Edit::Push),
            turn(&[Call::Approve(true), Call::Approve(false), Call::Ask], Edit::Mark),
        ],
        last_edit: Edit::System,
        revision: true,
        failing: Some(Failing::AfterTool(1)),
    };
    Plan { runs: vec![run.clone(), run], deaths: vec![Death { at: 4, after: true }, Death { at: 3, after: false }] }
}

#[test]
fn d2_the_reference_holds_for_something_of_everything() -> Result<(), String> {
    check(&Place::memory(), &everything(), None)
}

/// The check bites: an agent that is wrong in one way is found out by one program.
#[test]
fn d2_the_reference_finds_each_wrong_agent_out() {
    for twist in
        [Twist::EditsTwice, Twist::RunsTwice, Twist::ForgetsTheMark, Twist::AnswersUnchecked, Twist::SkipsTheWord]
    {
        let told = check(&Place::memory(), &everything(), Some(twist));
        assert!(told.is_err(), "nobody noticed {twist:?}");
    }
}
