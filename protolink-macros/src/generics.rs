//! The names of the type parameters of generated code.
//!
//! Type parameters have no hygiene: a user's type of the same name would mean the parameter. A long name would keep
//! them apart, and would show up in the compiler's messages; so they are `S` and `A`, unless the user's tokens say so.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};

/// The type parameters of a registration.
pub(crate) struct Generics {
    /// The agent's state.
    pub(crate) state: Ident,
    /// The agent's answers.
    pub(crate) answer: Ident,
}

impl Generics {
    /// Names that do not occur in these tokens.
    pub(crate) fn apart_from(tokens: TokenStream) -> Self {
        let mut used = Vec::new();
        collect(tokens, &mut used);
        Self { state: free("S", &used), answer: free("A", &used) }
    }
}

fn free(name: &str, used: &[String]) -> Ident {
    let mut name = name.to_owned();
    while used.contains(&name) {
        name.push('_');
    }
    Ident::new(&name, Span::mixed_site())
}

/// The identifiers that could be taken for one of ours.
fn collect(tokens: TokenStream, used: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), used),
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                if name.starts_with(['S', 'A']) && name[1..].bytes().all(|byte| byte == b'_') {
                    used.push(name);
                }
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
