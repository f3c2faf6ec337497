//! Rules about leases: one owner a run, and a worker that lost its lease commits nothing.

use std::time::Duration;

use super::rules;
use super::trial::{LONG, Trial, Verdict, busy, ensure, lost, not_found, refused, row};
use crate::durable::{Lease, RunState, StoreError};
use crate::ids::RunId;

rules![
    a_live_lease_keeps_others_out,
    a_lease_of_no_run_says_not_found,
    a_lease_that_ran_out_can_be_had,
    a_lease_that_ran_out_commits_nothing,
    a_lease_that_was_taken_over_commits_nothing,
    a_lost_lease_counts_before_the_sequence,
    a_renewed_lease_runs_on_under_its_epoch,
    an_append_does_not_renew,
    a_renewal_can_shorten,
    a_released_run_can_be_had_at_once,
    a_released_lease_commits_nothing,
    a_release_of_a_lost_lease_changes_nothing,
    epochs_only_rise,
    a_lease_of_a_deleted_run_is_worth_nothing,
    of_rivals_for_one_run_one_wins,
    a_clock_set_forward_ends_leases,
    a_clock_set_back_lengthens_no_lease_by_more_than_its_length,
];

async fn a_live_lease_keeps_others_out(trial: &Trial) -> Verdict {
    let created = trial.create("a", LONG).await?;
    let keeps_out = async |lease: &Lease| {
        let answer = trial.store.acquire(&RunId::from("a"), LONG).await;
        let until = match &answer {
            Err(StoreError::Busy { until, .. }) => Some(*until),
            _ => None,
        };
        refused("acquire under a live lease", answer, "a", "Busy", busy)?;
        ensure(until == Some(lease.expires_at()), || {
            format!("busy until {until:?}, but the lease runs until {}", lease.expires_at())
        })
    };
    keeps_out(&created).await?;
    trial.append(&created, 2).await?;
    trial.release(created).await?;
    let acquired = trial.acquire("a", LONG).await?;
    keeps_out(&acquired).await?;
    trial.append(&acquired, 3).await
}

async fn a_lease_of_no_run_says_not_found(trial: &Trial) -> Verdict {
    let answer = trial.store.acquire(&RunId::from("a"), LONG).await;
    refused("acquire", answer, "a", "NotFound", not_found)?;
    let lease = Lease::new("a".into(), 1, "nobody", trial.now().after(LONG));
    let answer = trial.store.append(&lease, row("a", 1), RunState::Running).await;
    refused("append to no run", answer, "a", "LeaseLost", lost)?;
    let answer = trial.store.renew(&lease, LONG).await;
    refused("renew of no run", answer, "a", "LeaseLost", lost)?;
    trial.release(lease).await
}

async fn a_lease_that_ran_out_can_be_had(trial: &Trial) -> Verdict {
    let first = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    let second = trial.acquire("a", LONG).await?;
    ensure(second.epoch() > first.epoch(), || format!("epoch {} follows {}", second.epoch(), first.epoch()))?;
    trial.append(&second, 2).await
}

async fn a_lease_that_ran_out_commits_nothing(trial: &Trial) -> Verdict {
    let lease = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    commits_nothing(trial, &lease, 1).await
}

async fn a_lease_that_was_taken_over_commits_nothing(trial: &Trial) -> Verdict {
    let slow = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    let quick = trial.acquire("a", LONG).await?;
    commits_nothing(trial, &slow, 1).await?;
    trial.append(&quick, 2).await?;
    commits_nothing(trial, &slow, 2).await
}

/// Appends and renews under a lease that is lost, and looks whether that left anything.
async fn commits_nothing(trial: &Trial, lease: &Lease, rows: u64) -> Verdict {
    let before = trial.load("a").await?;
    let answer = trial.store.append(lease, row("a", rows + 1), RunState::Completed).await;
    refused("append under a lost lease", answer, "a", "LeaseLost", lost)?;
    let answer = trial.store.renew(lease, LONG).await;
    refused("renew of a lost lease", answer, "a", "LeaseLost", lost)?;
    let after = trial.load("a").await?;
    ensure(before == after, || format!("it left {:?}", after.summary))
}

async fn a_lost_lease_counts_before_the_sequence(trial: &Trial) -> Verdict {
    let slow = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    let quick = trial.acquire("a", LONG).await?;
    trial.append(&quick, 2).await?;
    let answer = trial.store.append(&slow, row("a", 2), RunState::Running).await;
    refused("append of an old row under a lost lease", answer, "a", "LeaseLost", lost)
}

async fn a_renewed_lease_runs_on_under_its_epoch(trial: &Trial) -> Verdict {
    let lease = trial.create("a", trial.short()).await?;
    let renewed = trial.store.renew(&lease, LONG).await;
    let renewed = renewed.map_err(|error| format!("renew failed: {error}"))?;
    ensure(renewed.epoch() == lease.epoch() && renewed.run_id() == lease.run_id(), || {
        format!("the lease {lease:?} was renewed as {renewed:?}")
    })?;
    ensure(renewed.expires_at() > lease.expires_at(), || "it runs no longer".to_owned())?;
    trial.outlast_short().await;
    let answer = trial.store.acquire(&RunId::from("a"), LONG).await;
    refused("acquire under a renewed lease", answer, "a", "Busy", busy)?;
    trial.append(&renewed, 2).await?;
    // The one given to `renew` is the same lease.
    trial.append(&lease, 3).await
}

