//! A fresh process on the same store: this test's own binary, called again.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::not_here::{NotHere, broken};
use crate::player::Player;
use crate::setup::Written;
use crate::world::{Entry, World};

/// The environment variable that names a process's job.
const JOB: &str = "PROTOLINK_SCENARIO_JOB";

/// What a process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) folder: PathBuf,
    pub(crate) setup: Map<String, Value>,
    pub(crate) commands: Vec<Value>,
    pub(crate) after_a_kill: bool,
}

/// Runs a process to its end. Says whether it was killed.
pub(crate) fn run(world: &World, job: &Job) -> Result<bool, NotHere> {
    let before = world.entries()?.len();
    let file = world.folder().join("job.json");
    std::fs::write(&file, serde_json::to_vec(job).map_err(broken)?).map_err(broken)?;
    let binary = std::env::current_exe().map_err(broken)?;
    let status = Command::new(binary).env(JOB, &file).status().map_err(broken)?;
    for entry in world.entries()?.into_iter().skip(before) {
        match entry {
            Entry::NotHere { what } => return Err(NotHere::unsupported(what)),
            Entry::ProcessEnded => return Ok(false),
            _ => {}
        }
    }
    if status.success() { Err(broken("a process ended without a word")) } else { Ok(true) }
}

/// Whether this is a process with a job; then the job is done.
pub(crate) fn is_one() -> bool {
    let Some(file) = std::env::var_os(JOB) else { return false };
    let job = std::fs::read(file).map_err(broken).and_then(|job| serde_json::from_slice::<Job>(&job).map_err(broken));
    match job {
        Err(error) => eprintln!("{error}"),
        Ok(job) => {
            let world = Arc::new(World::new(&job.folder, true));
            let end = match work(&world, job) {
                Ok(()) => Entry::ProcessEnded,
                Err(error) => Entry::NotHere { what: error.to_string() },
            };
            if let Err(error) = world.note(&end) {
                eprintln!("{error}");
            }
        }
    }
    true
}

fn work(world: &Arc<World>, job: Job) -> Result<(), NotHere> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    runtime.block_on(async {
        let mut player = Player::new(Arc::clone(world), Written(job.setup), job.after_a_kill)?;
        for command in &job.commands {
            player.play(&crate::command::Command::read(command)?).await?;
        }
        Ok(())
    })
}
