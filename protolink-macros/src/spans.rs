//! Where generated tokens stand.
//!
//! A generated token that has a place in the user's source gets that place with the hygiene of the macro: the compiler
//! then points at the user's token, suggests no edit of code that is not there, and does not lint it.

use proc_macro2::{Ident, Punct, Spacing, Span};
use quote::ToTokens;
use syn::{Path, PathArguments, Type, TypePath};

/// The place of `span`, as generated code.
pub(crate) fn generated_at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

/// The user's identifier, as generated code.
pub(crate) fn generated(ident: &Ident) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(generated_at(ident.span()));
    ident
}

/// A name of our own, which no name of the user's can meet.
pub(crate) fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Where a type starts and ends, as generated code. The compiler joins the two spans of an expression's first and last
/// token itself; on stable `Spanned::span` is that of the first token alone.
pub(crate) fn ends(ty: &Type) -> (Span, Span) {
    let (start, end) = user_ends(ty);
    (generated_at(start), generated_at(end))
}

/// Where a type starts and ends, as the user's code. Most types show it as they are; of the others tokens are made, by
/// calls of the compiler.
pub(crate) fn user_ends(ty: &Type) -> (Span, Span) {
    match ty {
        Type::Reference(reference) => (reference.and_token.span, user_ends(&reference.elem).1),
        Type::Path(TypePath { qself: None, path, .. }) => path_ends(path),
        _ => token_ends(ty),
    }
}

/// Where a path starts and ends, as the user's code.
pub(crate) fn path_ends(path: &Path) -> (Span, Span) {
    let (Some(first), Some(last)) = (path.segments.first(), path.segments.last()) else { return token_ends(path) };
    let start = path.leading_colon.map_or(first.ident.span(), |colons| colons.spans[0]);
    match &last.arguments {
        PathArguments::None => (start, last.ident.span()),
        PathArguments::AngleBracketed(arguments) => (start, arguments.gt_token.span),
        PathArguments::Parenthesized(_) => token_ends(path),
    }
}

/// Where tokens start and end, as the user's code.
pub(crate) fn token_ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    (start, spans.last().unwrap_or(start))
}

/// `>`, which ends a path there, so that a message shows the path up to it.
pub(crate) fn closing_angle(span: Span) -> Punct {
    let mut close = Punct::new('>', Spacing::Alone);
    close.set_span(span);
    close
}