async fn an_append_does_not_renew(trial: &Trial) -> Verdict {
    let lease = trial.create("a", trial.short()).await?;
    trial.pass(trial.short() / 2).await;
    trial.append(&lease, 2).await?;
    trial.pass(trial.short() / 2).await;
    trial.acquire("a", LONG).await.map(drop)
}

async fn a_renewal_can_shorten(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    let renewed = trial.store.renew(&lease, trial.short()).await;
    renewed.map_err(|error| format!("renew failed: {error}"))?;
    trial.outlast_short().await;
    trial.acquire("a", LONG).await.map(drop)
}

async fn a_released_run_can_be_had_at_once(trial: &Trial) -> Verdict {
    let first = trial.create("a", LONG).await?;
    trial.release(first.clone()).await?;
    let second = trial.acquire("a", LONG).await?;
    ensure(second.epoch() > first.epoch(), || format!("epoch {} follows {}", second.epoch(), first.epoch()))
}

async fn a_released_lease_commits_nothing(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    trial.release(lease.clone()).await?;
    commits_nothing(trial, &lease, 1).await
}

async fn a_release_of_a_lost_lease_changes_nothing(trial: &Trial) -> Verdict {
    let slow = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    let quick = trial.acquire("a", LONG).await?;
    trial.release(slow.clone()).await?;
    trial.release(slow).await?;
    let answer = trial.store.acquire(&RunId::from("a"), LONG).await;
    refused("acquire after the release of a lost lease", answer, "a", "Busy", busy)?;
    trial.append(&quick, 2).await?;
    trial.release(quick.clone()).await?;
    trial.release(quick).await
}

async fn epochs_only_rise(trial: &Trial) -> Verdict {
    let mut last = trial.create("a", LONG).await?;
    for _ in 0..5 {
        let epoch = last.epoch();
        trial.release(last).await?;
        last = trial.acquire("a", LONG).await?;
        ensure(last.epoch() > epoch, || format!("epoch {} follows {epoch}", last.epoch()))?;
    }
    Ok(())
}

async fn a_lease_of_a_deleted_run_is_worth_nothing(trial: &Trial) -> Verdict {
    let old = trial.create("a", trial.short()).await?;
    trial.outlast_short().await;
    let deleted = trial.store.delete(&RunId::from("a")).await;
    ensure(matches!(deleted, Ok(true)), || format!("delete said {deleted:?}"))?;
    let answer = trial.store.append(&old, row("a", 2), RunState::Running).await;
    refused("append to a deleted run", answer, "a", "LeaseLost", lost)?;
    let new = trial.create("a", LONG).await?;
    commits_nothing(trial, &old, 1).await?;
    trial.release(old).await?;
    trial.append(&new, 2).await
}

async fn of_rivals_for_one_run_one_wins(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    trial.release(lease).await?;
    let rivals = (0..8).map(|_| {
        let store = trial.store.clone();
        tokio::spawn(async move { store.acquire(&RunId::from("a"), LONG).await })
    });
    let mut winners = Vec::new();
    for rival in rivals.collect::<Vec<_>>() {
        match rival.await.map_err(|error| error.to_string())? {
            Ok(lease) => winners.push(lease),
            Err(StoreError::Busy { .. }) => {}
            Err(error) => return Err(format!("a loser got `{error}`; expected Busy")),
        }
    }
    match winners.as_slice() {
        [winner] => trial.append(winner, 2).await,
        _ => Err(format!("{} of 8 got the lease", winners.len())),
    }
}

async fn a_clock_set_forward_ends_leases(trial: &Trial) -> Verdict {
    let Some(clock) = trial.clock() else {
        return Ok(());
    };
    let lease = trial.create("a", LONG).await?;
    clock.advance(LONG);
    commits_nothing(trial, &lease, 1).await?;
    let next = trial.acquire("a", LONG).await?;
    clock.rewind(LONG);
    // Right again, the clock does not bring the lost lease back.
    commits_nothing(trial, &lease, 1).await?;
    trial.append(&next, 2).await
}

async fn a_clock_set_back_lengthens_no_lease_by_more_than_its_length(trial: &Trial) -> Verdict {
    let Some(clock) = trial.clock() else {
        return Ok(());
    };
    let holder = trial.create("a", trial.short()).await?;
    clock.rewind(Duration::from_hours(24 * 365));
    let answer = trial.store.acquire(&RunId::from("a"), LONG).await;
    refused("acquire while the holder may be alive", answer, "a", "Busy", busy)?;
    trial.append(&holder, 2).await?;
    trial.outlast_short().await;
    let next = trial.acquire("a", LONG).await?;
    commits_nothing(trial, &holder, 2).await?;
    trial.append(&next, 3).await
}
