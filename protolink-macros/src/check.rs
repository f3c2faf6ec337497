//! What can be said of a function without its types. Types are checked by the compiler, on the generated code.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Error, GenericParam, Ident, Type};

use crate::function::{Function, written_signature};
use crate::signature::Input;
use crate::walk::{self, Part, Step};
use crate::{attributes, lifetimes, tokens};

/// Collects errors, so that one build shows all of them.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// The errors as one, if there are any.
    pub(crate) fn finish(self) -> Option<Error> {
        self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Names that a hook or a tool cannot have, since each is also the name of the type that is declared beside it.
const CRATES: [&str; 4] = ["core", "std", "alloc", "protolink"];
pub(crate) const PRIMITIVES: [&str; 19] = [
    "bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    "f16", "f32", "f64", "f128",
];

/// Checks the name under which a type is declared beside the function.
pub(crate) fn name(errors: &mut Errors, what: &str, ident: &Ident) {
    let name = ident.unraw().to_string();
    if CRATES.contains(&name.as_str()) {
        errors.at(ident, format!("{what}'s name is also the name of a type: `{name}` would hide the crate `{name}`"));
    }
    if PRIMITIVES.contains(&name.as_str()) {
        errors.at(ident, format!("{what}'s name is also the name of a type: `{name}` would hide the type `{name}`"));
    }
}

/// Checks what holds for hooks and tools alike; `what` is "a hook" or "a tool".
pub(crate) fn function(errors: &mut Errors, what: &str, function: &Function, item: &TokenStream) {
    let sig = &function.sig;
    if let Some(token) = &sig.unsafety {
        errors.at(token, format!("{what} cannot be `unsafe`: the agent calls it from safe code"));
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, format!("{what} has the Rust ABI: remove `extern`"));
    }
    for param in &sig.generics.params {
        let over = match param {
            GenericParam::Lifetime(_) => continue,
            GenericParam::Type(_) => "types",
            GenericParam::Const(_) => "constants",
        };
        errors.at(param, format!("{what} cannot be generic over {over}: one registration stands for one function"));
    }
    for input in &sig.inputs {
        parameter(errors, what, input);
    }
    if !function.has_block {
        errors.at(written_signature(item), format!("{what} is a free function with a body"));
    }
}

fn parameter(errors: &mut Errors, what: &str, input: &Input) {
    match input {
        Input::Receiver(receiver) => {
            errors.at(receiver, format!("{what} is a free function; it cannot take `self`"));
        }
        Input::Variadic(variadic) => errors.at(variadic, format!("{what} cannot be variadic")),
        Input::Parameter(parameter) => {
            let conditional = |attr: &syn::Attribute| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
            if let Some(attr) = attributes::find(&parameter.attrs, conditional) {
                let fix = "put the condition on the whole function";
                errors.at(attr, format!("a parameter of {what} cannot be conditional: {fix}"));
            }
            if let Some(found) = impl_trait(&parameter.ty) {
                let why = "one registration stands for one function";
                errors.at(found, format!("{what} names the types of its parameters: {why}, so write the type"));
            }
        }
    }
}

/// The first `impl Trait` in a type.
pub(crate) fn impl_trait(ty: &Type) -> Option<syn::TypeImplTrait> {
    let mut first = None;
    walk::look(ty, |part| match part {
        Part::ImplTrait(found) => {
            first.get_or_insert_with(|| found.clone());
            Step::Past
        }
        _ => Step::Into,
    });
    first
}

/// Whether it is a future, as far as its name says.
pub(crate) fn is_future(found: &syn::TypeImplTrait) -> bool {
    found.bounds.iter().any(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Future"),
        _ => false,
    })
}

/// Whether a `_` stands for a type, or for a part of one.
fn is_left_out(ty: &Type) -> bool {
    let mut found = false;
    walk::look(ty, |part| {
        found |= matches!(part, Part::Infer);
        Step::Into
    });
    found
}

/// Whether the compiler refuses the signature for itself, so that a word of ours would be a second error: a type that is
/// left out, a `Self` outside of an `impl`, a type without a size, or a result that borrows from nobody knows what.
pub(crate) fn is_refused_anyway(function: &Function) -> bool {
    let unsized_argument = |ty: &Type, name: &str| {
        let Type::Path(path) = ty else { return false };
        let Some(last) = path.path.segments.last().filter(|last| last.ident == name) else { return false };
        let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return false };
        arguments.args.iter().any(|argument| match argument {
            syn::GenericArgument::Type(Type::TraitObject(_) | Type::Slice(_)) => true,
            syn::GenericArgument::Type(Type::Path(path)) => path.path.is_ident("str"),
            _ => false,
        })
    };
    if function.parameters().any(|parameter| unsized_argument(&parameter.ty, "State")) {
        return true;
    }
    // A walk through the types is for the few signatures in which such a word stands at all.
    if tokens::has_word(&function.signature, "Self")
        || (tokens::has_word(&function.signature, "_") && function.types().any(is_left_out))
    {
        return true;
    }
    let Some(output) = function.output() else { return false };
    if unsized_argument(output, "Result") {
        return true;
    }
    if lifetimes::lent(output).iter().all(Option::is_some) {
        return false;
    }
    let mut lent = Vec::new();
    for parameter in function.parameters() {
        lent.append(&mut lifetimes::lent(&parameter.ty));
    }
    lent.len() > 1 && lent.iter().any(|lifetime| lifetime.is_none() || *lifetime != lent[0])
}
