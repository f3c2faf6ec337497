//! The tools of a step, and the handle through which a hook takes some of them away.

use std::sync::Arc;

use crate::change::Change;
use crate::tool::{Tool, ToolSpec};

/// The tools that a step may advertise and dispatch: the registered ones, less what hooks removed.
#[derive(Debug, Clone)]
pub(crate) struct Roster {
    registered: Arc<[Arc<ToolSpec>]>,
    /// What is left once something was removed.
    left: Option<Vec<Arc<ToolSpec>>>,
}

impl Roster {
    pub(crate) fn new(registered: Arc<[Arc<ToolSpec>]>) -> Self {
        Self { registered, left: None }
    }

    pub(crate) fn specs(&self) -> &[Arc<ToolSpec>] {
        self.left.as_deref().unwrap_or(&self.registered)
    }

    fn names(&self) -> Vec<&str> {
        self.specs().iter().map(|spec| spec.name()).collect()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.specs().iter().any(|spec| spec.name() == name)
    }

    pub(crate) fn has_shrunk(&self) -> bool {
        self.left.is_some()
    }

    /// A roster of the tools of these names; a name without a tool counts for nothing.
    pub(crate) fn restricted(registered: &Arc<[Arc<ToolSpec>]>, names: &[String]) -> Self {
        let mut roster = Self::new(Arc::clone(registered));
        roster.retain(&mut |spec| names.iter().any(|name| name == spec.name()));
        roster
    }

    fn retain(&mut self, keep: &mut dyn FnMut(&ToolSpec) -> bool) -> Vec<String> {
        let (left, removed): (Vec<_>, Vec<_>) = self.specs().iter().cloned().partition(|spec| keep(spec));
        if removed.is_empty() {
            return Vec::new();
        }
        self.left = Some(left);
        removed.iter().map(|spec| spec.name().to_owned()).collect()
    }
}

/// A roster on which hooks work, one after another (contract S5).
#[derive(Debug)]
pub(crate) struct RosterDraft {
    current: Roster,
    /// The roster as the running hook found it, once that hook removed something.
    before: Option<Roster>,
    changes: Vec<Change>,
}

impl RosterDraft {
    pub(crate) fn new(roster: Roster) -> Self {
        Self { current: roster, before: None, changes: Vec::new() }
    }

    pub(crate) fn roster(&self) -> &Roster {
        &self.current
    }

    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The names of the tools as the running hook found them and as it left them, where it removed some.
    pub(crate) fn names_around_the_hook(&self) -> Option<(Vec<&str>, Vec<&str>)> {
        self.before.as_ref().map(|before| (before.names(), self.current.names()))
    }

    pub(crate) fn accept(&mut self) -> Vec<Change> {
        self.before = None;
        std::mem::take(&mut self.changes)
    }

    pub(crate) fn roll_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.current = before;
        }
        self.changes.clear();
    }

    /// Not generic, so that the crates of hooks do not compile this anew for each of their closures.
    fn retain(&mut self, keep: &mut dyn FnMut(&ToolSpec) -> bool) -> bool {
        let before = self.before.is_none().then(|| self.current.clone());
        let removed = self.current.retain(keep);
        if removed.is_empty() {
            return false;
        }
        self.before = self.before.take().or(before);
        self.changes.extend(removed.into_iter().map(|tool| Change::ToolRemoved { tool }));
        true
    }
}

/// The tools of one step: a hook can take tools away from it, and nothing else (contract M4, M5).
///
/// The next step starts from the full registered roster again. What is removed is neither advertised to the model nor
/// dispatched when the model asks for it all the same (contract M9).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::RequestFixture;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> String {
///     query
/// }
///
/// #[before_model]
/// fn search_once(request: &mut ModelRequest<'_>) {
///     let mut tools = request.tools();
///     assert!(tools.contains::<search>() && tools.contains_named("delete"));
///     tools.retain(|spec| spec.capabilities().is_empty());
///     tools.remove_named("delete");
///     assert_eq!(tools.iter().map(|spec| spec.name()).collect::<Vec<_>>(), ["search"]);
///     if request.step() > 1 {
///         request.tools().remove::<search>();
///     }
/// }
///
/// let mut fixture = RequestFixture::new().tool::<search>().tool_named("delete").step(2);
/// fixture.with(|request| search_once(request));
/// assert!(fixture.tool_names().is_empty());
/// ```
#[derive(Debug)]
pub struct ToolsMut<'t> {
    draft: &'t mut RosterDraft,
}

impl<'t> ToolsMut<'t> {
    pub(crate) fn new(draft: &'t mut RosterDraft) -> Self {
        Self { draft }
    }

    /// Takes the tool `T` away from this step. Says whether it was there.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::RequestFixture;
    /// # /// Search the catalogue.
    /// # #[tool]
    /// # fn search(query: String) -> String { query }
    /// # let mut fixture = RequestFixture::new().tool::<search>();
    /// # fixture.with(|request: &mut ModelRequest<'_>| {
    /// assert!(request.tools().remove::<search>());
    /// assert!(!request.tools().remove::<search>(), "it is gone");
    /// # });
    /// ```
    pub fn remove<T: Tool>(&mut self) -> bool {
        self.remove_named(T::NAME)
    }

    /// Takes the tool of this name away from this step. Says whether it was there.
    pub fn remove_named(&mut self, name: &str) -> bool {
        self.draft.retain(&mut |spec| spec.name() != name)
    }

    /// Keeps the tools for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&ToolSpec) -> bool) {
        self.draft.retain(&mut keep);
    }

    /// Whether the tool `T` is in this step's roster.
    #[must_use]
    pub fn contains<T: Tool>(&self) -> bool {
        self.draft.current.contains(T::NAME)
    }

    /// Whether a tool of this name is in this step's roster.
    #[must_use]
    pub fn contains_named(&self, name: &str) -> bool {
        self.draft.current.contains(name)
    }

    /// The tools, in the order of their registration.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.draft.current.specs().iter().map(|spec| &**spec)
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.draft.current.specs().len()
    }

    /// Whether there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
