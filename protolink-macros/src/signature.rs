//! The text of a signature, as the tokens say it: one spacing, whatever compiler and formatter.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
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
    let mut writer = Writer { text: String::new(), last: Last::Start };
    writer.stream(sig.to_token_stream());
    writer.text
}

/// What was written last, as far as it decides whether a space follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Start,
    /// A name, after which parentheses open the list of its parameters.
    Name,
    /// A word of the language, or a literal.
    Word,
    /// `>` and closing delimiters.
    Close,
    /// What sticks to what follows: `&`, `<`, `::` and opening delimiters.
    Open,
    /// What stands apart: `->`, `=`, `+`, and what follows `,` and `:`.
    Apart,
}

struct Writer {
    text: String,
    last: Last,
}

impl Writer {
    fn stream(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    let last = if is_word(&word) { Last::Word } else { Last::Name };
                    self.put(&word, self.last != Last::Start && self.last != Last::Open, last);
                }
                TokenTree::Literal(literal) => self.put(&literal.to_string(), self.last != Last::Open, Last::Word),
                TokenTree::Punct(punct) => {
                    let first = punct.as_char();
                    let next = tokens.get(at);
                    match next {
                        Some(TokenTree::Ident(name)) if first == '\'' => {
                            at += 1;
                            self.put(&format!("'{name}"), self.last != Last::Open, Last::Word);
                        }
                        Some(TokenTree::Punct(second)) if is_pair(first, second.as_char()) => {
                            at += 1;
                            self.operator(&format!("{first}{}", second.as_char()));
                        }
                        None if first == ',' => {}
                        Some(TokenTree::Punct(second)) if first == ',' && second.as_char() == '>' => {}
                        _ => self.operator(first.encode_utf8(&mut [0; 4])),
                    }
                }
            }
        }
    }

    fn group(&mut self, delimiter: Delimiter, stream: TokenStream) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.stream(stream),
        };
        let apart = !matches!(self.last, Last::Open | Last::Name | Last::Close);
        self.put(open, apart, Last::Open);
        self.stream(stream);
        self.put(close, false, Last::Close);
    }

    fn operator(&mut self, operator: &str) {
        match operator {
            "::" | "." | "<" => self.put(operator, self.last == Last::Apart, Last::Open),
            ">" => self.put(operator, false, Last::Close),
            "," | ":" | ";" => self.put(operator, false, Last::Apart),
            "&" | "*" | "!" | "?" | "#" => self.put(operator, self.last != Last::Open, Last::Open),
            _ => self.put(operator, true, Last::Apart),
        }
    }

    fn put(&mut self, text: &str, apart: bool, last: Last) {
        if apart && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(text);
        self.last = last;
    }
}

/// Two characters that are one operator in a signature. `>>` and `&&` are two tokens there.
fn is_pair(first: char, second: char) -> bool {
    is_operator(first, second) && !matches!((first, second), ('>' | '<', _) | ('&', '&') | ('|', '|'))
}

/// The words of the language after which a parenthesis opens a type or a pattern.
fn is_word(word: &str) -> bool {
    matches!(
        word,
        "mut" | "dyn" | "impl" | "for" | "where" | "const" | "async" | "unsafe" | "extern" | "ref" | "in" | "as"
    )
}

#[cfg(test)]
mod tests {
    use crate::function::Function;

    #[test]
    fn the_text_does_not_depend_on_the_formatting() {
        for (source, expected) in [
            ("fn a ( ) { }", "fn a()"),
            (
                "pub async fn a<'a,>(r:&'a mut R<'_,>,)->Result<(),E> {}",
                "async fn a<'a>(r: &'a mut R<'_>) -> Result<(), E>",
            ),
            ("fn a(State(mut n): State<Vec<u8>>) {}", "fn a(State(mut n): State<Vec<u8>>)"),
            ("fn a(x: &&str, y: [u8;4], z: (A,B,)) {}", "fn a(x: &&str, y: [u8; 4], z: (A, B))"),
            (
                "fn a(f: Box<dyn for<'x> Fn(&'x u8)->u8+Send>) -> Box<dyn std::error::Error+Send> where A:B {}",
                "fn a(f: Box<dyn for<'x> Fn(&'x u8) -> u8 + Send>) -> Box<dyn std::error::Error + Send> where A: B",
            ),
            ("fn a(x: <A as B>::C, n: [u8; {1+2}]) {}", "fn a(x: <A as B>::C, n: [u8; {1 + 2}])"),
        ] {
            let function: Function = syn::parse_str(source).unwrap();
            assert_eq!(super::text(&function), expected);
        }
    }
}
