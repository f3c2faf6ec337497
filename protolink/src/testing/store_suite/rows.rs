//! Rules about rows: what is committed is there, whole, in its place, once.

use std::future::poll_fn;
use std::task::Poll;

use super::rules;
use super::trial::{LONG, Trial, Verdict, ensure, not_found, refused, row, unexpected};
use crate::durable::{Lease, NewRun, Row, RunState, StoreError};
use crate::ids::RunId;

rules![
    a_created_run_is_there_as_it_was_given,
    create_refuses_an_id_that_is_taken,
    create_wants_row_one,
    a_load_of_no_run_says_not_found,
    appended_rows_are_there_in_order_with_the_state,
    an_end_is_noted_and_a_run_taken_up_again_has_none,
    append_wants_the_next_row,
    rows_are_carried_as_they_are,
    runs_do_not_mix,
    many_runs_append_at_once,
    of_rivals_for_one_row_one_wins,
    a_dropped_call_leaves_all_or_nothing,
];

async fn a_created_run_is_there_as_it_was_given(trial: &Trial) -> Verdict {
    let mut run = NewRun::new("run ü/1", "Ägent");
    run.conversation = Some("conversation \u{1F600}".to_owned());
    run.labels.insert("tenant".to_owned(), "a 'quoted' \"name\"".to_owned());
    run.labels.insert(String::new(), String::new());
    let before = trial.now();
    let lease = trial.store.create(run.clone(), row("run ü/1", 1), LONG).await;
    let lease = lease.map_err(unexpected("create"))?;
    let after = trial.now();
    ensure(*lease.run_id() == "run ü/1", || format!("the lease is for {}", lease.run_id()))?;
    let stored = trial.load("run ü/1").await?;
    let summary = &stored.summary;
    let created = summary.created_at;
    ensure(before <= created && created <= after, || format!("created at {created}"))?;
    ensure(summary.updated_at == created, || format!("updated at {}", summary.updated_at))?;
    ensure(summary.ended_at.is_none(), || "it has an end".to_owned())?;
    ensure(summary.state == RunState::Running, || format!("its state is {}", summary.state))?;
    ensure(summary.rows == 1, || format!("it counts {} rows", summary.rows))?;
    ensure(
        summary.run_id == run.run_id
            && summary.agent == run.agent
            && summary.conversation == run.conversation
            && summary.labels == run.labels,
        || format!("{run:?} came back as {summary:?}"),
    )?;
    ensure(stored.rows == [row("run ü/1", 1)], || format!("its rows are {:?}", stored.rows))
}

async fn create_refuses_an_id_that_is_taken(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    let other = Row::new(&RunId::from("a"), 1, 9, "{}");
    let again = trial.store.create(NewRun::new("a", "other"), other, LONG).await;
    refused("a second create", again, "a", "Exists", |error| matches!(error, StoreError::Exists { .. }))?;
    let stored = trial.load("a").await?;
    ensure(stored.summary.agent == "agent" && stored.rows == [row("a", 1)], || {
        "the run that was there has changed".to_owned()
    })?;
    trial.append(&lease, 2).await
}

async fn create_wants_row_one(trial: &Trial) -> Verdict {
    for sequence in [0, 2, u64::MAX] {
        let created = trial.store.create(NewRun::new("a", "agent"), row("a", sequence), LONG).await;
        refused("create", created, "a", "Conflict", |error| {
            matches!(error, StoreError::Conflict { sequence: refused, expected: 1, .. }
                if *refused == sequence)
        })?;
        let loaded = trial.store.load(&RunId::from("a")).await;
        refused("a load after the refused create", loaded, "a", "NotFound", not_found)?;
    }
    Ok(())
}

async fn a_load_of_no_run_says_not_found(trial: &Trial) -> Verdict {
    trial.create("a", LONG).await?;
    for id in ["b", "A", "a ", "", "%"] {
        let loaded = trial.store.load(&RunId::from(id)).await;
        refused("load", loaded, id, "NotFound", not_found)?;
    }
    Ok(())
}

