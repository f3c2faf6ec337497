//! What was seen of a whole scenario.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::not_here::{NotHere, broken};
use crate::player::Player;
use crate::scenario::{Scenario, Totals};
use crate::seen::Seen;
use crate::world::{Entry, World};

/// One command, with what happened while it was played.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) seen: Seen,
    pub(crate) hooks: Vec<String>,
    pub(crate) rosters: Vec<Vec<String>>,
}

/// Plays a scenario in a folder of its own.
pub(crate) fn play(scenario: &Scenario) -> Result<(Vec<Observed>, Totals), NotHere> {
    let commands = scenario.commands()?;
    let folder = tempfile::tempdir().map_err(broken)?;
    let world = Arc::new(World::new(folder.path(), false));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let observed = runtime.block_on(async {
        let mut player = Player::new(Arc::clone(&world), scenario.written(), false)?;
        let mut observed = Vec::new();
        for command in &commands {
            let before = world.entries()?.len();
            let seen = player.play(command).await?;
            let entries = world.entries()?.split_off(before);
            let not_here = |entry: &Entry| if let Entry::NotHere { what } = entry { Some(what.clone()) } else { None };
            if let Some(what) = entries.iter().find_map(not_here) {
                return Err(NotHere::unsupported(what));
            }
            observed.push(Observed { seen, hooks: hooks(&entries), rosters: rosters(&entries) });
        }
        Ok::<_, NotHere>(observed)
    })?;
    Ok((observed, totals(&world.entries()?)))
}

fn hooks(entries: &[Entry]) -> Vec<String> {
    let hook = |entry: &Entry| match entry {
        Entry::Hook { stage, id, step } => Some(format!("{stage}:{id}@{step}")),
        _ => None,
    };
    entries.iter().filter_map(hook).collect()
}

fn rosters(entries: &[Entry]) -> Vec<Vec<String>> {
    let roster = |entry: &Entry| match entry {
        Entry::Asked { roster } => Some(roster.clone()),
        _ => None,
    };
    entries.iter().filter_map(roster).collect()
}

fn totals(entries: &[Entry]) -> Totals {
    let mut totals = Totals::default();
    let count = |totals: &mut BTreeMap<String, usize>, name: String| *totals.entry(name).or_default() += 1;
    for entry in entries {
        match entry {
            Entry::Hook { stage, id, .. } => count(&mut totals.hook_calls, format!("{id}.{stage}")),
            Entry::Effect { tool } => count(&mut totals.tool_executions, tool.clone()),
            Entry::Asked { .. } => totals.model_calls += 1,
            _ => {}
        }
    }
    totals
}
