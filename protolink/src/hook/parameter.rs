//! The parameters of an annotated hook, told apart by their types and not by their names.
//!
//! The generated code asks each parameter's type what it is. A constant that depends on it picks the trait
//! implementation, so that a wrong parameter is an error where it stands, and only there: the hook can still be
//! registered, and one mistake stays one error.

use std::marker::PhantomData;

use super::code::Code;
use super::registration::{Hook, HookFor, Thunk};
use super::response::AnswerType;
use super::stage::{AnswerFor, BeforeModel};
use super::{BoxError, FinalResponse, ModelRequest, ToolObservation};
use crate::state::{FromRef, State};
use crate::tool::{Tool, ToolValue};

/// The first parameter of a `#[before_model]` hook.
///
/// ```
/// use protolink::prelude::*;
///
/// type Request<'r> = ModelRequest<'r>; // an alias is as good as the name
///
/// #[before_model]
/// fn be_brief(request: &mut Request<'_>) {
///     request.history().append_system("Be brief.");
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the first parameter of a `#[before_model]` hook is `&mut ModelRequest<'_>`, not `{Self}`",
    label = "write `&mut ModelRequest<'_>`",
    note = "a hook changes what it is lent, in place"
)]
pub trait BeforeModelSubject<Given>: Sized {
    #[doc(hidden)]
    fn accept(given: Given) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a, 'r> BeforeModelSubject<&'a mut ModelRequest<'r>> for &'a mut ModelRequest<'r> {
    #[inline]
    fn accept(given: Self) -> Self {
        given
    }
}

/// The first parameter of an `#[after_tool]` hook that names no tool.
///
/// ```
/// use protolink::prelude::*;
///
/// #[after_tool]
/// fn hide(observation: &mut ToolObservation<'_>) -> Result<(), protolink::ValueError> {
///     observation.set_result("[hidden]")
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the first parameter of an `#[after_tool]` hook is `&mut ToolObservation<'_>`, not `{Self}`",
    label = "write `&mut ToolObservation<'_>`",
    note = "with `#[after_tool(tool = search)]` it is `&mut ToolObservation<'_, O>`, where `O` is what `search` returns"
)]
pub trait AfterToolSubject<Given>: Sized {
    #[doc(hidden)]
    fn accept(given: Given) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a, 'r> AfterToolSubject<&'a mut ToolObservation<'r>> for &'a mut ToolObservation<'r> {
    #[inline]
    fn accept(given: Self) -> Self {
        given
    }
}

/// The first parameter of an `#[after_tool]` hook that names its tool: the tool's output is that of the observation
/// `Given`.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Search the catalogue.
/// #[tool]
/// fn search(query: String) -> Vec<String> {
///     vec![query]
/// }
///
/// type Hits<'o> = ToolObservation<'o, Vec<String>>; // an alias is as good as the name
///
/// #[after_tool(tool = search)]
/// fn first_hit(observation: &mut Hits<'_>) {
///     observation.result_mut().truncate(1);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the first parameter of this `#[after_tool(tool = ..)]` hook is `{Given}`, not `{Self}`",
    label = "write `{Given}`",
    note = "with `tool = ..` a hook is given what that tool returns; without it, `&mut ToolObservation<'_>`"
)]
pub trait ToolSubject<Given>: Sized {
    #[doc(hidden)]
    fn accept(given: Given) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a, 'r, O> ToolSubject<&'a mut ToolObservation<'r, O>> for &'a mut ToolObservation<'r, O> {
    #[inline]
    fn accept(given: Self) -> Self {
        given
    }
}

/// The first parameter of a `#[before_complete]` hook.
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_complete]
/// fn shout(response: &mut FinalResponse<'_>) {
///     let loud = response.text().unwrap_or_default().to_uppercase();
///     response.set_text(loud);
/// }
///
/// #[before_complete]
/// fn not_negative(response: &mut FinalResponse<'_, i64>) {
///     *response.answer_mut() = *response.answer().max(&0);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the first parameter of a `#[before_complete]` hook is `&mut FinalResponse<'_>`, not `{Self}`",
    label = "write `&mut FinalResponse<'_>`",
    note = "for an agent whose answers are `T` it may be `&mut FinalResponse<'_, T>`"
)]
pub trait BeforeCompleteSubject<Given>: Sized {
    #[doc(hidden)]
    fn accept(given: Given) -> Self;
}

#[diagnostic::do_not_recommend]
impl<'a, 'r, T> BeforeCompleteSubject<&'a mut FinalResponse<'r, T>> for &'a mut FinalResponse<'r, T> {
    #[inline]
    fn accept(given: Self) -> Self {
        given
    }
}

/// What a hook may take after its first parameter: any number of `State<T>`.
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn trim(
///     request: &mut ModelRequest<'_>,
///     State(limit): State<usize>,
///     State(note): State<String>,
/// ) {
///     while request.history().len() > limit {
///         request.history().remove(0);
///     }
///     request.history().append_system(note);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a hook cannot take a parameter of type `{Self}`",
    label = "not a `State<T>`",
    note = "after the first parameter, a hook takes only `State<T>`, where the agent's state has a `T`"
)]
pub trait HookParam<T>: Sized {
    #[doc(hidden)]
    fn holding(value: T) -> Self;

