//! Tokens as plain data.
//!
//! The tokens of the compiler are handles: each look into a group and each text of a name is a call of the compiler.
//! The macros of most users are built without optimisation, so what is looked at more than once is read once.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// A token or a group of tokens, without its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Group(Delimiter, Vec<Token>),
    Ident(String),
    /// A character, and whether another one follows it without a space.
    Punct(char, bool),
    Literal(String),
}

/// Reads a stream with all that is in its groups.
pub(crate) fn read(stream: TokenStream) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(16);
    for token in stream {
        tokens.push(match token {
            TokenTree::Group(group) => Token::Group(group.delimiter(), read(group.stream())),
            TokenTree::Ident(ident) => Token::Ident(ident.to_string()),
            TokenTree::Punct(punct) => Token::Punct(punct.as_char(), punct.spacing() == Spacing::Joint),
            TokenTree::Literal(literal) => Token::Literal(literal.to_string()),
        });
    }
    tokens
}

/// Whether a word stands somewhere. `'_` is a lifetime, and not the word `_`.
pub(crate) fn has_word(tokens: &[Token], word: &str) -> bool {
    let mut after_quote = false;
    for token in tokens {
        match token {
            Token::Ident(name) if name == word && !after_quote => return true,
            Token::Group(_, content) if has_word(content, word) => return true,
            _ => {}
        }
        after_quote = *token == Token::Punct('\'', true);
    }
    false
}
