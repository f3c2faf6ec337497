//! Where generated tokens stand.
//!
//! A generated token that has a place in the user's source gets that place with the hygiene of the macro: the compiler
//! then points at the user's token, suggests no edit of code that is not there, and does not lint it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;

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

/// Where a piece of syntax starts and ends, as generated code. The compiler joins the two spans of an expression's
/// first and last token itself; on stable `Spanned::span` is that of the first token alone.
pub(crate) fn ends(tokens: &impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    let end = spans.last().unwrap_or(start);
    (generated_at(start), generated_at(end))
}

/// The same tokens, all at `span`, each with the meaning that it has: `$crate` means the crate of the macro that wrote
/// it, wherever it stands.
pub(crate) fn relocate(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}
