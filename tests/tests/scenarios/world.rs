//! What outlives a process: a folder with the store and a log of everything that happened.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use protolink::Interruption;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::not_here::{NotHere, broken};

/// One thing that happened, in the order in which it did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A hook was called.
    Hook { stage: String, id: String, step: u32 },
    /// The model was asked, and told of these tools.
    Asked { roster: Vec<String> },
    /// A tool had its effect.
    Effect { tool: String },
    /// A run began.
    Run { run_id: String },
    /// A run waits.
    Waits { interruption: Box<Interruption> },
    /// The steps that a run may make, where it yields.
    Slice { steps: u32 },
    /// A tool gave this back, where the scenario shows it.
    Exposed { result: Value },
    /// A process could not do what it was to do.
    NotHere { what: String },
    /// A process did all that it was to do.
    ProcessEnded,
}

/// The folder of one scenario.
#[derive(Debug)]
pub(crate) struct World {
    folder: PathBuf,
    /// Whether this is a process of its own, which may be killed.
    may_be_killed: bool,
}

impl World {
    pub(crate) fn new(folder: &Path, may_be_killed: bool) -> Self {
        Self { folder: folder.to_owned(), may_be_killed }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.folder.join("runs.sqlite")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log.jsonl")
    }

    /// Notes what happened. What is written survives the process, not the machine.
    pub(crate) fn note(&self, entry: &Entry) -> Result<(), NotHere> {
        let mut line = serde_json::to_vec(entry).map_err(broken)?;
        line.push(b'\n');
        let mut file = OpenOptions::new().create(true).append(true).open(self.log()).map_err(broken)?;
        file.write_all(&line).map_err(broken)
    }

    pub(crate) fn entries(&self) -> Result<Vec<Entry>, NotHere> {
        let mut text = String::new();
        match File::open(self.log()) {
            Ok(mut file) => file.read_to_string(&mut text).map_err(broken)?,
            Err(_) => return Ok(Vec::new()),
        };
        text.lines().map(|line| serde_json::from_str(line).map_err(broken)).collect()
    }

    /// How often a hook was called at a stage, in all processes.
    pub(crate) fn calls(&self, at: &str, hook: &str) -> Result<usize, NotHere> {
        let is_one = |entry: &Entry| matches!(entry, Entry::Hook { stage, id, .. } if stage == at && id == hook);
        Ok(self.entries()?.iter().filter(|entry| is_one(entry)).count())
    }

    /// What tools gave back since there were this many entries.
    pub(crate) fn exposed_since(&self, before: usize) -> Result<Vec<Value>, NotHere> {
        let result = |entry: Entry| if let Entry::Exposed { result } = entry { Some(result) } else { None };
        Ok(self.entries()?.into_iter().skip(before).filter_map(result).collect())
    }

    pub(crate) fn last_run(&self) -> Result<Option<String>, NotHere> {
        let run = |entry: &Entry| if let Entry::Run { run_id } = entry { Some(run_id.clone()) } else { None };
        Ok(self.entries()?.iter().rev().find_map(run))
    }

    pub(crate) fn last_interruption(&self) -> Result<Option<Interruption>, NotHere> {
        let waits = |entry: &Entry| {
            if let Entry::Waits { interruption } = entry { Some((**interruption).clone()) } else { None }
        };
        Ok(self.entries()?.iter().rev().find_map(waits))
    }

    pub(crate) fn last_slice(&self) -> Result<u32, NotHere> {
        let slice = |entry: &Entry| if let Entry::Slice { steps } = entry { Some(*steps) } else { None };
        Ok(self.entries()?.iter().rev().find_map(slice).unwrap_or(0))
    }

    /// Dies at once, with nothing tidied up. Returns where the process is not one that may be killed.
    pub(crate) fn kill(&self) -> NotHere {
        if !self.may_be_killed {
            let what = "kill outside of a process of its own";
            // The scenario is to fail by this, whatever the run makes of the error.
            return match self.note(&Entry::NotHere { what: what.to_owned() }) {
                Ok(()) => NotHere::unsupported(what),
                Err(error) => error,
            };
        }
        let process = std::process::id().to_string();
        match std::process::Command::new("kill").args(["-KILL", &process]).status() {
            Ok(_) => loop {
                std::thread::park();
            },
            Err(error) => broken(error),
        }
    }
}
