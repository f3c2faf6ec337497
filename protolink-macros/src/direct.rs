//! Hooks that the runtime can call as they are, without a function of ours around them.
//!
//! Most hooks are sync and take and return what a hook takes and returns under its plain name. For these a pointer to
//! the function is all that is generated, and for their async siblings less than for others, which a crate of a
//! thousand hooks feels. What a name says is a guess, and a harmless one: the types are checked all the same, and where
//! they are spelt in another way a thunk checks and converts them one by one.

use std::borrow::Cow;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{GenericArgument, Path, PathArguments, PathSegment, Token, Type, TypeInfer, TypePath};

use crate::function::Function;
use crate::krate::Krate;
use crate::options::HookOptions;
use crate::place::Place;
use crate::spans::{closing_angle, ends, generated_at, user_ends};
use crate::stage::Stage;
use crate::tokens;

/// The runtime calls hooks of up to so many states by their pointers.
const MOST_STATES: usize = 4;

/// A hook that can be called as it is.
pub(crate) struct Direct<'f> {
    function: &'f Function,
    /// The `State<T>`s, and the `T` of each.
    states: Vec<(Place<'f>, &'f Type)>,
    output: Output<'f>,
}

/// What a hook returns, by its name.
enum Output<'f> {
    Nothing,
    /// `Result<(), E>`, and `E` where it is written.
    Fallible(Option<&'f Type>),
}

impl<'f> Direct<'f> {
    /// What names can say of a function that is a hook as it stands.
    pub(crate) fn of(stage: Stage, options: &HookOptions, function: &'f Function) -> Option<Self> {
        let generic = !function.sig.generics.params.is_empty() || function.sig.generics.where_clause.is_some();
        if generic || options.tool.is_some() {
            return None;
        }
        let mut parameters = function.parameters();
        if !is_subject(stage, &parameters.next()?.ty) {
            return None;
        }
        let states: Option<Vec<_>> =
            parameters.map(|parameter| Some((Place::owned(&parameter.ty), value(&parameter.ty)?))).collect();
        let states = states.filter(|states| states.len() <= MOST_STATES)?;
        let output = function.output().map_or(Some(Output::Nothing), output)?;
        Some(Self { function, states, output })
    }

    /// What the state of an agent must offer for this hook.
    pub(crate) fn bounds(&self, krate: &Krate, agent: &Ident) -> Vec<TokenStream> {
        let bound = |(place, value): &(Place<'f>, &'f Type)| {
            let private = krate.private_at(place.start);
            quote_spanned!(place.start=> #value: #private::FromRef<#agent>)
        };
        self.states.iter().map(bound).collect()
    }

    /// `&before_model::Fallible1 { 0: hook, 1: <E as IntoHookError>::into_hook_error, 2: <State<Db> as ..>::holding }`
    pub(crate) fn pointer(&self, stage: Stage, krate: &Krate) -> TokenStream {
        let name = &self.function.sig.ident;
        let at = generated_at(name.span());
        let private = krate.private_at(at);
        let stage = Ident::new(stage.name(), at);
        let (kind, error) = match self.output {
            Output::Nothing => ("Hook", None),
            Output::Fallible(error) => ("Fallible", Some(error_place(error, self.function.output(), at))),
        };
        let kind = Ident::new(&format!("{kind}{}", self.states.len()), at);
        let error = error.iter().map(|error| error.path("IntoHookError", "into_hook_error", None, krate));
        let states = self.states.iter().map(|(state, _)| state.holding(krate));
        let values = std::iter::once(self.hook()).chain(error).chain(states);
        let indices = (0..).map(Literal::usize_unsuffixed);
        quote_spanned!(at=> &#private::#stage::#kind { #(#indices: #values),* })
    }

    /// `hook::<>`, from the first token of the subject's type to its last: what does not fit of a hook whose names all
    /// do is most often that type, of another crate under the same name.
    fn hook(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let Some(subject) = self.function.parameters().next() else { return name.to_token_stream() };
        let (start, end) = user_ends(&subject.ty);
        let mut hook = name.clone();
        hook.set_span(name.span().located_at(start));
        let close = closing_angle(end);
        quote_spanned!(start=> #hook::< #close)
    }
}

/// The error type of a hook, at its place. The pointer to the function says which type it is, so a plain name is not
/// said again: one that exists nowhere is then missed once. What is more than a name is repeated, for the message to
/// point at all of it.
fn error_place<'f>(error: Option<&'f Type>, output: Option<&Type>, name: Span) -> Place<'f> {
    let Some(error) = error else {
        let (start, end) = output.map_or((name, name), ends);
        return Place { ty: Cow::Owned(inferred(start)), start, end };
    };
    match path(error).and_then(Path::get_ident) {
        Some(error) => Place { ty: Cow::Owned(inferred(error.span())), start: error.span(), end: error.span() },
        None => Place::owned(error),
    }
}

/// `_`
fn inferred(at: Span) -> Type {
    Type::Infer(TypeInfer { attrs: Vec::new(), underscore_token: Token![_](at) })
}

/// `&mut ModelRequest<'_>`
fn is_subject(stage: Stage, ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let elided = reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_");
    if !elided || reference.mutability.is_none() {
        return false;
    }
    let Some(path) = path(&reference.elem) else { return false };
    // Another path may lead to another type of the name, of which a thunk has the better word.
    let ours = path.segments.len() == 1 || path.segments.first().is_some_and(|first| first.ident == "protolink");
    let Some(last) = path.segments.last().filter(|_| ours) else { return false };
    let elided = match &last.arguments {
        PathArguments::None => true,
        PathArguments::AngleBracketed(arguments) => {
            let is_elided =
                |argument: &GenericArgument| matches!(argument, GenericArgument::Lifetime(name) if name.ident == "_");
            arguments.args.len() == 1 && arguments.args.iter().all(is_elided)
        }
        PathArguments::Parenthesized(_) => false,
    };
    elided && last.ident == stage.subject_name()
}

/// The `T` of `State<T>`.
fn value(ty: &Type) -> Option<&Type> {
    let last = last_segment(ty).filter(|last| last.ident == "State")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(value) if arguments.args.len() == 1 && !borrows(ty) => Some(value),
        _ => None,
    }
}

fn output(ty: &Type) -> Option<Output<'_>> {
    if is_unit(ty) {
        return Some(Output::Nothing);
    }
    let last = last_segment(ty).filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(GenericArgument::Type(nothing)), None, None) if is_unit(nothing) => Some(Output::Fallible(None)),
        (Some(GenericArgument::Type(nothing)), Some(GenericArgument::Type(error)), None)
            if is_unit(nothing) && !borrows(error) =>
        {
            Some(Output::Fallible(Some(error)))
        }
        _ => None,
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(TypePath { qself: None, path, .. }) => Some(path),
        // What `macro_rules!` wraps around a fragment.
        Type::Group(group) => self::path(&group.elem),
        _ => None,
    }
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    path(ty)?.segments.last()
}

/// Whether a lifetime may hide in a type: a pointer to a function has no place for it.
fn borrows(ty: &Type) -> bool {
    // Most types are a name, and their tokens need not be looked at.
    path(ty).and_then(Path::get_ident).is_none() && tokens::any(ty.to_token_stream(), tokens::is_borrow)
}
