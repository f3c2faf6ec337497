//! The suite finds a store out: a store written by a user passes, and fails with each rule broken in turn.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use protolink::RunId;
use protolink::durable::{
    Clock, Cursor, Lease, NewRun, Order, Page, Row, RunFilter, RunPage, RunState, RunStore, RunSummary, StoreError,
    StoredRun, Timestamp,
};
use protolink::testing::{ManualClock, store_suite};

/// What a store can get wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    OverwritesOnCreate,
    TakesAnyFirstRow,
    DropsLabels,
    ForgetsTheEnd,
    KeepsTheEnd,
    TakesAnySequence,
    StateBeforeCheck,
    RecomputesChecksums,
    AcknowledgesBeforeWriting,
    NoBusy,
    NoExpiryOnAppend,
    NoFence,
    SequenceBeforeLease,
    RenewMakesAnEpoch,
    RenewOnlyLengthens,
    RenewsTheLost,
    AppendRenews,
    ReleaseKeeps,
    ReleasesForOthers,
    EpochsARun,
    ClockBackHolds,
    ListsByTime,
    NewestIgnored,
    CursorIsAnOffset,
    CursorOverlaps,
    LabelsAreAny,
    AnyCursor,
    DeletesLeased,
    DeleteLeavesRows,
    PrunesPaused,
    PrunesLeased,
    PruneStopsEarly,
    ErrorShowsPayload,
    NotFoundWithoutName,
}

struct Held {
    place: u64,
    summary: RunSummary,
    rows: Vec<Row>,
    epoch: u64,
    lease: Option<(Timestamp, Timestamp)>,
}

/// A store as a user would write one, on the public names alone, with one fault.
struct UserStore {
    fault: Fault,
    clock: ManualClock,
    held: Mutex<Vec<Held>>,
    epoch: Mutex<u64>,
    leftovers: Mutex<BTreeMap<RunId, Vec<Row>>>,
}

impl UserStore {
    fn new(fault: Fault, clock: ManualClock) -> Self {
        let (held, epoch, leftovers) = Default::default();
        Self { fault, clock, held, epoch, leftovers }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn with<T>(&self, work: impl FnOnce(&mut Vec<Held>) -> T) -> T {
        work(&mut self.held.lock().expect("no test panics in here"))
    }

    fn next_epoch(&self) -> u64 {
        let mut epoch = self.epoch.lock().expect("no test panics in here");
        *epoch += 1;
        *epoch
    }

    fn grant(&self, held: &mut Held, ttl: Duration) -> Lease {
        let now = self.clock.now();
        held.lease = Some((now, now.after(ttl)));
        Lease::new(held.summary.run_id.clone(), held.epoch, "user", now.after(ttl))
    }

    fn live(&self, held: &Held) -> Option<Timestamp> {
        held.lease.map(|(_, until)| until).filter(|until| self.clock.now() < *until)
    }

    fn refuse_while_live(&self, held: &Held) -> Result<(), StoreError> {
        match self.live(held) {
            None => Ok(()),
            Some(until) => {
                Err(StoreError::Busy { run_id: held.summary.run_id.clone(), owner: "user".to_owned(), until })
            }
        }
    }

    fn check(&self, held: &Held, lease: &Lease) -> Result<(), StoreError> {
        let newest = held.epoch == lease.epoch() || self.has(Fault::NoFence);
        let live = self.live(held).is_some() || (self.has(Fault::NoExpiryOnAppend) && held.lease.is_some());
        if newest && live { Ok(()) } else { Err(lost(lease)) }
    }
}

fn lost(lease: &Lease) -> StoreError {
    StoreError::LeaseLost { run_id: lease.run_id().clone(), epoch: lease.epoch() }
}

fn find<'a>(runs: &'a mut [Held], run_id: &RunId) -> Option<&'a mut Held> {
    runs.iter_mut().find(|held| held.summary.run_id == *run_id)
}