async fn appended_rows_are_there_in_order_with_the_state(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    let created = trial.load("a").await?.summary.created_at;
    for (sequence, state) in (2..).zip([RunState::Running, RunState::Paused, RunState::Running]) {
        trial.tick().await;
        trial.append_as(&lease, sequence, state).await?;
        let stored = trial.load("a").await?;
        let expected: Vec<_> = (1..=sequence).map(|sequence| row("a", sequence)).collect();
        ensure(stored.rows == expected, || format!("after row {sequence}: {:?}", stored.rows))?;
        let summary = stored.summary;
        ensure(summary.rows == sequence, || format!("it counts {} rows", summary.rows))?;
        ensure(summary.state == state, || format!("{state} came back as {}", summary.state))?;
        ensure(summary.created_at == created, || "an append moved the creation".to_owned())?;
        ensure(summary.updated_at > created, || "an append left `updated_at`".to_owned())?;
        ensure(summary.ended_at.is_none(), || format!("{state} has an end"))?;
    }
    Ok(())
}

async fn an_end_is_noted_and_a_run_taken_up_again_has_none(trial: &Trial) -> Verdict {
    for state in [RunState::Completed, RunState::Failed, RunState::Cancelled] {
        let id = state.as_str();
        let lease = trial.create(id, LONG).await?;
        trial.append_as(&lease, 2, state).await?;
        let summary = trial.load(id).await?.summary;
        ensure(summary.state == state, || format!("{state} came back as {}", summary.state))?;
        ensure(summary.ended_at == Some(summary.updated_at), || {
            format!("{state} ended at {:?}, updated at {}", summary.ended_at, summary.updated_at)
        })?;
        trial.append_as(&lease, 3, RunState::Running).await?;
        let summary = trial.load(id).await?.summary;
        ensure(summary.ended_at.is_none() && summary.state == RunState::Running, || {
            format!("taken up again after {state} it is {} with an end", summary.state)
        })?;
    }
    Ok(())
}

async fn append_wants_the_next_row(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    trial.append(&lease, 2).await?;
    for sequence in [0, 1, 2, 4, u64::MAX] {
        let answer = trial.store.append(&lease, row("a", sequence), RunState::Completed).await;
        refused(&format!("append of row {sequence}"), answer, "a", "Conflict", |error| {
            matches!(error, StoreError::Conflict { sequence: refused, expected: 3, .. }
                if *refused == sequence)
        })?;
    }
    let stored = trial.load("a").await?;
    ensure(stored.rows.len() == 2, || format!("{} rows are there of 2", stored.rows.len()))?;
    let summary = stored.summary;
    ensure(summary.rows == 2, || format!("a refused append counts: {} rows", summary.rows))?;
    ensure(summary.state == RunState::Running, || format!("a refused append made the run {}", summary.state))?;
    trial.append(&lease, 3).await
}

async fn rows_are_carried_as_they_are(trial: &Trial) -> Verdict {
    let id = RunId::from("a");
    let payloads = [
        String::new(),
        "not JSON at all".to_owned(),
        "\u{FEFF} mark, e\u{301}, \u{1F980}".to_owned(),
        "9007199254740993 1.0 18446744073709551615".to_owned(),
        "x".repeat(1 << 20),
    ];
    let mut rows: Vec<_> =
        (2..).zip(&payloads).map(|(sequence, payload)| Row::new(&id, sequence, u32::MAX, payload.as_str())).collect();
    // A store does not judge a checksum, so that a wrapper may change what it covers.
    rows.push(Row { checksum: [0xA5; 32], version: 0, ..row("a", 7) });
    let lease = trial.create("a", LONG).await?;
    for row in &rows {
        let appended = trial.store.append(&lease, row.clone(), RunState::Running).await;
        appended.map_err(unexpected("append"))?;
    }
    let stored = trial.load("a").await?;
    for (given, found) in rows.iter().zip(stored.rows.get(1..).unwrap_or_default()) {
        ensure(given == found, || format!("{given:?} came back as {found:?}"))?;
    }
    ensure(stored.rows.len() == rows.len() + 1, || format!("{} rows", stored.rows.len()))
}

