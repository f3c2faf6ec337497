//! Fingerprints: a digest of tokens, by their structure and not by their printed text.
//!
//! `TokenStream::to_string` is no basis for one: its output depends on the spacing of the source and changes between
//! compilers. What is hashed is a list of items, each with its kind and its length. Left out is what a formatter may
//! change (white space, comments, the spacing of characters that are not one operator, commas before a closing
//! delimiter) and what does not change what the function does (its documentation, lint levels, visibility).

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Attribute;

use crate::function::Function;
use crate::options::HookOptions;
use crate::sha256::Sha256;
use crate::stage::{Stage, of_attribute};
use crate::text::{is_operator, literal_value, unraw};

/// The version of the algorithm. Another one gives other values, and then this has to change.
const VERSION: &str = "fp1";

/// The fingerprint of a hook: its stage, its options, its attributes, its signature and its body.
pub(crate) fn fingerprint(stage: Stage, options: &HookOptions, function: &Function) -> [u8; 32] {
    let mut hasher = Hasher(Sha256::new());
    hasher.item(b'V', VERSION.as_bytes());
    hasher.item(b'S', stage.name().as_bytes());
    if let Some(tool) = &options.tool {
        hasher.item(b'O', b"tool");
        hasher.tokens(tool.value.to_token_stream());
    }
    if let Some(timeout) = &options.timeout {
        hasher.item(b'O', b"timeout");
        hasher.item(b'N', timeout.value.as_millis().to_string().as_bytes());
    }
    for attribute in function.attrs.iter().filter(|attribute| is_part_of_source(attribute)) {
        hasher.item(b'A', b"");
        hasher.tokens(attribute.meta.to_token_stream());
    }
    hasher.item(b'F', b"signature");
    hasher.tokens(function.sig.to_token_stream());
    hasher.item(b'F', b"body");
    hasher.tokens(function.body.clone());
    hasher.0.finish()
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
    !without_effect && of_attribute(attribute).is_none()
}

struct Hasher(Sha256);

impl Hasher {
    /// Writes one item with its length, so that no two lists of items write the same bytes.
    fn item(&mut self, kind: u8, bytes: &[u8]) {
        // Seven bits of the length a byte: most items are short, and the macros of most users are built without
        // optimisation.
        let mut length = bytes.len();
        self.0.update(&[kind]);
        while length > 0x7f {
            self.0.update(&[length.to_le_bytes()[0] | 0x80]);
            length >>= 7;
        }
        self.0.update(&[length.to_le_bytes()[0]]);
        self.0.update(bytes);
    }

    fn tokens(&mut self, stream: TokenStream) {
        self.stream(stream, true);
    }

    /// `docs` says whether `#[doc = ".."]` is documentation. Inside a macro call it is data, as in `quote!`.
    fn stream(&mut self, stream: TokenStream, docs: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        // Whether a parenthesis that opens here would be a tuple, and not the arguments of a call.
        let mut expression_starts = true;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            at += 1;
            match token {
                TokenTree::Group(group) => {
                    let data = is_macro_call(&tokens[..at - 1]);
                    self.group(group, expression_starts, docs && !data);
                    expression_starts = false;
                }
                TokenTree::Ident(ident) => {
                    let text = ident.to_string();
                    expression_starts = is_keyword_before_expression(&text);
                    match unraw(&text) {
                        Some(keyword) if keyword.is_keyword => self.item(b'R', keyword.name.as_bytes()),
                        Some(plain) => self.item(b'I', plain.name.as_bytes()),
                        None => self.item(b'I', text.as_bytes()),
                    }
                }
                TokenTree::Punct(punct) => {
                    let char = punct.as_char();
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
                    let joint = punct.spacing() == Spacing::Joint
                        && matches!(next, Some(TokenTree::Punct(next)) if is_operator(char, next.as_char()));
                    let mut buffer = [0; 4];
                    self.item(if joint { b'J' } else { b'P' }, char.encode_utf8(&mut buffer).as_bytes());
                    expression_starts = true;
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    match literal_value(&text) {
                        Some((kind, value)) => self.item(kind, &value),
                        None => self.item(b'L', text.as_bytes()),
                    }
                    expression_starts = false;
                }
            }
        }
    }

    fn group(&mut self, group: &Group, expression_starts: bool, docs: bool) {
        let stream = group.stream();
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            // What `macro_rules!` wraps around a fragment. Around one token it says nothing.
            Delimiter::None if stream.clone().into_iter().count() == 1 => {
                return self.stream(stream, docs);
            }
            Delimiter::None => ("", ""),
        };
        self.item(b'G', open.as_bytes());
        if group.delimiter() == Delimiter::Parenthesis && expression_starts && is_tuple_of_one(&stream) {
            self.item(b'T', b"");
        }
        self.stream(stream, docs);
        self.item(b'E', close.as_bytes());
    }
}

/// Whether a comma before this says nothing.
fn closes(next: Option<&TokenTree>) -> bool {
    match next {
        None => true,
        Some(TokenTree::Punct(punct)) => punct.as_char() == '>',
        Some(_) => false,
    }
}

/// `(a,)`, where the comma is what makes it a tuple.
fn is_tuple_of_one(stream: &TokenStream) -> bool {
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
    let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
    tokens.last().is_some_and(is_comma) && tokens.iter().filter(|token| is_comma(token)).count() == 1
}

/// Whether what follows these tokens are the arguments of a macro: `name!` or `macro_rules! name`.
fn is_macro_call(before: &[TokenTree]) -> bool {
    let bang = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!');
    match before {
        [.., TokenTree::Ident(_), last] if bang(last) => true,
        [.., TokenTree::Ident(_), middle, TokenTree::Ident(_)] => bang(middle),
        _ => false,
    }
}

/// After a `#`: how many tokens a documentation attribute takes, `[doc ..]` or `![doc ..]`.
fn doc_attribute(rest: &[TokenTree]) -> Option<usize> {
    let is_doc = |token: &TokenTree| {
        matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket
            && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "doc"))
    };
    match rest {
        [first, ..] if is_doc(first) => Some(1),
        [TokenTree::Punct(bang), second, ..] if bang.as_char() == '!' && is_doc(second) => Some(2),
        _ => None,
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
