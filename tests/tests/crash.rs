//! D1 to D3, D7: processes that are killed on a real file, at every point and at any moment, lose nothing that was
//! committed and do nothing twice.
//!
//! A child process is this binary again, with its orders in an environment variable. It plays a scripted agent; the
//! parent kills it with SIGKILL, starts another one that goes on, and checks what has to hold each time. Two thousand
//! kills at random moments take well under a minute; `PROTOLINK_CRASH_KILLS` asks for more.

#[path = "crash/check.rs"]
mod check;
#[path = "crash/child.rs"]
mod child;
#[path = "crash/parent.rs"]
mod parent;
#[path = "crash/point.rs"]
mod point;
#[path = "crash/program.rs"]
mod program;
#[path = "crash/store.rs"]
mod store;

use std::collections::BTreeMap;

use child::Orders;
use parent::{Folder, kill_at_every_point, kill_at_random};
use program::{Program, Programs, Step};
use store::{LIES, Lie};

/// Where this process is a child, it does a child's work and does not return.
fn work_if_child() {
    if let Some(orders) = Orders::given() {
        child::work(&orders);
    }
}

fn programs() -> BTreeMap<&'static str, Vec<Program>> {
    use Step::{Again, Approved, Ask, Fails, Forbidden, Plain, Refuses, Rejected, Stop};
    BTreeMap::from([
        ("a tool step", vec![vec![vec![Plain]]]),
        ("several calls in one turn", vec![vec![vec![Plain, Again, Forbidden, Refuses, Fails]]]),
        ("approvals", vec![vec![vec![Approved, Plain, Rejected, Approved]]]),
        ("a question beside a call", vec![vec![vec![Ask, Again]]]),
        ("a conversation", vec![vec![vec![Plain]], vec![vec![Forbidden], vec![Again]]]),
        ("a cancellation", vec![vec![vec![Plain, Stop]], vec![vec![Plain]]]),
    ])
}

#[test]
fn d2_killed_at_every_point_nothing_is_lost_or_done_twice() {
    work_if_child();
    let name = "d2_killed_at_every_point_nothing_is_lost_or_done_twice";
    let mut kills = 0;
    for (what, programs) in programs() {
        let killed = kill_at_every_point(name, &Programs::Listed(programs), None);
        kills += killed.unwrap_or_else(|(point, broken)| panic!("{what}, killed at point {point}: {broken}"));
    }
    println!("killed {kills} processes, one at each point");
    assert!(kills > 100, "{kills}");
}

#[test]
fn d2_killed_at_random_moments_nothing_is_lost_or_done_twice() {
    work_if_child();
    let name = "d2_killed_at_random_moments_nothing_is_lost_or_done_twice";
    let kills = std::env::var("PROTOLINK_CRASH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(2_000);
    let told = kill_at_random(name, kills);
    println!("{told}");
}

/// Each promise of the check is seen to be broken where something breaks it.
#[test]
fn d2_each_promise_that_is_broken_is_found_out() {
    use Step::{Again, Forbidden, Plain};
    work_if_child();
    let name = "d2_each_promise_that_is_broken_is_found_out";
    for lie in LIES {
        let (programs, promises): (Vec<Program>, &[&str]) = match lie {
            Lie::LateReceipts => (vec![vec![vec![Plain]]], &[check::ACKNOWLEDGED_IS_THERE]),
            Lie::LateIntents => (vec![vec![vec![Plain]]], &[check::INTENT_FIRST]),
            Lie::HidesReceipts => (vec![vec![vec![Again]]], &[check::NOT_AGAIN]),
            Lie::HidesIntents => (vec![vec![vec![Plain]]], &[check::ONCE]),
            Lie::AllowsRefused => (vec![vec![vec![Forbidden]]], &[check::EXCLUDED]),
            Lie::HidesHistory => (vec![vec![vec![Plain], vec![Again]]], &[check::TRANSCRIPT]),
            Lie::HidesCall => (vec![vec![vec![Plain, Again]]], &[check::ANSWERED]),
            Lie::LosesLastRow => (vec![vec![vec![Plain]]], &[check::CONTINUES, check::ACKNOWLEDGED_IS_THERE]),
        };
        let Err((_, broken)) = kill_at_every_point(name, &Programs::Listed(programs), Some(lie)) else {
            panic!("nobody noticed {lie:?}")
        };
        assert!(promises.contains(&broken.promise), "{lie:?} was taken for: {broken}");
    }
}

/// The check of what is invented, which no store can bring about.
#[test]
fn d1_a_receipt_without_its_effect_is_found_out() {
    work_if_child();
    let name = "d1_a_receipt_without_its_effect_is_found_out";
    let mut folder = Folder::new(Programs::Listed(vec![vec![vec![Step::Plain]]]), 1, None);
    folder.work(name, None);
    std::fs::write(child::effects_file(&folder.orders.folder), "").expect("the folder is there");
    let broken = folder.look_anew().expect_err("the effect is gone");
    assert_eq!(broken.promise, check::NO_INVENTION);
}
