//! A store may be wrapped to encrypt payloads: the wrapper is a run store like any other, and the file holds no clear text.

use std::time::Duration;

use protolink::RunId;
use protolink::durable::{
    Lease, NewRun, Page, Row, RunFilter, RunPage, RunState, RunStore, SqliteStore, StoreError, StoredRun, Timestamp,
};
use protolink::testing::store_suite;
use protolink_tests::stores::{append, checked_rows, create, new_file};

/// Encrypts payloads and their checksums on the way into `inner`. The cipher is a toy; where it stands, an
/// authenticated one belongs.
struct Encrypting<S> {
    inner: S,
    key: u8,
}

impl<S> Encrypting<S> {
    fn seal(&self, row: Row) -> Row {
        let clear = row.checksum.into_iter().chain(row.payload.into_bytes());
        let digits = clear.map(|byte| byte ^ self.key).flat_map(|byte| [byte >> 4, byte & 15]);
        let payload = digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect();
        Row { payload, checksum: [0; 32], ..row }
    }

    fn open(&self, run_id: &RunId, sealed: &Row) -> Result<Row, StoreError> {
        let damaged = || StoreError::Damaged {
            run_id: run_id.clone(),
            sequence: Some(sealed.sequence),
            reason: "it cannot be decrypted".to_owned(),
        };
        let bytes = sealed.payload.as_bytes().chunks(2).map(|digits| {
            let byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
            Some(byte ^ self.key)
        });
        let clear: Vec<u8> = bytes.collect::<Option<_>>().ok_or_else(damaged)?;
        let (checksum, payload) = clear.split_first_chunk().ok_or_else(damaged)?;
        let payload = String::from_utf8(payload.to_vec()).map_err(|_| damaged())?;
        Ok(Row { payload, checksum: *checksum, ..*sealed })
    }
}

#[async_trait::async_trait]
impl<S: RunStore> RunStore for Encrypting<S> {
    async fn create(&self, run: NewRun, first: Row, ttl: Duration) -> Result<Lease, StoreError> {
        self.inner.create(run, self.seal(first), ttl).await
    }

    async fn acquire(&self, run_id: &RunId, ttl: Duration) -> Result<Lease, StoreError> {
        self.inner.acquire(run_id, ttl).await
    }

    async fn renew(&self, lease: &Lease, ttl: Duration) -> Result<Lease, StoreError> {
        self.inner.renew(lease, ttl).await
    }

    async fn append(&self, lease: &Lease, row: Row, state: RunState) -> Result<(), StoreError> {
        self.inner.append(lease, self.seal(row), state).await
    }

    async fn load(&self, run_id: &RunId) -> Result<StoredRun, StoreError> {
        let mut stored = self.inner.load(run_id).await?;
        let rows = stored.rows.iter().map(|row| self.open(run_id, row));
        stored.rows = rows.collect::<Result<_, _>>()?;
        Ok(stored)
    }

    async fn list(&self, filter: &RunFilter, page: Page) -> Result<RunPage, StoreError> {
        self.inner.list(filter, page).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.inner.release(lease).await
    }

    async fn delete(&self, run_id: &RunId) -> Result<bool, StoreError> {
        self.inner.delete(run_id).await
    }

    async fn prune(&self, ended_before: Timestamp) -> Result<u64, StoreError> {
        self.inner.prune(ended_before).await
    }
}

#[tokio::test]
async fn an_encrypting_wrapper_keeps_the_rules() -> Result<(), store_suite::BrokenRules> {
    store_suite::run_on_clock(async |clock| Encrypting {
        inner: protolink::durable::MemoryStore::new().with_clock(clock),
        key: 0x5A,
    })
    .await
}

#[tokio::test]
async fn an_encrypting_wrapper_leaves_no_clear_text_in_the_file() -> Result<(), Box<dyn std::error::Error>> {
    let (_folder, path) = new_file()?;
    let store = Encrypting { inner: SqliteStore::open(&path)?, key: 0x5A };
    let lease = create(&store, "run").await?;
    append(&store, &lease, 2).await?;
    assert_eq!(checked_rows(&store, "run").await?, 2);
    drop(store);
    let file = std::fs::read(&path)?;
    assert!(!file.windows(6).any(|bytes| bytes == b"secret"));
    let wrong = Encrypting { inner: SqliteStore::open(&path)?, key: 0x5B };
    let error = checked_rows(&wrong, "run").await.expect_err("the key is another one");
    assert!(matches!(&error, StoreError::Damaged { run_id, .. } if *run_id == "run"), "{error}");
    Ok(())
}
