//! Finding runs: filters and pages.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{RunState, RunSummary, Timestamp};

/// Which runs to list; an empty filter lists all.
///
/// ```
/// use protolink::durable::{NewRun, RunFilter, RunState, RunSummary, Timestamp};
///
/// let waiting = RunFilter::new().agent("helper").state(RunState::Paused);
///
/// let january = RunFilter::new()
///     .label("tenant", "acme")
///     .conversation("ada")
///     .created_from(Timestamp::from_millis(1_767_225_600_000))
///     .created_before(Timestamp::from_millis(1_769_904_000_000));
/// # let _ = waiting;
///
/// // For a store of your own: whether a run is among those that are asked for.
/// let run = RunSummary::new(NewRun::new("order-4711", "helper"), Timestamp::from_millis(0));
/// assert!(RunFilter::new().matches(&run) && !january.matches(&run));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunFilter {
    /// Only runs of the agent with this name.
    pub agent: Option<String>,
    /// Only runs of this conversation.
    pub conversation: Option<String>,
    /// Only runs in one of these states; any state when empty.
    pub states: Vec<RunState>,
    /// Only runs that carry all of these labels.
    pub labels: BTreeMap<String, String>,
    /// Only runs created at this moment or later.
    pub created_from: Option<Timestamp>,
    /// Only runs created before this moment.
    pub created_before: Option<Timestamp>,
}

impl RunFilter {
    /// A filter that lets every run through.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only runs of the agent named `agent`.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Only runs of the conversation `conversation`.
    #[must_use]
    pub fn conversation(mut self, conversation: impl Into<String>) -> Self {
        self.conversation = Some(conversation.into());
        self
    }

    /// Only runs in `state`, or in another state that is also asked for.
    #[must_use]
    pub fn state(mut self, state: RunState) -> Self {
        self.states.push(state);
        self
    }

    /// Only runs whose label `key` is `value`.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// Only runs created at `moment` or later.
    #[must_use]
    pub fn created_from(mut self, moment: Timestamp) -> Self {
        self.created_from = Some(moment);
        self
    }

    /// Only runs created before `moment`.
    #[must_use]
    pub fn created_before(mut self, moment: Timestamp) -> Self {
        self.created_before = Some(moment);
        self
    }

    /// Whether `run` passes.
    #[must_use]
    pub fn matches(&self, run: &RunSummary) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == run.agent)
            && self.conversation.as_ref().is_none_or(|wanted| Some(wanted) == run.conversation.as_ref())
            && (self.states.is_empty() || self.states.contains(&run.state))
            && self.labels.iter().all(|(key, value)| run.labels.get(key) == Some(value))
            && self.created_from.is_none_or(|from| run.created_at >= from)
            && self.created_before.is_none_or(|before| run.created_at < before)
    }
}

/// The direction of a listing, by the order in which the store created the runs.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{MemoryStore, Order, Page, RunFilter, RunStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryStore::new();
/// # let model = ScriptedModel::from_fn(|_| Reply::text("done"));
/// # let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
/// # for order in ["order-1", "order-2", "order-3"] {
/// #     agent.run("Go.").run_id(order).await?;
/// # }
/// let mut page = Page::first(10);
/// page.order = Order::NewestFirst; // as `Page::newest(10)`
/// let found = store.list(&RunFilter::new(), page).await?;
/// assert_eq!(found.runs[0].run_id, "order-3");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The first run first.
    #[default]
    OldestFirst,
    /// The latest run first.
    NewestFirst,
}

/// Which part of a listing to give.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{MemoryStore, Page, RunFilter, RunStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryStore::new();
/// # let model = ScriptedModel::from_fn(|_| Reply::text("done"));
/// # let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
/// # for order in ["order-1", "order-2", "order-3"] {
/// #     agent.run("Go.").run_id(order).await?;
/// # }
/// let newest = store.list(&RunFilter::new(), Page::newest(2)).await?;
/// assert_eq!(newest.runs[0].run_id, "order-3");
///
/// let mut page = Page::first(2);
/// let mut seen = 0;
/// loop {
///     let found = store.list(&RunFilter::new(), page).await?;
///     seen += found.runs.len();
///     match found.next {
///         Some(cursor) => page = Page::first(2).after(cursor),
///         None => break,
///     }
/// }
/// assert_eq!(seen, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// How many runs at most.
    pub limit: u32,
    /// Goes on behind the page that ended with this cursor.
    pub after: Option<Cursor>,
    /// The direction, the same for all pages of a listing.
    pub order: Order,
}

impl Page {
    /// The first page, of `limit` runs, oldest first.
    #[must_use]
    pub fn first(limit: u32) -> Self {
        Self { limit, after: None, order: Order::OldestFirst }
    }

    /// The first page, of `limit` runs, newest first.
    #[must_use]
    pub fn newest(limit: u32) -> Self {
        Self { order: Order::NewestFirst, ..Self::first(limit) }
    }

    /// The page of the same size and direction that begins behind `cursor`.
    #[must_use]
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }
}

/// A hundred runs, oldest first.
impl Default for Page {
    fn default() -> Self {
        Self::first(100)
    }
}

/// A place in a listing; only the store that made it can read it.
///
/// It stays good while runs are created, ended and deleted: a listing that follows it shows no run twice and leaves
/// out none that was there from the start to the end.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{Cursor, MemoryStore, Page, RunFilter, RunStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryStore::new();
/// # let model = ScriptedModel::from_fn(|_| Reply::text("done"));
/// # let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
/// # for order in ["order-1", "order-2", "order-3"] {
/// #     agent.run("Go.").run_id(order).await?;
/// # }
/// let found = store.list(&RunFilter::new(), Page::first(2)).await?;
/// let text = found.next.ok_or("there is more")?.as_str().to_owned(); // to a client, and back
/// let rest = store.list(&RunFilter::new(), Page::first(2).after(Cursor::from(text))).await?;
/// assert_eq!(rest.runs.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// The cursor as text, to be handed to a client and back.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<T: Into<String>> From<T> for Cursor {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// One page of a listing.
///
/// ```
/// # use protolink::prelude::*;
/// # use protolink::testing::{Reply, ScriptedModel};
/// use protolink::durable::{MemoryStore, Page, RunFilter, RunPage, RunStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = MemoryStore::new();
/// # let model = ScriptedModel::from_fn(|_| Reply::text("done"));
/// # let agent = Agent::builder("a").model(model).durable(store.clone()).build()?;
/// # for order in ["order-1", "order-2", "order-3"] {
/// #     agent.run("Go.").run_id(order).await?;
/// # }
/// let found: RunPage = store.list(&RunFilter::new(), Page::first(2)).await?;
/// assert_eq!(found.runs.len(), 2);
/// assert!(found.next.is_some(), "there is more");
///
/// // A store of your own makes one.
/// let last = RunPage::new(Vec::new(), None);
/// # let _ = last;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunPage {
    /// The runs, in the order that was asked for.
    pub runs: Vec<RunSummary>,
    /// Where the next page begins; nothing when this one is the last.
    pub next: Option<Cursor>,
}

impl RunPage {
    /// A page of `runs`, with the place where the next one begins.
    #[must_use]
    pub fn new(runs: Vec<RunSummary>, next: Option<Cursor>) -> Self {
        Self { runs, next }
    }
}