async fn runs_do_not_mix(trial: &Trial) -> Verdict {
    let first = trial.create("a", LONG).await?;
    let second = trial.create("aa", LONG).await?;
    trial.append(&first, 2).await?;
    trial.append_as(&second, 2, RunState::Paused).await?;
    trial.append(&first, 3).await?;
    let crossed = trial.store.append(&crossed(&first, "aa"), row("aa", 3), RunState::Running).await;
    refused("an append under another run's lease", crossed, "aa", "LeaseLost", |error| {
        matches!(error, StoreError::LeaseLost { .. })
    })?;
    for (id, rows, state) in [("a", 3, RunState::Running), ("aa", 2, RunState::Paused)] {
        let stored = trial.load(id).await?;
        let expected: Vec<_> = (1..=rows).map(|sequence| row(id, sequence)).collect();
        ensure(stored.rows == expected && stored.summary.state == state, || {
            format!("run `{id}` is {:?}", stored.summary)
        })?;
    }
    Ok(())
}

fn crossed(lease: &Lease, id: &str) -> Lease {
    Lease::new(id.into(), lease.epoch(), lease.owner(), lease.expires_at())
}

async fn many_runs_append_at_once(trial: &Trial) -> Verdict {
    const RUNS: usize = 24;
    const ROWS: u64 = 8;
    let workers = (0..RUNS).map(|number| {
        let trial = trial.clone();
        tokio::spawn(async move {
            let id = format!("run {number}");
            let lease = trial.create(&id, LONG).await?;
            for sequence in 2..=ROWS {
                trial.append(&lease, sequence).await?;
                let rows = trial.load(&id).await?.rows.len() as u64;
                ensure(rows == sequence, || format!("{rows} rows can be read when {sequence} are acknowledged"))?;
            }
            let stored = trial.load(&id).await?;
            stored.verify().map_err(unexpected("the check of what was loaded"))
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        worker.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

async fn of_rivals_for_one_row_one_wins(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    let rivals = (0..8).map(|number| {
        let (store, lease) = (trial.store.clone(), lease.clone());
        let rival = Row::new(lease.run_id(), 2, 1, format!("{number}"));
        tokio::spawn(async move {
            let answer = store.append(&lease, rival.clone(), RunState::Running).await;
            (rival, answer)
        })
    });
    let mut winners = Vec::new();
    for rival in rivals.collect::<Vec<_>>() {
        match rival.await.map_err(|error| error.to_string())? {
            (row, Ok(())) => winners.push(row),
            (_, Err(StoreError::Conflict { expected: 3, .. })) => {}
            (_, Err(error)) => return Err(format!("a loser got `{error}`; expected Conflict")),
        }
    }
    let stored = trial.load("a").await?;
    ensure(winners.len() == 1, || format!("{} of 8 were acknowledged", winners.len()))?;
    ensure(stored.rows.get(1..) == Some(&winners), || "another row than the winner's".to_owned())
}

async fn a_dropped_call_leaves_all_or_nothing(trial: &Trial) -> Verdict {
    let lease = trial.create("a", LONG).await?;
    {
        let mut call = trial.store.append(&lease, row("a", 2), RunState::Paused);
        poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready())).await;
    }
    // The store may be at it still; whatever is sent behind it finds it done or not done.
    for _ in 0..100 {
        let stored = trial.load("a").await?;
        let summary = stored.summary;
        let done = (summary.rows, summary.state) == (2, RunState::Paused) && stored.rows.len() == 2;
        let not_done = (summary.rows, summary.state) == (1, RunState::Running) && stored.rows.len() == 1;
        ensure(done || not_done, || format!("half of it is there: {summary:?}"))?;
        tokio::task::yield_now().await;
    }
    match trial.store.append(&lease, row("a", 2), RunState::Running).await {
        Ok(()) | Err(StoreError::Conflict { expected: 3, .. }) => Ok(()),
        Err(error) => Err(format!("the next append failed: {error}")),
    }
}
