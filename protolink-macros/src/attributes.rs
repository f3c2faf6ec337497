//! The attributes of an item or a parameter. A closure for each question would be compiled into a search of its own.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Attribute;
use syn::parse::Parser;

/// Whether an attribute is one that is looked for.
type Is = fn(&Attribute) -> bool;

/// The first that is one.
pub(crate) fn find(attributes: &[Attribute], is: Is) -> Option<&Attribute> {
    attributes.iter().find(|attribute| is(attribute))
}

/// All of a name: `#[cfg(..)]`, `#[doc = ".."]`.
pub(crate) fn named<'a>(attributes: &'a [Attribute], name: &str) -> Vec<&'a Attribute> {
    let mut named = Vec::new();
    for attribute in attributes {
        if attribute.path().is_ident(name) {
            named.push(attribute);
        }
    }
    named
}

/// Tokens without the attributes among them that are one. Those in groups of tokens stay.
pub(crate) fn without(tokens: TokenStream, is: Is) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let Some(content) = tokens.next_if(|next| is_hash(&token) && is_bracket(next)) else {
            kept.extend([token]);
            continue;
        };
        let attribute = TokenStream::from_iter([token, content]);
        let parsed = Attribute::parse_outer.parse2(attribute.clone());
        if !parsed.is_ok_and(|attributes| attributes.iter().any(is)) {
            kept.extend(attribute);
        }
    }
    kept
}

fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#')
}

fn is_bracket(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket)
}
