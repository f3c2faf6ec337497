//! Hooks that the runtime can call as they are, without a function of ours around them.
//!
//! Most hooks are sync and take and return what a hook takes and returns under its plain name. For these a pointer to
//! the function is all that is generated, and for their async siblings less than for others, which a crate of a thousand
//! hooks feels. What a name says is a guess, and a
//! harmless one: the types are checked all the same, and where they are spelt in another way a thunk checks and converts
//! them one by one.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, Path, PathArguments, PathSegment, Type, TypePath};

use crate::function::Function;
use crate::options::HookOptions;
use crate::stage::Stage;

/// The runtime calls hooks of up to so many states by their pointers.
const MOST_STATES: usize = 4;

/// A hook that can be called as it is.
pub(crate) struct Direct<'f> {
    /// The `T` of each `State<T>`.
    pub(crate) values: Vec<&'f Type>,
    pub(crate) output: Output<'f>,
}

/// What a hook returns, by its name.
pub(crate) enum Output<'f> {
    Nothing,
    /// `Result<(), E>`, and `E` where it is written.
    Fallible(Option<&'f Type>),
    Other,
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
        let values: Option<Vec<&Type>> = parameters.map(|parameter| value(&parameter.ty)).collect();
        let values = values.filter(|values| values.len() <= MOST_STATES)?;
        Some(Self { values, output: function.output().map_or(Output::Nothing, output) })
    }
}

/// `&mut ModelRequest<'_>`
fn is_subject(stage: Stage, ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    let elided = reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_");
    if !elided || reference.mutability.is_none() {
        return false;
    }
    let Some(last) = last_segment(&reference.elem) else { return false };
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

fn output(ty: &Type) -> Output<'_> {
    if is_unit(ty) {
        return Output::Nothing;
    }
    let Some(last) = last_segment(ty).filter(|last| last.ident == "Result") else { return Output::Other };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Output::Other };
    let mut arguments = arguments.args.iter();
    match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(GenericArgument::Type(nothing)), None, None) if is_unit(nothing) => Output::Fallible(None),
        (Some(GenericArgument::Type(nothing)), Some(GenericArgument::Type(error)), None)
            if is_unit(nothing) && !borrows(error) =>
        {
            Output::Fallible(Some(error))
        }
        _ => Output::Other,
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(TypePath { qself: None, path: Path { segments, .. }, .. }) => segments.last(),
        // What `macro_rules!` wraps around a fragment.
        Type::Group(group) => last_segment(&group.elem),
        _ => None,
    }
}

/// Whether a lifetime may hide in a type: a pointer to a function has no place for it.
fn borrows(ty: &Type) -> bool {
    fn any(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Punct(punct) => matches!(punct.as_char(), '&' | '\''),
            TokenTree::Group(group) => any(group.stream()),
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        })
    }
    any(ty.to_token_stream())
}
