//! The child's store: it says what was acknowledged, has places to die at, and can break what a store promises.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use protolink::RunId;
use protolink::async_trait;
use protolink::durable::{
    Lease, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, SqliteStore, StoreError, StoredRun, Timestamp,
};
use serde_json::{Value, json};

use super::point::Points;

/// A promise that is broken on purpose, to show that the check of it bites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Receipts are acknowledged, and written with the next row.
    LateReceipts,
    /// Replies are acknowledged to the run, and written with the next row.
    LateIntents,
    /// A resume does not see receipts.
    HidesReceipts,
    /// A resume takes what was started for what may be started.
    HidesIntents,
    /// A resume takes refused calls for allowed ones.
    AllowsRefused,
    /// A resume does not see what the conversation gained.
    HidesHistory,
    /// A resume does not see the last call of a turn.
    HidesCall,
    /// The last row is gone when the run is taken over.
    LosesLastRow,
}

pub(crate) const LIES: [Lie; 8] = [
    Lie::LateReceipts,
    Lie::LateIntents,
    Lie::HidesReceipts,
    Lie::HidesIntents,
    Lie::AllowsRefused,
    Lie::HidesHistory,
    Lie::HidesCall,
    Lie::LosesLastRow,
];

impl Lie {
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        LIES.into_iter().find(|lie| format!("{lie:?}") == text)
    }
}

pub(crate) struct ChildStore {
    store: SqliteStore,
    points: Arc<Points>,
    acknowledged: File,
    lie: Option<Lie>,
    late: Mutex<Option<(Row, RunState)>>,
    /// Whether the row that is to be lost is lost.
    lost: AtomicBool,
}

impl ChildStore {
    pub(crate) fn new(store: SqliteStore, points: Arc<Points>, acknowledged: &Path, lie: Option<Lie>) -> Self {
        let acknowledged =
            OpenOptions::new().create(true).append(true).open(acknowledged).expect("the folder is there");
        Self { store, points, acknowledged, lie, late: Mutex::default(), lost: AtomicBool::new(false) }
    }

    /// Writes down, outside of the store, that a row was acknowledged.
    fn acknowledge(&self, run_id: &RunId, row: &Row) {
        let checksum = row.checksum.iter().fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let line = format!("{run_id} {} {checksum}\n", row.sequence);
        (&self.acknowledged).write_all(line.as_bytes()).expect("the file can be written");
    }

    fn take_late(&self) -> Option<(Row, RunState)> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn is_late(&self, row: &Row) -> bool {
        let kind = match self.lie {
            Some(Lie::LateReceipts) => r#"{"receipted":"#,
            Some(Lie::LateIntents) => r#"{"replied":"#,
            _ => return false,
        };
        row.payload.starts_with(kind)
    }

    /// What a resume is told of a row.
    fn told(&self, run_id: &RunId, row: Row) -> Row {
        let Value::Object(tagged) = serde_json::from_str(&row.payload).expect("a row is JSON") else { return row };
        let Some((kind, mut record)) = tagged.into_iter().next() else { return row };
        match (self.lie, kind.as_str()) {
            (Some(Lie::HidesReceipts), "receipted") => {
                let nothing = json!({ "dispatched": { "actions": [], "spent": record["spent"] } });
                return Row::new(run_id, row.sequence, row.version, nothing.to_string());
            }
            (Some(Lie::HidesIntents), "replied") => {
                for call in record["calls"].as_array_mut().into_iter().flatten() {
                    if call["state"] == "intended" {
                        call["state"] = json!("allowed");
                    }
                }
            }
            (Some(Lie::AllowsRefused), "replied") => {
                for call in record["calls"].as_array_mut().into_iter().flatten() {
                    if call["state"]["refused"].is_object() {
                        call["state"] = json!("allowed");
                    }
                }
            }
            (Some(Lie::HidesHistory), "replied") => record["delta"] = json!([]),
            (Some(Lie::HidesCall), "replied") => {
                if let Some(calls) = record["calls"].as_array_mut()
                    && calls.len() > 1
                {
                    calls.pop();
                }
            }
            _ => return row,
        }
        Row::new(run_id, row.sequence, row.version, json!({ kind: record }).to_string())
    }

    async fn lose_last_row(&self, run_id: &RunId) -> Result<(), StoreError> {
        let mut stored = self.store.load(run_id).await?;
        if stored.rows.len() < 3 || !self.store.delete(run_id).await? {
            return Ok(());
        }
        stored.rows.pop();
        let mut new = NewRun::new(run_id.clone(), stored.summary.agent.clone());
        new.conversation.clone_from(&stored.summary.conversation);
        let mut rows = stored.rows.into_iter();
        let first = rows.next().expect("three rows have a first");
        let lease = self.store.create(new, first, Duration::from_mins(1)).await?;
        for row in rows {
            self.store.append(&lease, row, RunState::Running).await?;
        }
        self.store.release(lease).await
    }
}

#[async_trait]
impl RunStore for ChildStore {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        self.points.pass();
        let (run_id, row) = (run.run_id.clone(), first.clone());
        let lease = self.store.create(run, first, ttl).await?;
        self.acknowledge(&run_id, &row);
        self.points.pass();
        Ok(lease)
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        if self.lie == Some(Lie::LosesLastRow) && !self.lost.swap(true, Ordering::SeqCst) {
            self.lose_last_row(run_id).await?;
        }
        self.points.pass();
        let lease = self.store.acquire(run_id, ttl).await?;
        self.points.pass();
        Ok(lease)
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.store.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        self.points.pass();
        if let Some((late, state)) = self.take_late() {
            self.store.append(lease, late, state).await?;
        }
        if self.is_late(&row) {
            if self.lie == Some(Lie::LateReceipts) {
                self.acknowledge(lease.run_id(), &row);
            }
            *self.late.lock().unwrap_or_else(PoisonError::into_inner) = Some((row, state));
        } else {
            self.store.append(lease, row.clone(), state).await?;
            self.acknowledge(lease.run_id(), &row);
        }
        self.points.pass();
        Ok(())
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        let mut stored = self.store.load(run_id).await?;
        if self.lie.is_some() {
            stored.rows = stored.rows.into_iter().map(|row| self.told(run_id, row)).collect();
        }
        Ok(stored)
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.store.list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.points.pass();
        if let Some((late, state)) = self.take_late() {
            self.store.append(&lease, late, state).await?;
        }
        self.store.release(lease).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.store.delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.store.prune(ended_before).await
    }
}
