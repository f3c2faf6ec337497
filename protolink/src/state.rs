//! The application's state, and how hooks and tools take parts of it.

/// The state of an agent that was given none by [`AgentBuilder::state`](crate::AgentBuilder::state).
///
/// ```
/// use protolink::prelude::*;
/// use protolink::{AgentBuilder, NoState};
///
/// let builder: AgentBuilder<NoState> = Agent::builder("a");
/// # let _ = builder;
/// ```
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
///
/// ```
/// use protolink::prelude::*;
///
/// struct App {
///     names: Vec<String>,
/// }
///
/// /// A part that is made for each call.
/// struct FirstName(String);
///
/// impl FromRef<App> for FirstName {
///     fn from_ref(app: &App) -> Self {
///         Self(app.names.first().cloned().unwrap_or_default())
///     }
/// }
///
/// #[before_model]
/// fn greet(request: &mut ModelRequest<'_>, State(name): State<FirstName>) {
///     request.history().append_system(format!("The user is {}.", name.0));
/// }
/// # let _ = Agent::builder("a").state(App { names: vec!["Ada".to_owned()] }).hooks(hooks![greet]);
/// ```
#[diagnostic::on_unimplemented(
    message = "the agent's state `{S}` has no `{Self}`",
    label = "`State<{Self}>` is asked for here, and `{S}` does not provide it",
    note = "give `{S}` a field of type `{Self}` under `#[derive(FromRef)]`"
)]
pub trait FromRef<S> {
    /// Takes the part out of the whole.
    fn from_ref(state: &S) -> Self;
}

/// What an agent without a state could give to its hooks and tools: nothing is. The trait is there for its message.
///
/// ```
/// use protolink::prelude::*;
///
/// #[before_model]
/// fn note(request: &mut ModelRequest<'_>, State(note): State<String>) {
///     request.history().append_system(note);
/// }
/// // Without `.state(..)`, `hooks![note]` is where the compiler says that it is missing.
/// # let _ =
/// Agent::builder("a").state("Be brief.".to_owned()).hooks(hooks![note]);
/// ```
#[diagnostic::on_unimplemented(
    message = "the agent has no state, and so no `{Self}`",
    label = "`State<{Self}>` is asked for here, before any `.state(..)`",
    note = "call `.state(..)` first, with a `{Self}` or with a struct that has a field of that type and `#[derive(FromRef)]`"
)]
pub trait WithoutState {}

impl<T: WithoutState> FromRef<NoState> for T {
    fn from_ref(_: &NoState) -> Self {
        // Nothing implements `WithoutState`, so no program has this function.
        const { panic!("an agent without a state has no part of it") }
    }
}

/// The whole state is a part of itself.
impl<S: Clone> FromRef<S> for S {
    fn from_ref(state: &S) -> Self {
        state.clone()
    }
}
