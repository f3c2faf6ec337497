//! What the tests of stores share.

use std::path::PathBuf;
use std::time::Duration;

use protolink::RunId;
use protolink::durable::{Lease, NewRun, Row, RunState, RunStore, StoreError};
use tempfile::TempDir;

/// Longer than any test takes.
pub const LONG: Duration = Duration::from_mins(10);

/// The path of a file that is not there yet, in a folder that goes with the test.
///
/// # Errors
/// The system's, when it has no folder for temporary files.
pub fn new_file() -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("runs.sqlite");
    Ok((folder, path))
}

/// A row with a payload of its own.
#[must_use]
pub fn row(id: &str, sequence: u64) -> Row {
    Row::new(&RunId::from(id), sequence, 1, format!("{{\"secret\":\"{id} {sequence}\"}}"))
}

/// Creates a run with one row, leased for [`LONG`].
///
/// # Errors
/// The store's own.
pub async fn create(store: &impl RunStore, id: &str) -> Result<Lease, StoreError> {
    store.create(NewRun::new(id, "agent"), row(id, 1), LONG).await
}

/// Appends the row at `sequence`.
///
/// # Errors
/// The store's own.
pub async fn append(store: &impl RunStore, lease: &Lease, sequence: u64) -> Result<(), StoreError> {
    let row = row(lease.run_id().as_str(), sequence);
    store.append(lease, row, RunState::Running).await
}

/// How many rows a run has, all of them checked.
///
/// # Errors
/// The store's own.
pub async fn checked_rows(store: &impl RunStore, id: &str) -> Result<usize, StoreError> {
    let stored = store.load(&RunId::from(id)).await?;
    stored.verify()?;
    Ok(stored.rows.len())
}
