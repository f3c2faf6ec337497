//! The text of a signature, as the tokens say it: one spacing, whatever compiler and formatter.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;

use crate::function::Function;
use crate::text::is_operator;

/// `fn select(request: &mut ModelRequest<'_>) -> Result<(), E>`
pub(crate) fn text(function: &Function) -> String {
    let mut sig = function.sig.clone();
    for input in &mut sig.inputs {
        match input {
            syn::FnArg::Receiver(receiver) => receiver.attrs.clear(),
            syn::FnArg::Typed(parameter) => parameter.attrs.clear(),
        }
    }
    let mut text = String::new();
    write(&mut text, sig.to_token_stream());
    text
}

fn write(text: &mut String, stream: TokenStream) {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(text, group.stream());
                text.push_str(close);
            }
            TokenTree::Punct(punct) => text.push(punct.as_char()),
            TokenTree::Ident(_) | TokenTree::Literal(_) => text.push_str(&token.to_string()),
        }
        if let Some(next) = tokens.get(at + 1)
            && space_between(token, next)
        {
            text.push(' ');
        }
    }
}

fn space_between(token: &TokenTree, next: &TokenTree) -> bool {
    use TokenTree::{Group, Ident, Literal, Punct};
    match (token, next) {
        (Ident(_) | Literal(_), Ident(_) | Literal(_)) | (Group(_), Ident(_)) => true,
        (Ident(ident), Punct(next)) => {
            next.as_char() == '\'' || (ident == "dyn" && next.as_char() == '?') || ident == "mut"
        }
        (Punct(punct), Punct(next)) => match punct.as_char() {
            ',' | '+' => true,
            ':' if punct.spacing() == Spacing::Alone => next.as_char() != ':',
            '>' | '=' if next.as_char() == '\'' || next.as_char() == '&' => true,
            first => !is_operator(first, next.as_char()) && next.as_char() == '-',
        },
        (Punct(punct), _) => match punct.as_char() {
            ',' | '+' | '=' => true,
            ':' => punct.spacing() == Spacing::Alone && !matches!(next, Group(_)),
            // The `>` of `->`, and that of a list before a word.
            '>' => !matches!(next, Group(group) if group.delimiter() == Delimiter::Parenthesis),
            _ => false,
        },
        (Group(_), Punct(next)) => next.as_char() == '-',
        (Ident(_) | Literal(_), Group(_)) | (Group(_), Group(_) | Literal(_)) | (Literal(_), Punct(_)) => false,
    }
}