#[async_trait::async_trait]
impl RunStore for UserStore {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        let run_id = run.run_id.clone();
        let mut summary = RunSummary::new(run, self.clock.now());
        let place = self.next_epoch();
        let epoch = if self.has(Fault::EpochsARun) { 1 } else { place };
        self.with(|runs| {
            if find(runs, &run_id).is_some() {
                if !self.has(Fault::OverwritesOnCreate) {
                    return Err(StoreError::Exists { run_id });
                }
                runs.retain(|held| held.summary.run_id != run_id);
            }
            if first.sequence != 1 && !self.has(Fault::TakesAnyFirstRow) {
                let sequence = first.sequence;
                return Err(StoreError::Conflict { run_id, sequence, expected: 1 });
            }
            if self.has(Fault::DropsLabels) {
                summary.labels.clear();
            }
            let mut rows = self.leftovers.lock().expect("no panic").remove(&run_id).unwrap_or_default();
            rows.push(first);
            runs.push(Held { place, summary, rows, epoch, lease: None });
            let created = runs.last_mut().expect("one was pushed");
            Ok(self.grant(created, ttl))
        })
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.with(|runs| {
            let held = find(runs, run_id).ok_or_else(|| StoreError::NotFound { run_id: run_id.clone() })?;
            let now = self.clock.now();
            if let Some((granted, until)) = held.lease
                && now < granted
                && !self.has(Fault::ClockBackHolds)
            {
                held.lease = Some((now, now.after(until.since(granted))));
            }
            if !self.has(Fault::NoBusy) {
                self.refuse_while_live(held)?;
            }
            held.epoch = if self.has(Fault::EpochsARun) { held.epoch + 1 } else { self.next_epoch() };
            Ok(self.grant(held, ttl))
        })
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.with(|runs| {
            let held = find(runs, lease.run_id()).ok_or_else(|| lost(lease))?;
            if !self.has(Fault::RenewsTheLost) || held.epoch != lease.epoch() {
                self.check(held, lease)?;
            }
            if self.has(Fault::RenewMakesAnEpoch) {
                held.epoch = self.next_epoch();
            }
            let now = self.clock.now();
            if self.has(Fault::RenewOnlyLengthens) && held.lease.is_some_and(|(_, until)| until > now.after(ttl)) {
                return Ok(lease.clone());
            }
            Ok(self.grant(held, ttl))
        })
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        if self.has(Fault::AcknowledgesBeforeWriting) && row.sequence.is_multiple_of(3) {
            return Ok(());
        }
        self.with(|runs| {
            let held = find(runs, lease.run_id()).ok_or_else(|| lost(lease))?;
            if self.has(Fault::StateBeforeCheck) {
                held.summary.state = state;
            }
            let expected = held.summary.rows + 1;
            let (run_id, sequence) = (lease.run_id().clone(), row.sequence);
            let conflict = sequence != expected && !self.has(Fault::TakesAnySequence);
            if !(conflict && self.has(Fault::SequenceBeforeLease)) {
                self.check(held, lease)?;
            }
            if conflict && self.has(Fault::ErrorShowsPayload) {
                return Err(StoreError::io(Some(&run_id), format!("conflict: {}", row.payload)));
            }
            if conflict {
                return Err(StoreError::Conflict { run_id, sequence, expected });
            }
            let ended = held.summary.ended_at;
            held.summary.appended(state, self.clock.now());
            if self.has(Fault::ForgetsTheEnd) {
                held.summary.ended_at = None;
            }
            if self.has(Fault::KeepsTheEnd) {
                held.summary.ended_at = held.summary.ended_at.or(ended);
            }
            if self.has(Fault::AppendRenews)
                && let Some((granted, until)) = held.lease
            {
                let now = self.clock.now();
                held.lease = Some((now, now.after(until.since(granted))));
            }
            held.rows.push(if self.has(Fault::RecomputesChecksums) {
                Row::new(&run_id, sequence, row.version, row.payload)
            } else {
                row
            });
            Ok(())
        })
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        self.with(|runs| match find(runs, run_id) {
            Some(held) => Ok(StoredRun::new(held.summary.clone(), held.rows.clone())),
            None if self.has(Fault::NotFoundWithoutName) => Err(StoreError::NotFound { run_id: "".into() }),
            None => Err(StoreError::NotFound { run_id: run_id.clone() }),
        })
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        let mut filter = filter.clone();
        if self.has(Fault::LabelsAreAny) {
            filter.labels.clear();
        }
        let after = match &page.after {
            None => None,
            Some(cursor) => match cursor.as_str().parse::<u64>() {
                Ok(place) => Some(place),
                Err(_) if self.has(Fault::AnyCursor) => None,
                Err(_) => return Err(StoreError::BadCursor),
            },
        };
        self.with(|runs| {
            let offset = self.has(Fault::CursorIsAnOffset);
            let mut found: Vec<_> = (1_u64..)
                .zip(runs.iter())
                .map(|(number, held)| (if offset { number } else { held.place }, &held.summary))
                .collect();
            if self.has(Fault::ListsByTime) {
                found.sort_by_key(|(_, run)| run.created_at);
            }
            if page.order == Order::NewestFirst && !self.has(Fault::NewestIgnored) {
                found.reverse();
            }
            let overlap = self.has(Fault::CursorOverlaps);
            found.retain(|(place, run)| {
                let behind = match (after, page.order) {
                    (None, _) => true,
                    (Some(after), _) if *place == after => overlap,
                    (Some(after), Order::OldestFirst) => *place > after,
                    (Some(after), Order::NewestFirst) => *place < after,
                };
                behind && filter.matches(run)
            });
            let limit = usize::try_from(page.limit.max(1)).expect("64 bits");
            let more = found.len() > limit;
            found.truncate(limit);
            let next = found.last().filter(|_| more).map(|(place, _)| Cursor::from(place.to_string()));
            Ok(RunPage::new(found.into_iter().map(|(_, run)| run.clone()).collect(), next))
        })
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.with(|runs| {
            if let Some(held) = find(runs, lease.run_id())
                && (held.epoch == lease.epoch() || self.has(Fault::ReleasesForOthers))
                && !self.has(Fault::ReleaseKeeps)
            {
                held.lease = None;
            }
        });
        Ok(())
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.with(|runs| {
            let Some(held) = find(runs, run_id) else {
                return Ok(false);
            };
            if !self.has(Fault::DeletesLeased) {
                self.refuse_while_live(held)?;
            }
            if self.has(Fault::DeleteLeavesRows) {
                let rows = held.rows.clone();
                self.leftovers.lock().expect("no panic").insert(run_id.clone(), rows);
            }
            runs.retain(|held| held.summary.run_id != *run_id);
            Ok(true)
        })
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.with(|runs| {
            let before = runs.len();
            runs.retain(|held| {
                let summary = &held.summary;
                let paused = summary.state == RunState::Paused && self.has(Fault::PrunesPaused);
                let over = summary.ended_at.is_some_and(|ended| ended < ended_before) || paused;
                let held_by_none = self.live(held).is_none() || self.has(Fault::PrunesLeased);
                !(over && held_by_none)
            });
            let pruned = (before - runs.len()) as u64;
            Ok(if self.has(Fault::PruneStopsEarly) { pruned.min(100) } else { pruned })
        })
    }
}

