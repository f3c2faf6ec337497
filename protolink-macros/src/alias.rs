//! Names for the types in angle brackets, such as the `Db` of `State<Db>`.
//!
//! The compiler looks up each type where generated code repeats it, and says once more of one that exists nowhere that
//! it does not. It leaves out what it has said before, word for word; but of a type in angle brackets it also suggests
//! to make it a parameter of the item it stands in. So such a type is repeated once, in an alias that the compiler
//! takes for the function as far as that suggestion goes, and generated code has the alias.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, GenericArgument, Generics, Lifetime, PathArguments, PathSegment, Type, TypePath};

use crate::check::PRIMITIVES;
use crate::function::{Function, returned_mut};
use crate::krate::Krate;
use crate::spans::{closing_angle, user_ends};
use crate::tokens;
use crate::walk::{self, Part, Step};

/// Puts aliases into the types of a function, and returns what declares them.
///
/// `inferred` says whether generated code infers what the function returns, where that is a name.
pub(crate) fn name_arguments(krate: &Krate, function: &mut Function, inferred: bool) -> TokenStream {
    let mut aliases = Aliases {
        krate,
        function: function.sig.ident.clone(),
        lifetimes: function.sig.generics.clone(),
        conditions: function.conditions().into_iter().cloned().collect(),
        declarations: TokenStream::new(),
        count: 0,
    };
    let (parameters, output) = function.types_mut();
    for ty in parameters {
        aliases.name_within(ty, false);
    }
    if let Some(ty) = output {
        aliases.name_within(ty, inferred);
    }
    aliases.declarations
}

struct Aliases<'k> {
    krate: &'k Krate,
    /// The name of the function.
    function: Ident,
    /// Its lifetimes, after which the compiler would put another parameter.
    lifetimes: Generics,
    conditions: Vec<Attribute>,
    declarations: TokenStream,
    count: usize,
}

impl Aliases<'_> {
    fn name_within(&mut self, ty: &mut Type, inferred: bool) {
        if is_one_letter(ty) {
            *ty = self.alias(ty);
        }
        walk::edit(ty, |part| {
            if let Part::Segment(segment) = part {
                self.name_arguments(segment, inferred);
            }
            Step::Into
        });
    }

    fn name_arguments(&mut self, segment: &mut PathSegment, inferred: bool) {
        let takes_types = ["State", "Result", "Option", "Vec"].iter().any(|name| segment.ident == name);
        let stays = |name: &Ident| inferred || is_known(name) || (!takes_types && may_be_constant(name));
        let types: Vec<&mut Type> = match &mut segment.arguments {
            PathArguments::None => return,
            PathArguments::AngleBracketed(arguments) => arguments.args.iter_mut().filter_map(argument).collect(),
            PathArguments::Parenthesized(arguments) => {
                let output = returned_mut(&mut arguments.output);
                arguments.inputs.iter_mut().map(|input| &mut input.ty).chain(output).collect()
            }
        };
        for ty in types {
            let stays = match ty {
                Type::Tuple(tuple) => tuple.elems.is_empty(),
                Type::Path(path) => path.path.get_ident().is_some_and(stays),
                _ => false,
            };
            if !stays && says_all(ty) {
                *ty = self.alias(ty);
            }
        }
    }

    /// Declares an alias of a type, and returns it.
    fn alias(&mut self, ty: &Type) -> Type {
        let Self { krate, function, lifetimes, conditions, declarations, count } = self;
        let private = krate.private();
        // Where the function's name stands, so that the suggestion is the same.
        let mut name = Ident::new(&format!("__ProtolinkType{count}"), function.span());
        declarations.extend(if is_one_letter(ty) {
            // It is suggested of an alias for no single letter, but of an `impl` it is.
            let holder = Ident::new(&format!("__ProtolinkHolder{count}"), Span::mixed_site());
            let implementation = Ident::new("impl", function.span());
            quote! {
                #(#conditions)*
                struct #holder;
                #(#conditions)*
                #implementation #lifetimes #private::Holds for #holder { type Type = #private::Argument<#ty>; }
                #(#conditions)*
                type #name #lifetimes = <#holder as #private::Holds>::Type;
            }
        } else {
            quote!(#(#conditions)* type #name #lifetimes = #private::Argument<#ty>;)
        });
        *count += 1;
        let (start, end) = user_ends(ty);
        name.set_span(start);
        let outlived = lifetimes.params.iter().map(|_| Lifetime::new("'static", start));
        // From the first token of the type to its last, so that a message shows all of it.
        let close = closing_angle(end);
        let open = quote_spanned!(start=> #name < #(#outlived),*);
        Type::Verbatim(quote!(#open #close))
    }
}

/// `T`, as one would call a type parameter.
fn is_one_letter(ty: &Type) -> bool {
    let Type::Path(TypePath { qself: None, path, .. }) = ty else { return false };
    path.get_ident().is_some_and(|name| {
        let name = name.to_string();
        name.len() == 1 && name.bytes().all(|letter| letter.is_ascii_uppercase())
    })
}

/// The type of `Vec<Hit>` and of `Iterator<Item = Hit>`.
fn argument(argument: &mut GenericArgument) -> Option<&mut Type> {
    match argument {
        GenericArgument::Type(ty) => Some(ty),
        GenericArgument::AssocType(assigned) => Some(&mut assigned.ty),
        _ => None,
    }
}

/// Types that are always there.
fn is_known(name: &Ident) -> bool {
    name == "String" || PRIMITIVES.iter().any(|primitive| name == primitive)
}

/// Whether it could be the length of a `Buffer<N>`.
fn may_be_constant(name: &Ident) -> bool {
    !name.to_string().contains(char::is_lowercase)
}

/// Whether a type means the same wherever it stands: nothing is left out of it, as the lifetime of a `dyn Trait` is.
fn says_all(ty: &Type) -> bool {
    !tokens::any(ty.to_token_stream(), |token| {
        let is_open = |word: &Ident| ["_", "dyn", "impl"].iter().any(|open| word == open);
        tokens::is_borrow(token) || matches!(token, TokenTree::Ident(word) if is_open(word))
    })
}
