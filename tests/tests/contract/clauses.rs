//! Every clause of the contract has a test that is named after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Clauses that have no test yet.
const OPEN: &[&str] = &[];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The ids in the first column of the tables of a document.
fn ids(document: &str) -> BTreeSet<String> {
    let first_cells = document.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next().map(str::trim));
    let is_id = |cell: &&str| {
        let mut letters = cell.chars();
        letters.next().is_some_and(|letter| "SMTFDP".contains(letter))
            && !letters.as_str().is_empty()
            && letters.all(|digit| digit.is_ascii_digit())
    };
    first_cells.filter(is_id).map(str::to_owned).collect()
}

/// The source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The names of the tests in a source file.
fn tests(source: &str) -> Vec<&str> {
    let mut is_test = false;
    let mut names = Vec::new();
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        } else if let Some((_, name)) = line.split_once("fn ").filter(|_| is_test) {
            names.extend(name.split(['(', '<']).next());
            is_test = false;
        } else if !line.starts_with("//") {
            is_test = false;
        }
    }
    names
}

/// How many tests each clause has.
fn covered(ids: &BTreeSet<String>) -> io::Result<BTreeMap<String, usize>> {
    let mut files = Vec::new();
    for folder in ["tests", "ui-tests", "protolink/src"] {
        sources(&workspace().join(folder), &mut files)?;
    }
    let mut counts: BTreeMap<String, usize> = ids.iter().map(|id| (id.clone(), 0)).collect();
    for file in files {
        for name in tests(&fs::read_to_string(file)?) {
            let id = name.split('_').next().unwrap_or_default().to_uppercase();
            if let Some(count) = counts.get_mut(&id) {
                *count += 1;
            }
        }
    }
    Ok(counts)
}

#[test]
fn every_clause_of_the_contract_has_a_test_of_its_name() -> io::Result<()> {
    let ids = ids(&fs::read_to_string(workspace().join("docs/contract.md"))?);
    assert_eq!(ids.len(), 57, "the document lists every clause: {ids:?}");
    let counts = covered(&ids)?;
    let bare: Vec<&str> = counts.iter().filter(|(_, count)| **count == 0).map(|(id, _)| id.as_str()).collect();
    let missing: Vec<&&str> = bare.iter().filter(|id| !OPEN.contains(id)).collect();
    assert!(missing.is_empty(), "clauses without a test: {missing:?}");
    Ok(())
}

#[test]
fn the_document_lists_the_clauses_that_were_agreed() -> io::Result<()> {
    let agreed = workspace().join("../shared/spec/contract.md");
    if agreed.exists() {
        let document = fs::read_to_string(workspace().join("docs/contract.md"))?;
        assert_eq!(ids(&document), ids(&fs::read_to_string(agreed)?));
    }
    Ok(())
}

#[test]
fn the_check_finds_tests_and_nothing_else() {
    let source = "
        fn s1_a_helper() {}
        #[test]
        fn s2_a_test() {}
        #[tokio::test(flavor = \"multi_thread\")]
        async fn m3_another() -> Result<(), Error> {}
        // fn m4_a_word_in_passing
        fn m5_another_helper() {}
    ";
    assert_eq!(tests(source), ["s2_a_test", "m3_another"]);
    assert_eq!(ids("| id | x |\n| S1 | a |\n| M14 | b |\n| Step | c |").into_iter().collect::<Vec<_>>(), ["M14", "S1"]);
}
