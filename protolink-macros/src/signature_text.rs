//! The text of a signature, as the tokens say it: one spacing, whatever compiler and formatter.

use proc_macro2::Delimiter;

use crate::function::Function;
use crate::text::is_operator;
use crate::tokens::Token;

/// `fn select(request: &mut ModelRequest<'_>) -> Result<(), E>`
pub(crate) fn text(function: &Function) -> String {
    let mut writer = Writer { text: String::with_capacity(128), last: Last::Start };
    writer.stream(&function.signature);
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
    fn stream(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            let next = tokens.get(at);
            match token {
                Token::Group(delimiter, content) => self.group(*delimiter, content),
                Token::Ident(word) => {
                    let last = if is_word(word) { Last::Word } else { Last::Name };
                    self.put(word, self.last != Last::Start && self.last != Last::Open, last);
                }
                Token::Literal(text) => self.put(text, self.last != Last::Open, Last::Word),
                Token::Punct(first, _) => match next {
                    Some(Token::Ident(name)) if *first == '\'' => {
                        at += 1;
                        self.put(&format!("'{name}"), self.last != Last::Open, Last::Word);
                    }
                    // An attribute of a parameter.
                    Some(Token::Group(Delimiter::Bracket, _)) if *first == '#' => at += 1,
                    Some(Token::Punct(second, _)) if is_pair(*first, *second) => {
                        at += 1;
                        self.operator(&format!("{first}{second}"));
                    }
                    None | Some(Token::Punct('>', _)) if *first == ',' => {}
                    _ => self.operator(first.encode_utf8(&mut [0; 4])),
                },
            }
        }
    }

    fn group(&mut self, delimiter: Delimiter, content: &[Token]) {
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => return self.stream(content),
        };
        let apart = !matches!(self.last, Last::Open | Last::Name | Last::Close);
        self.put(open, apart, Last::Open);
        self.stream(content);
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
            let function = Function::parse(&source.parse().unwrap()).unwrap();
            assert_eq!(super::text(&function), expected);
        }
    }
}
