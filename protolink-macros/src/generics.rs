//! The names of the type parameters of generated code.
//!
//! Type parameters have no hygiene: a user's type of the same name would mean the parameter. A long name would keep
//! them apart, and would show up in the compiler's messages; so they are `S` and `A`, unless the user's tokens say so.

use proc_macro2::{Ident, Span};

use crate::tokens::Token;

/// The type parameters of a registration.
pub(crate) struct Generics {
    /// The agent's state.
    pub(crate) state: Ident,
    /// The agent's answers.
    pub(crate) answer: Ident,
}

impl Generics {
    /// Names that do not occur in these tokens.
    pub(crate) fn apart_from(tokens: [&[Token]; 2]) -> Self {
        let mut used = Vec::new();
        for tokens in tokens {
            collect(tokens, &mut used);
        }
        Self { state: free("S", &used), answer: free("A", &used) }
    }
}

fn free(name: &str, used: &[&str]) -> Ident {
    let mut name = name.to_owned();
    while used.contains(&name.as_str()) {
        name.push('_');
    }
    Ident::new(&name, Span::mixed_site())
}

/// The identifiers that could be taken for one of ours.
fn collect<'t>(tokens: &'t [Token], used: &mut Vec<&'t str>) {
    for token in tokens {
        match token {
            Token::Group(_, content) => collect(content, used),
            Token::Ident(name) => {
                if name.starts_with(['S', 'A']) && name[1..].bytes().all(|byte| byte == b'_') {
                    used.push(name);
                }
            }
            Token::Punct(..) | Token::Literal(_) => {}
        }
    }
}
