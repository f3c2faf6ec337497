//! Rules about what is deleted: all of it, and nothing else.

use super::rules;
use super::trial::{LONG, Trial, Verdict, busy, ensure, not_found, refused, row, unexpected};
use crate::durable::{Page, RunFilter, RunState};
use crate::ids::RunId;

rules![
    a_deleted_run_is_gone,
    a_leased_run_is_not_deleted,
    prune_deletes_what_ended_before,
    prune_leaves_what_somebody_holds,
    prune_deletes_any_number,
];

async fn gone(trial: &Trial, id: &str) -> Verdict {
    let run_id = RunId::from(id);
    refused("load of a deleted run", trial.store.load(&run_id).await, id, "NotFound", not_found)?;
    let acquired = trial.store.acquire(&run_id, LONG).await;
    refused("acquire of a deleted run", acquired, id, "NotFound", not_found)?;
    let listed = trial.store.list(&RunFilter::new(), Page::first(u32::MAX)).await;
    let listed = listed.map_err(unexpected("list"))?;
    ensure(listed.runs.iter().all(|run| run.run_id != run_id), || format!("`{id}` is listed"))
}

async fn delete(trial: &Trial, id: &str) -> Result<bool, String> {
    trial.store.delete(&RunId::from(id)).await.map_err(unexpected("delete"))
}

async fn prune(trial: &Trial, expected: u64) -> Verdict {
    let pruned = trial.store.prune(trial.now()).await.map_err(unexpected("prune"))?;
    ensure(pruned == expected, || format!("{pruned} runs were pruned; expected {expected}"))
}

async fn a_deleted_run_is_gone(trial: &Trial) -> Verdict {
    ensure(!delete(trial, "a").await?, || "a run that never was has been deleted".to_owned())?;
    let neighbour = trial.create("b", LONG).await?;
    let lease = trial.create("a", LONG).await?;
    trial.append_as(&lease, 2, RunState::Paused).await?;
    trial.release(lease).await?;
    ensure(delete(trial, "a").await?, || "a run that was there has not been deleted".to_owned())?;
    gone(trial, "a").await?;
    ensure(!delete(trial, "a").await?, || "it was deleted twice".to_owned())?;
    let lease = trial.create("a", LONG).await?;
    let rows = trial.load("a").await?.rows;
    ensure(rows == [row("a", 1)], || "old rows came back with a new run of the name".to_owned())?;
    trial.append(&lease, 2).await?;
    trial.append(&neighbour, 2).await
}

async fn a_leased_run_is_not_deleted(trial: &Trial) -> Verdict {
    let lease = trial.create("a", trial.short()).await?;
    let answer = trial.store.delete(&RunId::from("a")).await;
    refused("delete of a leased run", answer, "a", "Busy", busy)?;
    trial.append(&lease, 2).await?;
    trial.outlast_short().await;
    ensure(delete(trial, "a").await?, || "it was not deleted after the lease".to_owned())?;
    gone(trial, "a").await
}

async fn prune_deletes_what_ended_before(trial: &Trial) -> Verdict {
    for state in [RunState::Running, RunState::Paused, RunState::Completed, RunState::Failed, RunState::Cancelled] {
        let lease = trial.create(state.as_str(), LONG).await?;
        trial.append_as(&lease, 2, state).await?;
        trial.release(lease).await?;
    }
    let ended = trial.load("completed").await?.summary.ended_at;
    let ended = ended.ok_or("a completed run has no end")?;
    let pruned = trial.store.prune(ended).await.map_err(unexpected("prune"))?;
    ensure(pruned == 0, || "a run was pruned that did not end before the moment".to_owned())?;
    trial.tick().await;
    let later = trial.create("later", LONG).await?;
    trial.tick().await;
    prune(trial, 3).await?;
    for id in ["completed", "failed", "cancelled"] {
        gone(trial, id).await?;
    }
    for id in ["running", "paused", "later"] {
        trial.load(id).await?;
    }
    trial.end(later, 1).await?;
    trial.tick().await;
    prune(trial, 1).await
}

async fn prune_leaves_what_somebody_holds(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    trial.append_as(&lease, 2, RunState::Failed).await?;
    trial.tick().await;
    prune(trial, 0).await?;
    trial.append_as(&lease, 3, RunState::Running).await?;
    trial.end(lease, 3).await?;
    trial.tick().await;
    prune(trial, 1).await
}

async fn prune_deletes_any_number(trial: &Trial) -> Verdict {
    const RUNS: u64 = 150;
    for number in 0..RUNS {
        let lease = trial.create(&format!("run {number}"), LONG).await?;
        trial.end(lease, 1).await?;
    }
    trial.tick().await;
    prune(trial, RUNS).await?;
    prune(trial, 0).await
}
