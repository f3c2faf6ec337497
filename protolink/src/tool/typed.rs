//! The parameters of an annotated tool: arguments out of JSON, state, and the context.

use std::marker::PhantomData;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::value::Error as PlainError;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

use super::definition::{CheckFn, OnError, ToolContext, ToolDefinition, ToolFn, ToolInput};
use super::error::ToolFailure;
use crate::state::{FromRef, State};

/// The kind of an argument.
const ARGUMENT: u8 = 0;
const STATE: u8 = 1;
const CONTEXT: u8 = 2;

/// Says what a parameter is by its type: the constants here are found before the one of [`AnArgument`].
#[doc(hidden)]
#[derive(Debug)]
pub struct ToolParameterKind<T>(PhantomData<T>);

impl<T> ToolParameterKind<State<T>> {
    pub const KIND: u8 = STATE;
}

impl ToolParameterKind<ToolContext> {
    pub const KIND: u8 = CONTEXT;
}

#[doc(hidden)]
pub trait AnArgument {
    const KIND: u8 = ARGUMENT;
}

impl<T> AnArgument for ToolParameterKind<T> {}

/// One call, as the generated code takes it apart.
#[doc(hidden)]
#[derive(Debug)]
pub struct ToolCall<'s, S> {
    arguments: Map<String, Value>,
    context: ToolContext,
    state: &'s S,
}

impl<'s, S> ToolCall<'s, S> {
    /// Takes a call apart.
    ///
    /// # Errors
    /// [`ToolFailure::BadArguments`] where it has arguments that the tool does not have.
    pub fn open(input: ToolInput, state: &'s S, parameters: &[(&str, u8)]) -> Result<Self, ToolFailure> {
        check_names(&input.arguments, parameters).map_err(ToolFailure::BadArguments)?;
        let arguments = match input.arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        Ok(Self { arguments, context: input.context, state })
    }
}

/// The name of each parameter of a tool, and what it is.
#[doc(hidden)]
pub type ToolParameters = &'static [(&'static str, u8)];

/// What a check says that found nothing wrong with the arguments.
#[doc(hidden)]
#[allow(clippy::unnecessary_wraps, reason = "it ends a function whose checks can fail")]
pub fn fits() -> Result<(), String> {
    Ok(())
}

/// Takes `null` for no arguments, and refuses arguments that the tool does not have.
#[doc(hidden)]
pub fn check_names(arguments: &Value, parameters: &[(&str, u8)]) -> Result<(), String> {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        Value::Null => return Ok(()),
        other => return Err(format!("the arguments must be a JSON object, not {}", kind_of(other))),
    };
    let names = || parameters.iter().filter(|(_, kind)| *kind == ARGUMENT).map(|(name, _)| *name);
    let Some(unknown) = arguments.keys().find(|key| !names().any(|name| name == *key)) else { return Ok(()) };
    let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let known = if known.is_empty() { "no arguments".to_owned() } else { known.join(", ") };
    Err(format!("there is no argument `{}`: the tool takes {known}", unknown.escape_debug()))
}

/// What a value is, in the words of a correction.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What a parameter is made of.
#[doc(hidden)]
#[derive(Debug)]
pub enum Taken<T> {
    /// An argument as the model gave it, if it did.
    Argument(Option<Value>),
    /// The value itself.
    Value(T),
}

