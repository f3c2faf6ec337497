//! Both stores keep every rule of a run store.

use std::cell::RefCell;

use protolink::durable::{MemoryStore, SqliteStore};
use protolink::testing::store_suite::{self, BrokenRules};

/// A new file for each rule, in a folder that lives as long as the suite.
fn new_file(folders: &RefCell<Vec<tempfile::TempDir>>) -> std::path::PathBuf {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let path = folder.path().join("runs.sqlite");
    folders.borrow_mut().push(folder);
    path
}

#[tokio::test]
async fn d7_memory_store_keeps_the_rules() -> Result<(), BrokenRules> {
    store_suite::run_on_clock(async |clock| MemoryStore::new().with_clock(clock)).await
}

#[tokio::test]
async fn d7_memory_store_keeps_the_rules_in_real_time() -> Result<(), BrokenRules> {
    store_suite::run(async || MemoryStore::new()).await
}

#[tokio::test]
async fn d7_sqlite_store_keeps_the_rules() -> Result<(), BrokenRules> {
    let folders = RefCell::default();
    let store =
        async |clock| SqliteStore::open(new_file(&folders)).expect("a new file can be opened").with_clock(clock);
    store_suite::run_on_clock(store).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d7_sqlite_store_keeps_the_rules_in_real_time() -> Result<(), BrokenRules> {
    let folders = RefCell::default();
    let store = async || SqliteStore::open(new_file(&folders)).expect("a new file can be opened");
    store_suite::run(store).await
}