/// Which rules a store with `fault` breaks.
async fn broken(fault: Fault) -> Vec<&'static str> {
    match store_suite::run_on_clock(async |clock| UserStore::new(fault, clock)).await {
        Ok(()) => Vec::new(),
        Err(broken) => broken.rules().iter().map(|rule| rule.rule).collect(),
    }
}

#[tokio::test]
async fn a_store_of_a_user_passes() {
    assert_eq!(broken(Fault::None).await, Vec::<&str>::new());
}

#[tokio::test]
async fn every_fault_is_found_by_its_rule() {
    for (fault, rule) in [
        (Fault::OverwritesOnCreate, "create_refuses_an_id_that_is_taken"),
        (Fault::TakesAnyFirstRow, "create_wants_row_one"),
        (Fault::DropsLabels, "a_created_run_is_there_as_it_was_given"),
        (Fault::ForgetsTheEnd, "an_end_is_noted_and_a_run_taken_up_again_has_none"),
        (Fault::KeepsTheEnd, "an_end_is_noted_and_a_run_taken_up_again_has_none"),
        (Fault::TakesAnySequence, "append_wants_the_next_row"),
        (Fault::StateBeforeCheck, "append_wants_the_next_row"),
        (Fault::RecomputesChecksums, "rows_are_carried_as_they_are"),
        (Fault::AcknowledgesBeforeWriting, "appended_rows_are_there_in_order_with_the_state"),
        (Fault::NoBusy, "a_live_lease_keeps_others_out"),
        (Fault::NoExpiryOnAppend, "a_lease_that_ran_out_commits_nothing"),
        (Fault::NoFence, "a_lease_that_was_taken_over_commits_nothing"),
        (Fault::SequenceBeforeLease, "a_lost_lease_counts_before_the_sequence"),
        (Fault::RenewMakesAnEpoch, "a_renewed_lease_runs_on_under_its_epoch"),
        (Fault::RenewOnlyLengthens, "a_renewal_can_shorten"),
        (Fault::RenewsTheLost, "a_lease_that_ran_out_commits_nothing"),
        (Fault::AppendRenews, "an_append_does_not_renew"),
        (Fault::ReleaseKeeps, "a_released_run_can_be_had_at_once"),
        (Fault::ReleasesForOthers, "a_release_of_a_lost_lease_changes_nothing"),
        (Fault::EpochsARun, "a_lease_of_a_deleted_run_is_worth_nothing"),
        (Fault::ClockBackHolds, "a_clock_set_back_lengthens_no_lease_by_more_than_its_length"),
        (Fault::ListsByTime, "runs_are_listed_in_the_order_of_creation"),
        (Fault::NewestIgnored, "runs_are_listed_in_the_order_of_creation"),
        (Fault::CursorIsAnOffset, "a_listing_stands_while_runs_come_and_go"),
        (Fault::CursorOverlaps, "pages_follow_each_other_without_gap_or_overlap"),
        (Fault::LabelsAreAny, "each_filter_lets_through_what_it_says"),
        (Fault::AnyCursor, "a_foreign_cursor_is_refused"),
        (Fault::DeletesLeased, "a_leased_run_is_not_deleted"),
        (Fault::DeleteLeavesRows, "a_deleted_run_is_gone"),
        (Fault::PrunesPaused, "prune_deletes_what_ended_before"),
        (Fault::PrunesLeased, "prune_leaves_what_somebody_holds"),
        (Fault::PruneStopsEarly, "prune_deletes_any_number"),
        (Fault::ErrorShowsPayload, "append_wants_the_next_row"),
        (Fault::NotFoundWithoutName, "a_load_of_no_run_says_not_found"),
    ] {
        let broken = broken(fault).await;
        assert!(broken.contains(&rule), "{fault:?} breaks {broken:?}");
    }
}

#[tokio::test]
async fn the_suite_says_what_the_store_did() {
    let suite = store_suite::run_on_clock(async |clock| UserStore::new(Fault::NoBusy, clock));
    let told = suite.await.expect_err("a rule is broken").to_string();
    let line = "- a live lease keeps others out: acquire under a live lease went through; expected Busy";
    assert!(told.contains(line), "{told}");
}
