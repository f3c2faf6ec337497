//! Fingerprints: a digest of tokens, by their structure and not by their printed text.
//!
//! `TokenStream::to_string` is no basis for one: its output depends on the spacing of the source and changes between
//! compilers. What is hashed is a list of items, each with its kind and its length. Left out is what a formatter may
//! change (white space, comments, the spacing of characters that are not one operator, commas before a closing
//! delimiter) and what does not change what the function does (its documentation, lint levels, visibility).

use proc_macro2::Delimiter;
use quote::ToTokens;
use syn::Attribute;

use crate::function::Function;
use crate::options::HookOptions;
use crate::sha256;
use crate::stage::{Stage, is_hook};
use crate::text::{is_operator, literal_value, unraw};
use crate::tokens::{Token, read};

/// The version of the algorithm. Another one gives other values, and then this has to change.
const VERSION: &str = "fp1";

/// The fingerprint of a hook: its stage, its options, its attributes, its signature and its body.
pub(crate) fn fingerprint(stage: Stage, options: &HookOptions, function: &Function) -> [u8; 32] {
    let mut items = Items(Vec::with_capacity(1024));
    items.item(b'V', VERSION.as_bytes());
    items.item(b'S', stage.name().as_bytes());
    if let Some(tool) = &options.tool {
        items.item(b'O', b"tool");
        items.tokens(&read(tool.value.to_token_stream()));
    }
    if let Some(timeout) = &options.timeout {
        items.item(b'O', b"timeout");
        items.item(b'N', timeout.value.as_millis().to_string().as_bytes());
    }
    for attribute in &function.attrs {
        if !is_part_of_source(attribute) {
            continue;
        }
        items.item(b'A', b"");
        items.tokens(&read(attribute.meta.to_token_stream()));
    }
    items.item(b'F', b"signature");
    items.tokens(&function.signature);
    items.item(b'F', b"body");
    items.tokens(&read(function.body.clone()));
    sha256::digest(&items.0)
}

/// Attributes that change nothing about what the function does.
const WITHOUT_EFFECT: [&str; 16] = [
    "allow",
    "cfg",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "inline",
    "must_use",
    "no_coverage",
    "rustfmt",
    "track_caller",
    "warn",
    "clippy",
    "coverage",
];

fn is_part_of_source(attribute: &Attribute) -> bool {
    let without_effect =
        attribute.path().segments.first().is_some_and(|first| WITHOUT_EFFECT.iter().any(|name| first.ident == name));
    !without_effect && !is_hook(attribute)
}

/// What is hashed.
struct Items(Vec<u8>);

impl Items {
    /// Writes one item with its length, so that no two lists of items write the same bytes.
    fn item(&mut self, kind: u8, bytes: &[u8]) {
        // Seven bits of the length a byte: most items are short.
        let mut length = bytes.len();
        self.0.push(kind);
        while length > 0x7f {
            self.0.push(length.to_le_bytes()[0] | 0x80);
            length >>= 7;
        }
        self.0.push(length.to_le_bytes()[0]);
        self.0.extend_from_slice(bytes);
    }

    fn tokens(&mut self, tokens: &[Token]) {
        self.stream(tokens, true);
    }

