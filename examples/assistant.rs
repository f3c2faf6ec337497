//! An assistant over this repository's own documents: its state, its tools and its hooks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use protolink::prelude::*;
use protolink::{after_tool, before_complete, before_model, tool};
use serde::{Deserialize, Serialize};

/// The documents that the assistant may read.
#[derive(Clone, Debug)]
pub struct Library {
    root: PathBuf,
}

/// The state of the assistant.
#[derive(Clone, Debug, FromRef)]
pub struct App {
    library: Library,
}

impl App {
    /// The documents of this repository.
    #[must_use]
    pub fn of_this_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Self { library: Library { root } }
    }
}

impl Library {
    /// The Markdown files of the repository, in the order of their names.
    fn documents(&self) -> io::Result<Vec<PathBuf>> {
        let mut documents = vec![PathBuf::from("README.md")];
        for entry in fs::read_dir(self.root.join("docs"))? {
            let name = entry?.file_name();
            if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
                documents.push(Path::new("docs").join(name));
            }
        }
        documents.sort();
        Ok(documents)
    }
}

/// What a search found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchHits {
    /// The word that was looked for.
    pub word: String,
    /// The lines that hold the words, best document first.
    pub hits: Vec<Hit>,
    /// Where the documents lie on this machine; nothing that the model has to know.
    pub root: Option<PathBuf>,
}

/// One line of a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// The document.
    pub document: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

/// Search the project's documents for lines that hold a word.
#[tool]
#[expect(clippy::missing_errors_doc, reason = "the doc comment of a tool is what the model reads")]
pub fn search(
    /// The word to look for.
    word: String,
    State(library): State<Library>,
) -> Result<SearchHits, io::Error> {
    let mut hits = Vec::new();
    for document in library.documents()? {
        let content = fs::read_to_string(library.root.join(&document))?;
        let lines = content.lines().enumerate().filter(|(_, text)| text.contains(&word));
        hits.extend(lines.map(|(index, text)| Hit {
            document: document.display().to_string(),
            line: index + 1,
            text: text.trim().to_owned(),
        }));
    }
    Ok(SearchHits { word, hits, root: Some(library.root) })
}

/// Delete a document for good.
#[tool(capability = "documents.delete")]
#[expect(clippy::missing_errors_doc, reason = "the doc comment of a tool is what the model reads")]
pub fn delete_document(document: String, State(library): State<Library>) -> Result<(), io::Error> {
    fs::remove_file(library.root.join(document))
}

/// Nobody has to delete anything in order to answer a question.
#[before_model]
pub fn select_context(request: &mut ModelRequest<'_>) {
    request.tools().remove::<delete_document>();
    request.history().append_system("Name the document that your answer stands in.");
}

/// The model gets the best hits, and nothing about this machine.
#[after_tool(tool = search)]
pub fn keep_hits(observation: &mut ToolObservation<'_, SearchHits>) {
    let found = observation.result_mut();
    found.hits.truncate(3);
    found.root = None;
}

/// An answer that names no document that a tool really found.
#[derive(Debug, thiserror::Error)]
#[error("the answer names no document that was found")]
pub struct NoCitation;

/// The answer names a document that a receipt proves.
///
/// # Errors
///
/// [`NoCitation`], and the answer does not leave.
#[before_complete]
pub fn check_citation(response: &mut FinalResponse<'_>) -> Result<(), NoCitation> {
    let answer = response.text().unwrap_or_default();
    let found = response.receipts().iter().filter_map(|receipt| receipt.result());
    let mut documents = found.filter_map(|result| result["hits"].as_array()).flatten();
    let proven = documents.any(|hit| hit["document"].as_str().is_some_and(|document| answer.contains(document)));
    if proven { Ok(()) } else { Err(NoCitation) }
}