/// How a parameter comes out of one call of a tool, or out of the agent's state `S`.
#[doc(hidden)]
pub trait FromCall<S, const KIND: u8>: Sized {
    fn take(call: &mut ToolCall<'_, S>, name: &str) -> Taken<Self>;
}

impl<S, T> FromCall<S, ARGUMENT> for T {
    fn take(call: &mut ToolCall<'_, S>, name: &str) -> Taken<Self> {
        Taken::Argument(call.arguments.remove(name))
    }
}

impl<S, T: FromRef<S>> FromCall<S, STATE> for State<T> {
    fn take(call: &mut ToolCall<'_, S>, _: &str) -> Taken<Self> {
        Taken::Value(Self(T::from_ref(call.state)))
    }
}

impl<S> FromCall<S, CONTEXT> for ToolContext {
    fn take(call: &mut ToolCall<'_, S>, _: &str) -> Taken<Self> {
        Taken::Value(call.context.clone())
    }
}

/// What a tool may take: arguments (kind 0), `State<T>` (kind 1) and `ToolContext` (kind 2).
///
/// ```
/// use protolink::prelude::*;
///
/// /// How to sort.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// enum Order {
///     Title,
///     Age,
/// }
///
/// /// List the pages.
/// #[tool]
/// fn list(
///     order: Option<Order>,
///     State(pages): State<Vec<String>>,
///     context: ToolContext,
/// ) -> Vec<String> {
///     println!("{} lists", context.action_id());
///     match order {
///         Some(Order::Age) => pages.into_iter().rev().collect(),
///         _ => pages,
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot take an argument of type `{Self}`",
    label = "not readable from JSON, or without a schema",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for `{Self}`; what is no argument comes as `State<T>` or `ToolContext`"
)]
pub trait ToolParameter<const KIND: u8>: Sized {
    #[doc(hidden)]
    fn describe(schema: &mut ArgumentsSchema, name: &str, description: &str);
    #[doc(hidden)]
    fn check(arguments: &Value, name: &str) -> Result<(), String>;
    #[doc(hidden)]
    fn accept(taken: Taken<Self>, name: &str) -> Result<Self, ToolFailure>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ToolParameter<0> for T {
    fn describe(schema: &mut ArgumentsSchema, name: &str, description: &str) {
        schema.argument::<T>(name, description, absent::<T>().is_none(), None);
    }

    fn check(arguments: &Value, name: &str) -> Result<(), String> {
        match arguments.get(name) {
            Some(value) => decode::<T, _>(value, name).map(drop),
            None => absent::<T>().map(drop).ok_or_else(|| missing(name)),
        }
    }

    fn accept(taken: Taken<Self>, name: &str) -> Result<Self, ToolFailure> {
        match taken {
            Taken::Argument(Some(value)) => decode(value, name).map_err(ToolFailure::BadArguments),
            Taken::Argument(None) => absent().ok_or_else(|| ToolFailure::BadArguments(missing(name))),
            Taken::Value(value) => Ok(value),
        }
    }
}

fn decode<'de, T, D>(value: D, name: &str) -> Result<T, String>
where
    T: Deserialize<'de>,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    T::deserialize(value).map_err(|error| format!("the argument `{name}` does not fit: {error}"))
}

fn missing(name: &str) -> String {
    format!("the argument `{name}` is missing")
}

/// Neither the state nor the context is seen by the model.
macro_rules! unseen {
    ($kind:literal, $type:ty $(, $param:ident)?) => {
        #[diagnostic::do_not_recommend]
        impl$(<$param>)? ToolParameter<$kind> for $type {
            fn describe(_: &mut ArgumentsSchema, _: &str, _: &str) {}

            fn check(_: &Value, _: &str) -> Result<(), String> {
                Ok(())
            }

            fn accept(taken: Taken<Self>, name: &str) -> Result<Self, ToolFailure> {
                match taken {
                    Taken::Value(value) => Ok(value),
                    Taken::Argument(_) => Err(ToolFailure::BadArguments(format!("`{name}` is no argument"))),
                }
            }
        }
    };
}

unseen!(1, State<T>, T);
unseen!(2, ToolContext);

/// A parameter that can be a pattern: the model does not name it.
///
/// ```
/// use protolink::prelude::*;
///
/// /// Count the pages.
/// #[tool]
/// fn count(State(pages): State<Vec<String>>) -> usize {
///     pages.len()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "an argument of a tool has a name",
    label = "this argument is a pattern, and the model could not name it",
    note = "write `name: {Self}`, and take it apart in the body"
)]
pub trait UnnamedParameter<const KIND: u8> {
    #[doc(hidden)]
    fn unnamed() {}
}

#[diagnostic::do_not_recommend]
impl<T> UnnamedParameter<1> for State<T> {}
#[diagnostic::do_not_recommend]
impl UnnamedParameter<2> for ToolContext {}