    /// `docs` says whether `#[doc = ".."]` is documentation. Inside a macro call it is data, as in `quote!`.
    fn stream(&mut self, tokens: &[Token], docs: bool) {
        // The last token that says something.
        let mut before = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            at += 1;
            match token {
                Token::Group(delimiter, content) => {
                    let data = is_macro_call(&tokens[..at - 1]);
                    self.group(*delimiter, content, before, docs && !data);
                }
                Token::Ident(text) => match unraw(text) {
                    Some(keyword) if keyword.is_keyword => self.item(b'R', keyword.name.as_bytes()),
                    Some(plain) => self.item(b'I', plain.name.as_bytes()),
                    None => self.item(b'I', text.as_bytes()),
                },
                Token::Punct(char, joint) => {
                    let char = *char;
                    if char == '#'
                        && docs
                        && let Some(length) = doc_attribute(rest)
                    {
                        at += length;
                        continue;
                    }
                    let next = rest.first();
                    if char == ',' && closes(next) {
                        continue;
                    }
                    let joint = *joint && matches!(next, Some(Token::Punct(next, _)) if is_operator(char, *next));
                    let mut buffer = [0; 4];
                    self.item(if joint { b'J' } else { b'P' }, char.encode_utf8(&mut buffer).as_bytes());
                }
                Token::Literal(text) => match literal_value(text) {
                    Some((kind, value)) => self.item(kind, &value),
                    None => self.item(b'L', text.as_bytes()),
                },
            }
            before = Some(token);
        }
    }

    fn group(&mut self, delimiter: Delimiter, content: &[Token], before: Option<&Token>, docs: bool) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            // What `macro_rules!` wraps around a fragment. Around one token it says nothing.
            Delimiter::None if content.len() == 1 => return self.stream(content, docs),
            Delimiter::None => ("", ""),
        };
        self.item(b'G', open.as_bytes());
        if delimiter == Delimiter::Parenthesis && is_tuple_of_one(content) && expression_starts(before) {
            self.item(b'T', b"");
        }
        self.stream(content, docs);
        self.item(b'E', close.as_bytes());
    }
}

/// Whether a comma before this says nothing.
fn closes(next: Option<&Token>) -> bool {
    matches!(next, None | Some(Token::Punct('>', _)))
}

/// `(a,)`, where the comma is what makes it a tuple.
fn is_tuple_of_one(content: &[Token]) -> bool {
    let is_comma = |token: &Token| matches!(token, Token::Punct(',', _));
    content.last().is_some_and(is_comma) && content.iter().filter(|token| is_comma(token)).count() == 1
}

/// Whether what follows these tokens are the arguments of a macro: `name!` or `macro_rules! name`.
fn is_macro_call(before: &[Token]) -> bool {
    matches!(
        before,
        [.., Token::Ident(_), Token::Punct('!', _)] | [.., Token::Ident(_), Token::Punct('!', _), Token::Ident(_)]
    )
}

/// After a `#`: how many tokens a documentation attribute takes, `[doc ..]` or `![doc ..]`.
fn doc_attribute(rest: &[Token]) -> Option<usize> {
    let is_doc = |token: &Token| {
        matches!(token, Token::Group(Delimiter::Bracket, content)
            if matches!(content.first(), Some(Token::Ident(ident)) if ident == "doc"))
    };
    match rest {
        [first, ..] if is_doc(first) => Some(1),
        [Token::Punct('!', _), second, ..] if is_doc(second) => Some(2),
        _ => None,
    }
}

/// Whether a parenthesis that opens after this would be a tuple, and not the arguments of a call.
fn expression_starts(before: Option<&Token>) -> bool {
    match before {
        Some(Token::Group(..) | Token::Literal(_)) => false,
        Some(Token::Ident(text)) => is_keyword_before_expression(text),
        Some(Token::Punct(..)) | None => true,
    }
}

fn is_keyword_before_expression(text: &str) -> bool {
    matches!(
        text,
        "return"
            | "break"
            | "in"
            | "if"
            | "while"
            | "match"
            | "let"
            | "for"
            | "mut"
            | "ref"
            | "as"
            | "else"
            | "move"
            | "dyn"
            | "impl"
            | "where"
            | "yield"
            | "await"
    )
}

#[cfg(test)]
mod tests {
    use super::Items;

    #[test]
    fn d6_an_item_is_written_with_its_length_in_seven_bits_a_byte() {
        let lengths: [(usize, &[u8]); 6] = [
            (0, &[0]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (300, &[0xac, 0x02]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
        ];
        for (count, length) in lengths {
            let item = vec![b'x'; count];
            let mut items = Items(Vec::new());
            items.item(b'L', &item);
            assert_eq!(items.0, [b"L", length, &item].concat(), "{count} bytes");
        }
    }
}
