//! The application's state, and how hooks and tools take parts of it.

/// The state of an agent that was given none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoState;

/// A part of the agent's state, as a parameter of a hook or of a tool.
///
/// ```
/// use protolink::prelude::*;
///
/// #[derive(Clone)]
/// struct Limits { messages: usize }
///
/// #[derive(Clone, FromRef)]
/// struct App { limits: Limits }
///
/// #[before_model]
/// fn trim(request: &mut ModelRequest<'_>, State(limits): State<Limits>) {
///     while request.history().len() > limits.messages {
///         request.history().remove(0);
///     }
/// }
/// # let _ = Agent::builder("a").state(App { limits: Limits { messages: 3 } }).hooks(hooks![trim]);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State<T>(pub T);

/// Takes a part out of the application's state; `#[derive(FromRef)]` writes it for each field.
#[diagnostic::on_unimplemented(
    message = "the agent's state `{S}` has no `{Self}`",
    label = "`State<{Self}>` is asked for here, and `{S}` does not provide it",
    note = "give `{S}` a field of type `{Self}` and `#[derive(FromRef)]`, and call `.state(..)` before what needs it is registered"
)]
pub trait FromRef<S> {
    /// Takes the part out of the whole.
    fn from_ref(state: &S) -> Self;
}

/// What a hook may take after its first parameter.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a hook cannot take a parameter of type `{Self}`",
    label = "not a hook parameter",
    note = "after the first parameter, a hook takes only `State<T>`"
)]
pub trait HookParam {
    const IS_PARAM: () = ();
}

impl<T> HookParam for State<T> {}

/// How a parameter comes out of the state.
#[doc(hidden)]
pub trait FromState<S>: Sized {
    fn from_state(state: &S) -> Self;
}

impl<S, T: FromRef<S>> FromState<S> for State<T> {
    #[inline]
    fn from_state(state: &S) -> Self {
        State(T::from_ref(state))
    }
}
