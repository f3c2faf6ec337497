//! What SQLite says, in the words of a run store.

use rusqlite::{Error, ErrorCode, ffi};

use super::super::StoreError;
use crate::ids::RunId;

/// Tells what `error` means for the run that was being worked on.
pub(super) fn fault(run_id: Option<&RunId>, error: &Error) -> StoreError {
    let run_id = run_id.cloned();
    match error {
        Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                StoreError::Locked { run_id }
            }
            ErrorCode::DiskFull => StoreError::Full { run_id },
            ErrorCode::ReadOnly => StoreError::ReadOnly { run_id },
            // The statements are ours: one that fails by itself means that the tables are not as they were.
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch => damaged(run_id, failure.to_string()),
            ErrorCode::Unknown if failure.extended_code == ffi::SQLITE_ERROR => {
                damaged(run_id, "the tables are not as they were".into())
            }
            _ if failure.extended_code == ffi::SQLITE_IOERR_SHORT_READ => {
                damaged(run_id, "the file is shorter than it was".into())
            }
            _ => {
                let source = Error::SqliteFailure(*failure, message.clone());
                StoreError::Io { run_id, source: source.into() }
            }
        },
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::InvalidColumnType(..)
        | Error::Utf8Error(..) => damaged(run_id, "a column holds what was never written".into()),
        Error::QueryReturnedNoRows => damaged(run_id, "a line is missing that was written".into()),
        Error::SqlInputError { .. } => damaged(run_id, "the tables are not as they were".into()),
        other => StoreError::Io { run_id, source: other.to_string().into() },
    }
}

fn damaged(run_id: Option<RunId>, reason: String) -> StoreError {
    match run_id {
        Some(run_id) => StoreError::Damaged { run_id, sequence: None, reason },
        None => StoreError::StoreDamaged { reason },
    }
}

/// Gives a SQLite result the name of the run that it was about.
pub(super) trait About<T> {
    /// `run_id` was being worked on.
    fn about(self, run_id: &RunId) -> Result<T, StoreError>;

    /// The store as a whole was being worked on.
    fn about_store(self) -> Result<T, StoreError>;
}

impl<T> About<T> for rusqlite::Result<T> {
    fn about(self, run_id: &RunId) -> Result<T, StoreError> {
        self.map_err(|error| fault(Some(run_id), &error))
    }

    fn about_store(self) -> Result<T, StoreError> {
        self.map_err(|error| fault(None, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: i32) -> StoreError {
        fault(Some(&RunId::from("run")), &Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn d8_each_failure_of_sqlite_has_its_word() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL, ffi::SQLITE_BUSY_SNAPSHOT] {
            assert!(matches!(told(code), StoreError::Locked { run_id: Some(_) }), "{code}");
        }
        assert!(matches!(told(ffi::SQLITE_FULL), StoreError::Full { run_id: Some(_) }));
        assert!(matches!(told(ffi::SQLITE_READONLY), StoreError::ReadOnly { run_id: Some(_) }));
        for code in [
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CONSTRAINT,
            ffi::SQLITE_MISMATCH,
            ffi::SQLITE_ERROR,
            ffi::SQLITE_IOERR_SHORT_READ,
        ] {
            assert!(matches!(told(code), StoreError::Damaged { .. }), "{code}");
        }
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_NOMEM, ffi::SQLITE_ERROR_RETRY] {
            assert!(matches!(told(code), StoreError::Io { run_id: Some(_), .. }), "{code}");
        }
    }

    #[test]
    fn d8_what_was_never_written_is_damage_of_the_run_or_else_of_the_store() {
        let never_written = [
            Error::InvalidColumnType(1, "state".to_owned(), rusqlite::types::Type::Text),
            Error::IntegralValueOutOfRange(1, -1),
            Error::QueryReturnedNoRows,
        ];
        for error in never_written {
            assert!(matches!(fault(Some(&RunId::from("run")), &error), StoreError::Damaged { .. }), "{error}");
            assert!(matches!(fault(None, &error), StoreError::StoreDamaged { .. }), "{error}");
        }
        assert!(matches!(fault(None, &Error::InvalidQuery), StoreError::Io { run_id: None, .. }));
    }
}
