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

/// Whether a token is one that is looked for, in whatever group it stands.
pub(crate) fn any(stream: TokenStream, is: fn(&TokenTree) -> bool) -> bool {
    stream.into_iter().any(|token| match &token {
        TokenTree::Group(group) => any(group.stream(), is),
        token => is(token),
    })
}

/// Whether a token is a part of a borrow or of a lifetime.
pub(crate) fn is_borrow(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '&' | '\''))
}

/// The angle brackets that are open after the tokens that were passed.
#[derive(Default)]
pub(crate) struct Angles {
    depth: i32,
    /// Whether a `>` that follows is the end of `->`.
    in_arrow: bool,
}

impl Angles {
    pub(crate) fn pass(&mut self, token: &TokenTree) {
        let char = if let TokenTree::Punct(punct) = token { punct.as_char() } else { ' ' };
        match char {
            '<' => self.depth += 1,
            '>' if !self.in_arrow => self.depth -= 1,
            _ => {}
        }
        self.in_arrow = char == '-';
    }

    pub(crate) fn are_closed(&self) -> bool {
        self.depth == 0
    }
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