    #[doc(hidden)]
    #[inline]
    #[must_use]
    fn given(self) -> Self {
        self
    }
}

impl<T> HookParam<T> for State<T> {
    #[inline]
    fn holding(value: T) -> Self {
        Self(value)
    }
}

/// Tells `State<T>` from every other type: its own constant is found before that of [`NotState`].
#[doc(hidden)]
#[derive(Debug)]
pub struct ParameterKind<T>(PhantomData<T>);

impl<T> ParameterKind<State<T>> {
    pub const IS_STATE: bool = true;
}

#[doc(hidden)]
pub trait NotState {
    const IS_STATE: bool = false;
}

impl<T> NotState for ParameterKind<T> {}

/// How a parameter after the first comes out of the agent's state `S`.
#[doc(hidden)]
pub trait FromState<S, const IS_STATE: bool>: Sized {
    fn from_state(state: &S) -> Self;
}

impl<S, T: FromRef<S>> FromState<S, true> for State<T> {
    #[inline]
    fn from_state(state: &S) -> Self {
        State(T::from_ref(state))
    }
}

impl<S, T> FromState<S, false> for T {
    fn from_state(_: &S) -> Self {
        // `HookParam` has refused the type where the hook is defined, so no program has this function.
        const { panic!("a hook takes only `State<T>` after its first parameter") }
    }
}

/// Tells `&mut FinalResponse<'_, T>` from every other type.
#[doc(hidden)]
#[derive(Debug)]
pub struct SubjectKind<P>(PhantomData<P>);

impl<T> SubjectKind<&mut FinalResponse<'_, T>> {
    pub const IS_RESPONSE: bool = true;
}

#[doc(hidden)]
pub trait NotAResponse {
    const IS_RESPONSE: bool = false;
}

impl<P> NotAResponse for SubjectKind<P> {}

/// Whether a hook, given as a function of its first parameter, can check the answers of an agent whose answers are `A`.
#[doc(hidden)]
pub trait ChecksAnswers<A, const IS_RESPONSE: bool> {}

impl<A, T: AnswerFor<A>> ChecksAnswers<A, true> for for<'a, 'r> fn(&'a mut FinalResponse<'r, T>) {}
impl<A, F> ChecksAnswers<A, false> for F {}

/// The name of a tool, where the type is one: its own constant is found before the one of [`NotATool`].
#[doc(hidden)]
#[derive(Debug)]
pub struct ToolName<T>(PhantomData<T>);

impl<T: Tool> ToolName<T> {
    pub const NAME: &'static str = T::NAME;
}

#[doc(hidden)]
pub trait NotATool {
    const NAME: &'static str = "";
}

impl<T> NotATool for ToolName<T> {}

/// Lends an observation in the output type of the hook's tool; does nothing for another tool.
#[doc(hidden)]
pub fn lend_observation<O: ToolValue>(
    observation: &mut ToolObservation<'_>,
    tool: Option<&'static str>,
    hook: impl FnOnce(&mut ToolObservation<'_, O>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let Some(mut narrowed) = narrow_observation(observation, tool)? else { return Ok(()) };
    hook(&mut narrowed)?;
    narrowed.commit()
}

/// The observation in the output type of the hook's tool; `None` for another tool.
#[doc(hidden)]
pub fn narrow_observation<'o, O: ToolValue>(
    observation: &'o mut ToolObservation<'_>,
    tool: Option<&'static str>,
) -> Result<Option<ToolObservation<'o, O>>, BoxError> {
    tool.map_or(Ok(None), |tool| observation.narrow_for(tool))
}

/// Lends a response in the answer type that the hook asks for.
#[doc(hidden)]
pub fn lend_response<T: AnswerType>(
    response: &mut FinalResponse<'_>,
    hook: impl FnOnce(&mut FinalResponse<'_, T>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let mut narrowed = response.narrow::<T>()?;
    hook(&mut narrowed)?;
    narrowed.commit()
}

/// The response in the answer type that the hook asks for.
#[doc(hidden)]
pub fn narrow_response<'o, T: AnswerType>(
    response: &'o mut FinalResponse<'_>,
) -> Result<Option<FinalResponse<'o, T>>, BoxError> {
    response.narrow::<T>().map(Some)
}

/// Stands for a hook of a module whose `#[cfg]` is false. It is never added.
#[doc(hidden)]
#[derive(Debug)]
pub struct AbsentHook;

impl Hook for AbsentHook {
    const FACTS: &'static str = "";
}

impl<S: 'static, A> HookFor<S, A> for AbsentHook {
    const CODE: &'static dyn Code<S> = &Thunk::<BeforeModel, S>::Sync(|_, _| Ok(()));
}
