//! What an `after_tool` hook is given (contract T1, T3, T4).

use std::fmt;
use std::marker::PhantomData;

use serde::Serialize;
use serde_json::Value;

use super::BoxError;
use super::request::Invariant;
use crate::change::{Captured, Change};
use crate::run_context::RunContext;
use crate::tool::{Tool, ToolValue};
use crate::value::{SharedValue, ValueError, check_depth, to_value};

/// A result on which hooks work, one after another. What the receipt keeps is shared, and copied when a hook asks for
/// it mutably.
#[derive(Debug)]
pub(crate) struct ObservationDraft {
    current: SharedValue,
    /// What the running hook wants the model to see instead.
    proposed: Option<Value>,
}

impl ObservationDraft {
    pub(crate) fn new(result: SharedValue) -> Self {
        Self { current: result, proposed: None }
    }

    /// Keeps what the running hook did.
    pub(crate) fn accept(&mut self, call_id: &str) -> Result<Option<Change>, ValueError> {
        let Some(proposed) = self.proposed.take() else { return Ok(None) };
        check_depth(&proposed)?;
        if *self.current == proposed {
            return Ok(None);
        }
        self.current = proposed.into();
        let result = Captured::Content(self.current.clone());
        Ok(Some(Change::ResultChanged { call_id: call_id.to_owned(), result }))
    }

    pub(crate) fn roll_back(&mut self) {
        self.proposed = None;
    }

    pub(crate) fn current(&self) -> &SharedValue {
        &self.current
    }

    /// What the running hook did so far.
    pub(crate) fn changes(&self, call_id: &str) -> Vec<Change> {
        let proposed = self.proposed.iter().filter(|proposed| *self.current != **proposed);
        let changed = |proposed: &Value| Change::ResultChanged {
            call_id: call_id.to_owned(),
            result: Captured::Content(proposed.clone().into()),
        };
        proposed.map(changed).collect()
    }

    pub(crate) fn into_current(self) -> SharedValue {
        self.current
    }
}

/// The result of a successful tool call, as an `#[after_tool]` hook sees it: a copy, made when the hook changes it.
///
/// The receipt keeps what really happened (contract T3). Without `tool = ..` the result is JSON; with it, it is the
/// tool's own output type `O`.
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ObservationFixture;
///
/// #[after_tool]
/// fn drop_debug_fields(observation: &mut ToolObservation<'_>) {
///     if observation.result().get("debug").is_some() {
///         observation.result_mut()["debug"] = serde_json::Value::Null;
///     }
/// }
///
/// let mut fixture = ObservationFixture::json("search", serde_json::json!({ "debug": "trace", "hits": 2 }));
/// fixture.with(|observation| drop_debug_fields(observation));
/// assert_eq!(fixture.result(), &serde_json::json!({ "debug": null, "hits": 2 }));
/// ```
///
/// In the tool's own type:
///
/// ```
/// use protolink::prelude::*;
/// use protolink::testing::ObservationFixture;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> Vec<String> {
///     vec![query]
/// }
///
/// #[after_tool(tool = search)]
/// fn first_hit(observation: &mut ToolObservation<'_, Vec<String>>) {
///     observation.result_mut().truncate(1);
/// }
///
/// let mut fixture =
///     ObservationFixture::of::<search>(vec!["desk lamp".to_owned(), "floor lamp".to_owned()]);
/// fixture.with(|observation| first_hit(observation));
/// assert_eq!(fixture.result(), &serde_json::json!(["desk lamp"]));
/// ```
///
/// Contract clauses kept here: T1, T3, T4, T7.
pub struct ToolObservation<'o, O = Value> {
    head: Head<'o>,
    result: Slot<'o, O>,
    _brand: Invariant<'o>,
}

/// What does not depend on the type of the result.
#[derive(Clone, Copy)]
struct Head<'o> {
    tool: &'o str,
    call_id: &'o str,
    context: &'o RunContext,
    step: u32,
}

enum Slot<'o, O> {
    /// The JSON itself: what is there, and where a change goes.
    Json { current: &'o O, proposed: &'o mut Option<O>, copy: fn(&O) -> O },
    /// Decoded from JSON for one hook; encoded again where it was borrowed mutably.
    Decoded { value: O, changed: bool, proposed: &'o mut Option<Value> },
}

