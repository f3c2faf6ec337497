//! D7: whose lease it is, and what a store says about itself.

use std::sync::Arc;
use std::time::Duration;

use protolink::RunId;
use protolink::durable::{MemoryStore, NewRun, RunState, RunStore, SqliteStore, StoreError};
use protolink::testing::{ManualClock, store_suite};
use protolink_tests::durable::Outcome;
use protolink_tests::stores::{LONG, append, create, new_file, row};

/// The name by which a store refuses a run that is taken.
async fn holder(store: &impl RunStore, run_id: &str) -> Outcome<String> {
    match store.acquire(&RunId::from(run_id), LONG).await {
        Err(StoreError::Busy { owner, .. }) => Ok(owner),
        other => Err(format!("{other:?}").into()),
    }
}

async fn keeps_its_name(store: &impl RunStore) -> Outcome {
    let lease = create(store, "run").await?;
    assert_eq!(lease.owner(), "worker 7");
    assert_eq!(holder(store, "run").await?, "worker 7");
    let renewed = store.renew(&lease, LONG).await?;
    assert_eq!(renewed.owner(), "worker 7");
    assert_eq!(holder(store, "run").await?, "worker 7", "a renewal does not lose the name");
    Ok(())
}

#[tokio::test]
async fn d7_a_lease_is_told_by_the_name_of_its_worker() -> Outcome {
    keeps_its_name(&MemoryStore::new().with_owner("worker 7")).await?;
    let (_folder, path) = new_file()?;
    keeps_its_name(&SqliteStore::open(path)?.with_owner("worker 7")).await
}

#[tokio::test]
async fn d7_a_worker_without_a_name_is_told_by_its_process_and_from_others_in_it() -> Outcome {
    let (_folder, path) = new_file()?;
    let process = format!("process {} (", std::process::id());
    let mut names = Vec::new();
    for (run_id, store) in [("one", SqliteStore::open(&path)?), ("two", SqliteStore::open(&path)?)] {
        let lease = create(&store, run_id).await?;
        assert!(lease.owner().starts_with(&process), "{}", lease.owner());
        names.push(lease.owner().to_owned());
    }
    names.push(create(&MemoryStore::new(), "three").await?.owner().to_owned());
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "{names:?}");
    Ok(())
}

#[tokio::test]
async fn a_store_says_what_it_committed() -> Outcome {
    let memory = MemoryStore::new();
    let (_folder, path) = new_file()?;
    let file = SqliteStore::open(path)?.with_owner("worker 7");
    let lease = create(&memory, "run").await?;
    assert_eq!(memory.commits(), 1);
    append(&memory, &lease, 2).await?;
    append(&memory, &lease, 3).await?;
    assert_eq!(memory.commits(), 3);
    let lease = create(&file, "run").await?;
    assert_eq!((file.commits(), file.transactions()), (1, 1));
    append(&file, &lease, 2).await?;
    append(&file, &lease, 3).await?;
    file.release(lease).await?;
    assert_eq!((file.commits(), file.transactions()), (3, 4));
    let printed = format!("{file:?} {memory:?}");
    assert!(printed.contains("worker 7") && printed.contains("commits: 3"), "{printed}");
    Ok(())
}

#[test]
fn what_a_row_holds_stays_out_of_logs() {
    let row = row("run", 12);
    let printed = format!("{row:?}");
    assert!(printed.contains("sequence: 12") && !printed.contains("secret"), "{printed}");
}

#[tokio::test]
async fn d7_a_lease_outlives_a_clock_that_is_set_back_by_its_own_time_only() -> Outcome {
    let clock = ManualClock::new();
    let store = MemoryStore::new().with_clock(clock.clone()).with_owner("worker 7");
    let minute = Duration::from_mins(1);
    let lease = store.create(NewRun::new("run", "agent"), row("run", 1), minute).await?;
    clock.rewind(Duration::from_hours(1));
    // Whoever asks finds it held, and from then on it is counted by the clock as it is.
    assert_eq!(holder(&store, "run").await?, "worker 7");
    clock.advance(Duration::from_millis(59_999));
    assert_eq!(holder(&store, "run").await?, "worker 7");
    clock.advance(Duration::from_millis(1));
    let taken = store.acquire(&RunId::from("run"), minute).await?;
    assert!(taken.epoch() > lease.epoch());
    Ok(())
}

#[tokio::test]
async fn a_store_behind_a_pointer_keeps_the_rules() -> Result<(), store_suite::BrokenRules> {
    store_suite::run_on_clock(async |clock| Arc::new(MemoryStore::new().with_clock(clock))).await
}

#[test]
fn a_state_prints_as_the_word_that_it_reads_from() -> Outcome {
    for (state, word) in [
        (RunState::Running, "running"),
        (RunState::Paused, "paused"),
        (RunState::Completed, "completed"),
        (RunState::Failed, "failed"),
        (RunState::Cancelled, "cancelled"),
    ] {
        assert_eq!((state.to_string().as_str(), format!("{state:>10}").trim_start()), (word, word));
        assert_eq!(word.parse::<RunState>()?, state);
        assert_eq!(state.is_ended(), !matches!(state, RunState::Running | RunState::Paused));
    }
    assert!("asleep".parse::<RunState>().is_err());
    Ok(())
}

#[tokio::test]
async fn d8_rows_that_are_missing_or_too_many_are_told_by_the_first_of_them() -> Outcome {
    let store = MemoryStore::new();
    let lease = create(&store, "run").await?;
    append(&store, &lease, 2).await?;
    append(&store, &lease, 3).await?;
    let whole = store.load(&RunId::from("run")).await?;
    whole.verify()?;
    let first_damage = |change: &dyn Fn(&mut protolink::durable::StoredRun)| {
        let mut stored = whole.clone();
        change(&mut stored);
        match stored.verify() {
            Err(StoreError::Damaged { sequence, .. }) => sequence,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(first_damage(&|stored| drop(stored.rows.pop())), Some(3));
    assert_eq!(first_damage(&|stored| stored.rows.clear()), Some(1));
    assert_eq!(first_damage(&|stored| drop(stored.rows.remove(0))), Some(1));
    assert_eq!(first_damage(&|stored| stored.summary.rows = 2), Some(3));
    assert_eq!(first_damage(&|stored| stored.rows[1].payload.push(' ')), Some(2));
    Ok(())
}

#[tokio::test]
async fn d8_a_store_that_is_closed_leaves_one_file() -> Outcome {
    for _ in 0..20 {
        let (folder, path) = new_file()?;
        let store = SqliteStore::open(&path)?;
        create(&store, "run").await?;
        drop(store);
        let files = std::fs::read_dir(folder.path())?.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<_> = files.iter().map(std::fs::DirEntry::file_name).collect();
        assert_eq!(names, ["runs.sqlite"], "what was committed is in the file itself");
    }
    Ok(())
}
