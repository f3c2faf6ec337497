//! One commit of a run, as a store carries it.

use sha2::{Digest, Sha256};

use crate::ids::RunId;

/// One row of a run's journal: what one commit wrote.
///
/// A store carries a row as it is and need not understand it. The checksum covers the run's id, the sequence, the
/// version and the payload, so a row that was altered, or that turns up in another place or another run, is found out.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::Row;
///
/// let run = RunId::from("order-4711");
/// let mut row = Row::new(&run, 1, 1, r#"{"started":{}}"#);
/// assert!(row.verify(&run).is_ok());
/// row.payload.push(' ');
/// assert!(row.verify(&run).is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Row {
    /// The place in the run, from 1 on, without gaps.
    pub sequence: u64,
    /// The version of the payload's format.
    pub version: u32,
    /// What was written, as JSON text.
    pub payload: String,
    /// The SHA-256 digest that [`Row::new`] computed.
    pub checksum: [u8; 32],
}

impl Row {
    /// Makes the row at `sequence` of the run `run_id`, with its checksum.
    #[must_use]
    pub fn new(run_id: &RunId, sequence: u64, version: u32, payload: impl Into<String>) -> Self {
        let payload = payload.into();
        let checksum = checksum(run_id, sequence, version, &payload);
        Self { sequence, version, payload, checksum }
    }

    /// Checks that this is what was written at this place of the run `run_id`.
    ///
    /// # Errors
    /// [`RowDamage`] when the checksum is another one.
    pub fn verify(&self, run_id: &RunId) -> Result<(), RowDamage> {
        if checksum(run_id, self.sequence, self.version, &self.payload) == self.checksum {
            Ok(())
        } else {
            Err(RowDamage)
        }
    }
}

/// Shows everything but the payload, which may hold what a log must not.
impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row")
            .field("sequence", &self.sequence)
            .field("version", &self.version)
            .field("payload_bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// A row whose checksum does not fit what it holds.
///
/// ```
/// use protolink::RunId;
/// use protolink::durable::{Row, RowDamage};
///
/// let row = Row::new(&RunId::from("order-4711"), 1, 1, "{}");
/// assert_eq!(row.verify(&RunId::from("order-4712")), Err(RowDamage), "it is another run's");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the checksum does not fit")]
pub struct RowDamage;

/// Lengths go before texts, so that no two different rows hash the same bytes.
fn checksum(run_id: &RunId, sequence: u64, version: u32, payload: &str) -> [u8; 32] {
    let run_id = run_id.as_str();
    let mut hash = Sha256::new();
    hash.update(b"protolink row 1\0");
    hash.update((run_id.len() as u64).to_le_bytes());
    hash.update(run_id);
    hash.update(sequence.to_le_bytes());
    hash.update(version.to_le_bytes());
    hash.update((payload.len() as u64).to_le_bytes());
    hash.update(payload);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of an older build must stay readable: the digest of a given row is fixed.
    #[test]
    fn the_checksum_of_a_row_stays_what_it_is() {
        let row = Row::new(&RunId::from("r"), 7, 1, "{}");
        let hex = row.checksum.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(hex, "f82053d571a40b95130244da8763815e458b61cd69c63f2aab6f5d4db5b8f94a");
    }

    #[test]
    fn every_part_of_a_row_is_covered() {
        let run = RunId::from("r");
        let row = Row::new(&run, 7, 1, "{}");
        let changed = [
            Row { sequence: 8, ..row.clone() },
            Row { version: 2, ..row.clone() },
            Row { payload: "{} ".to_owned(), ..row.clone() },
            Row { checksum: [0; 32], ..row.clone() },
        ];
        assert_eq!(row.verify(&run), Ok(()));
        assert_eq!(row.verify(&RunId::from("s")), Err(RowDamage));
        for other in changed {
            assert_eq!(other.verify(&run), Err(RowDamage));
        }
    }

    #[test]
    fn debug_shows_no_payload() {
        let row = Row::new(&RunId::from("r"), 1, 1, "\"secret\"");
        assert!(!format!("{row:?}").contains("secret"));
    }
}