impl<'o> ToolObservation<'o> {
    pub(crate) fn new(
        draft: &'o mut ObservationDraft,
        tool: &'o str,
        call_id: &'o str,
        context: &'o RunContext,
        step: u32,
    ) -> Self {
        let ObservationDraft { current, proposed } = draft;
        let result = Slot::Json { current: &**current, proposed, copy: Value::clone };
        Self { head: Head { tool, call_id, context, step }, result, _brand: PhantomData }
    }

    /// Replaces what the model sees by any value.
    ///
    /// ```
    /// # use protolink::prelude::*;
    /// # use protolink::testing::ObservationFixture;
    /// # let mut fixture = ObservationFixture::json("search", serde_json::json!({ "hits": ["a", "b"], "debug": "trace" }));
    /// # fixture.with(|observation: &mut ToolObservation<'_>| {
    /// let count = observation.result()["hits"].as_array().map_or(0, Vec::len);
    /// observation.set_result(format!("{count} hits"))
    /// # }).unwrap();
    /// assert_eq!(fixture.result(), "2 hits");
    /// assert_eq!(fixture.original()["debug"], "trace", "the receipt keeps what happened");
    /// ```
    ///
    /// # Errors
    /// [`ValueError`] when the value cannot be stored exactly (contract T7); the result is then as it was.
    pub fn set_result(&mut self, result: impl Serialize) -> Result<(), ValueError> {
        let result = to_value(&result)?;
        match &mut self.result {
            Slot::Json { proposed, .. } => **proposed = Some(result),
            Slot::Decoded { value, changed, .. } => {
                *changed = true;
                *value = result;
            }
        }
        Ok(())
    }

    /// The same observation, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> ToolObservation<'_> {
        let result = match &mut self.result {
            Slot::Json { current, proposed, copy } => {
                Slot::Json { current: *current, proposed: &mut **proposed, copy: *copy }
            }
            Slot::Decoded { value, proposed, .. } => {
                Slot::Json { current: &*value, proposed: &mut **proposed, copy: Value::clone }
            }
        };
        ToolObservation { head: self.head, result, _brand: PhantomData }
    }

    /// The same observation in the output type of the tool `T`; `None` where it is another tool's.
    #[doc(hidden)]
    pub fn narrow<T: Tool>(&mut self) -> Result<Option<ToolObservation<'_, T::Output>>, BoxError> {
        self.narrow_for(T::NAME)
    }

    /// The same observation in the output type `O` of this tool; `None` where it is another tool's.
    pub(crate) fn narrow_for<O: ToolValue>(&mut self, tool: &str) -> Result<Option<ToolObservation<'_, O>>, BoxError> {
        if self.head.tool != tool {
            return Ok(None);
        }
        let Slot::Json { current, proposed, .. } = &mut self.result else { return Ok(None) };
        let value = O::from_json(current)?;
        let result = Slot::Decoded { value, changed: false, proposed };
        Ok(Some(ToolObservation { head: self.head, result, _brand: PhantomData }))
    }
}

impl<O> ToolObservation<'_, O> {
    /// The tool's name.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.head.tool
    }

    /// The provider's identifier of the call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        self.head.call_id
    }

    /// The result as the model would see it now.
    #[must_use]
    pub fn result(&self) -> &O {
        match &self.result {
            Slot::Json { current, proposed, .. } => proposed.as_ref().unwrap_or(current),
            Slot::Decoded { value, .. } => value,
        }
    }

    /// The result, for changing what the model sees. The copy is made here, and not before.
    pub fn result_mut(&mut self) -> &mut O {
        match &mut self.result {
            Slot::Json { current, proposed, copy } => proposed.get_or_insert_with(|| copy(current)),
            Slot::Decoded { value, changed, .. } => {
                *changed = true;
                value
            }
        }
    }

    /// The step, counted from 1.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.head.step
    }
}

impl<'o, O> ToolObservation<'o, O> {
    /// Facts about the run, detached from it (contract M11).
    #[must_use]
    pub fn context(&self) -> &'o RunContext {
        self.head.context
    }
}

impl<O: ToolValue> ToolObservation<'_, O> {
    /// Hands a changed result back as JSON.
    #[doc(hidden)]
    pub fn commit(self) -> Result<(), BoxError> {
        if let Slot::Decoded { value, changed: true, proposed } = self.result {
            *proposed = Some(value.into_json()?);
        }
        Ok(())
    }
}

impl<O> fmt::Debug for ToolObservation<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The result stays out of it: a hook that prints what it is given must not leak what it was to redact.
        f.debug_struct("ToolObservation")
            .field("tool", &self.head.tool)
            .field("call_id", &self.head.call_id)
            .field("step", &self.head.step)
            .finish_non_exhaustive()
    }
}
