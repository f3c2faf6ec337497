//! How to open a store.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::super::lease::default_owner;
use super::super::{StoreError, SystemClock};
use super::SqliteStore;
use super::schema::Settings;
use super::threads::Threads;

/// The size of the smallest page that SQLite knows.
const SMALLEST_PAGE: u64 = 512;

/// How to open a [`SqliteStore`], where the usual way does not do.
///
/// ```
/// use protolink::durable::SqliteStore;
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("runs.sqlite");
/// let store = SqliteStore::options()
///     .busy_timeout(Duration::from_secs(1))
///     .max_bytes(1 << 30)
///     .open(path)?;
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    settings: Settings,
}

impl SqliteOptions {
    pub(super) fn new() -> Self {
        let settings = Settings { busy_timeout: Duration::from_secs(5), max_bytes: None };
        Self { settings }
    }

    /// How long to wait while another process keeps the file locked, before it is
    /// [`StoreError::Locked`]; 5 seconds if this is not called.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.settings.busy_timeout = timeout;
        self
    }

    /// How large the file may grow, before it is [`StoreError::Full`]; as large as the disk lets it if this is not
    /// called. The write-ahead log beside it is not counted.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.settings.max_bytes = Some(bytes);
        self
    }

    /// Opens the store in the file at `path`.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        let path = make(path.as_ref()).map_err(|error| StoreError::io(None, error))?;
        let length = fs::metadata(&path).map_err(|error| StoreError::io(None, error))?.len();
        // SQLite would take the stump of a page for an empty file, and begin anew.
        if (1..SMALLEST_PAGE).contains(&length) {
            return Err(StoreError::Foreign { reason: "it is too short for a SQLite file".into() });
        }
        let figures = Arc::default();
        let threads = Arc::new(Threads::start(&path, self.settings, &figures)?);
        let owner = default_owner().into();
        Ok(SqliteStore { threads, figures, clock: Arc::new(SystemClock), owner })
    }
}

/// Makes the file if there is none, before SQLite can make it readable for everybody; the files that SQLite puts
/// beside it get the same mode.
///
/// The path is made absolute, so that neither a later change of directory nor a special name reaches SQLite.
fn make(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            // In a folder that cannot be written to, the file may be there all the same.
            if path.exists() { Ok(path) } else { Err(error) }
        }
        _ => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d8_a_file_is_made_where_it_can_be_and_what_is_in_the_way_is_told() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let nowhere = make(&folder.path().join("missing/runs.sqlite")).expect_err("there is no such folder");
        assert_eq!(nowhere.kind(), io::ErrorKind::NotFound);
        let path = folder.path().join("runs.sqlite");
        assert_eq!(make(&path).expect("it is new"), path);
        assert_eq!(make(&path).expect("it is there"), path);
        assert_eq!(fs::metadata(&path).expect("it was made").len(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn d8_a_link_that_leads_nowhere_is_not_taken_for_a_file_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("missing"), &link).expect("a link");
        let told = SqliteOptions::new().open(&link).map(drop).expect_err("there is no file behind it");
        assert!(
            matches!(&told, StoreError::Io { source, .. } if source.to_string().contains("No such file")),
            "{told:?}"
        );
    }
}
