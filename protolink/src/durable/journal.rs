//! What a run writes down, one record a commit, and the hand that writes it (contract D1).

mod hand;
mod record;

pub(crate) use self::hand::Journal;
pub use self::record::{CallRecord, CallState, Decided, HookRecord, Record, Replied, Resumed, Revision, Started, Task};
use super::{Row, RunStore, StoreError, StoredRun};
use crate::ids::RunId;

/// The version of the records that this crate writes, and the newest that it reads.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{JOURNAL_VERSION, Row};
///
/// let row = Row::new(&RunId::from("r-1"), 1, JOURNAL_VERSION + 1, "{}");
/// assert!(
///     row.version > JOURNAL_VERSION,
///     "a newer crate wrote it, and this one refuses to read it"
/// );
/// ```
pub const JOURNAL_VERSION: u32 = 1;

fn encode(run_id: &RunId, sequence: u64, record: &Record) -> Result<Row, StoreError> {
    let unwritable = |reason: String| StoreError::Damaged {
        run_id: run_id.clone(),
        sequence: Some(sequence),
        reason: format!("the record cannot be written: {reason}"),
    };
    // As long as most records are, so that a step's rows do not grow byte by byte.
    let mut payload = Vec::with_capacity(1024);
    serde_json::to_writer(&mut payload, record).map_err(|error| unwritable(error.to_string()))?;
    let payload = String::from_utf8(payload).map_err(|error| unwritable(error.to_string()))?;
    Ok(Row::new(run_id, sequence, JOURNAL_VERSION, payload))
}

/// Reads what a run wrote down, whether it goes on or has ended: one [`Record`] a commit.
///
/// Nothing is taken over and nothing is changed. The records hold the true results of tools, and answers that were
/// refused: show them to those who may see these.
///
/// ```
/// use protolink::durable::{self, MemoryStore, Record};
/// use protolink::prelude::*;
/// use protolink::testing::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let agent = Agent::builder("a")
///     .model(ScriptedModel::new([Reply::text("done")]))
///     .durable(store.clone())
///     .build()?;
/// let answer = agent.invoke("go").await?;
/// let records = durable::journal(&store, answer.run_id()).await?;
/// assert!(matches!(
///     records[..],
///     [Record::Started(_), Record::Replied(_), Record::Completed { .. }]
/// ));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`StoreError::NotFound`]; [`StoreError`] as for [`decode`] (contract D8).
pub async fn journal(store: &(impl RunStore + ?Sized), run_id: &RunId) -> Result<Vec<Record>, StoreError> {
    decode(&store.load(run_id).await?)
}

/// Reads the records of a stored run.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{self, MemoryStore, Record, RunStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// # let agent = Agent::builder("a").model(ScriptedModel::new([Reply::text("done")])).durable(store.clone()).build()?;
/// let answer = agent.invoke("Go.").await?;
/// let stored = store.load(answer.run_id()).await?;
/// assert!(matches!(durable::decode(&stored)?.last(), Some(Record::Completed { .. })));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`StoreError`] when a row is missing, damaged, or of a newer version; it names the run and the row (contract D8).
pub fn decode(stored: &StoredRun) -> Result<Vec<Record>, StoreError> {
    let run_id = &stored.summary.run_id;
    for row in &stored.rows {
        if row.version > JOURNAL_VERSION {
            return Err(StoreError::NewerVersion {
                run_id: run_id.clone(),
                sequence: row.sequence,
                found: row.version,
                supported: JOURNAL_VERSION,
            });
        }
    }
    stored.verify()?;
    let read = |row: &Row| {
        serde_json::from_str(&row.payload).map_err(|_| StoreError::Damaged {
            run_id: run_id.clone(),
            sequence: Some(row.sequence),
            // The parser's own text would hold a part of the content.
            reason: "the row is no record of this version".to_owned(),
        })
    };
    stored.rows.iter().map(read).collect()
}