/// An argument with `#[default(..)]`.
///
/// ```
/// use protolink::prelude::*;
///
/// /// List pages.
/// #[tool]
/// fn list(#[default(10)] limit: usize, State(pages): State<Vec<String>>) -> Vec<String> {
///     pages.into_iter().take(limit).collect()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have a default",
    label = "not an argument whose default the model can be told",
    note = "derive `serde::Serialize`, `serde::Deserialize` and `schemars::JsonSchema` for `{Self}`"
)]
pub trait DefaultParameter: Sized {
    #[doc(hidden)]
    fn describe_default(schema: &mut ArgumentsSchema, name: &str, description: &str, default: Self);
    #[doc(hidden)]
    fn check_or_default(arguments: &Value, name: &str) -> Result<(), String>;
    #[doc(hidden)]
    fn accept_or(taken: Taken<Self>, name: &str, default: impl FnOnce() -> Self) -> Result<Self, ToolFailure>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> DefaultParameter for T {
    fn describe_default(schema: &mut ArgumentsSchema, name: &str, description: &str, default: Self) {
        schema.argument::<T>(name, description, false, serde_json::to_value(default).ok());
    }

    fn check_or_default(arguments: &Value, name: &str) -> Result<(), String> {
        match arguments.get(name) {
            None | Some(Value::Null) => Ok(()),
            Some(value) => decode::<T, _>(value, name).map(drop),
        }
    }

    fn accept_or(taken: Taken<Self>, name: &str, default: impl FnOnce() -> Self) -> Result<Self, ToolFailure> {
        match taken {
            // A `null` is how some models leave an argument out.
            Taken::Argument(None) => Ok(default()),
            Taken::Argument(Some(Value::Null)) => Ok(absent().unwrap_or_else(default)),
            Taken::Argument(Some(value)) => decode(value, name).map_err(ToolFailure::BadArguments),
            Taken::Value(value) => Ok(value),
        }
    }
}

/// The value of an argument that was left out: `Option` has one, under any name that it goes by.
fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// Reads like a value that is not there: `Option` gets `None`, and all else is an error.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = PlainError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, PlainError> {
        Err(serde::de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlainError> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The JSON Schema of a tool's arguments, in the making.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct ArgumentsSchema {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl ArgumentsSchema {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn argument<T: JsonSchema>(&mut self, name: &str, description: &str, required: bool, default: Option<Value>) {
        let mut schema = self.generator.subschema_for::<T>();
        if !description.is_empty() {
            schema.insert("description".to_owned(), description.into());
        }
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
        if required {
            self.required.push(name.into());
        }
        self.properties.insert(name.to_owned(), schema.into());
    }

    fn finish(mut self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(self.required));
        }
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        let definitions = self.generator.take_definitions(true);
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Value::Object(schema)
    }
}

/// The schema of what a tool gives back, where its type has one: the constant-like function here is found before the
/// one of [`NoOutputSchema`].
#[doc(hidden)]
#[derive(Debug)]
pub struct OutputSchema<T>(PhantomData<T>);

impl<T: JsonSchema> OutputSchema<T> {
    #[must_use]
    pub fn schema() -> Option<Value> {
        Some(schemars::schema_for!(T).into())
    }
}

#[doc(hidden)]
pub trait NoOutputSchema {
    #[must_use]
    fn schema() -> Option<Value> {
        None
    }
}

impl<T> NoOutputSchema for OutputSchema<T> {}

impl<S> ToolDefinition<S> {
    /// An annotated tool.
    #[doc(hidden)]
    #[must_use]
    pub fn annotated(
        name: &str,
        description: &str,
        arguments: ArgumentsSchema,
        output_schema: Option<Value>,
        check: CheckFn,
        call: ToolFn<S>,
    ) -> Self {
        Self::new(name, description, arguments.finish(), call).gives(output_schema).checked_by(check)
    }

    /// Stands for a tool that does not compile.
    #[doc(hidden)]
    #[must_use]
    pub fn stub(name: &str) -> Self {
        Self::new(name, "", Value::Null, |_, _| Box::pin(std::future::ready(Ok(Value::Null)))).options(
            &[],
            false,
            OnError::Fail,
        )
    }
}
