//! The texts of single tokens: raw identifiers, operators and string literals.

/// A raw identifier without its `r#`.
pub(crate) struct Unraw<'t> {
    pub(crate) name: &'t str,
    /// Whether the plain word would be a keyword, so that the two are not the same.
    pub(crate) is_keyword: bool,
}

/// What a raw identifier names; `None` for a plain one.
pub(crate) fn unraw(text: &str) -> Option<Unraw<'_>> {
    let name = text.strip_prefix("r#")?;
    Some(Unraw { name, is_keyword: KEYWORDS.contains(&name) })
}

/// All words that are a keyword in some edition: the value must not depend on the edition.
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether two adjacent characters are one operator of the language, or part of one.
pub(crate) fn is_operator(first: char, second: char) -> bool {
    let seconds = match first {
        '&' => "&=",
        '|' => "|=",
        '=' | '-' => "=>",
        '<' => "<=",
        '>' => ">=",
        '.' => ".=",
        ':' => ":",
        '!' | '+' | '*' | '/' | '%' | '^' => "=",
        _ => "",
    };
    seconds.contains(second)
}

/// The kind and the value of a string literal, so that `"a"` and `r"a"` are the same, and an indented continuation
/// line is too. `None` for other literals, and for what this does not understand.
pub(crate) fn literal_value(text: &str) -> Option<(u8, Vec<u8>)> {
    let (kind, rest) = match text.as_bytes() {
        [b'b', b'"' | b'r', ..] => (b'b', &text[1..]),
        [b'c', b'"' | b'r', ..] => (b'c', &text[1..]),
        [b'"', ..] | [b'r', b'"' | b'#', ..] => (b's', text),
        _ => return None,
    };
    let value = match rest.strip_prefix('r') {
        Some(raw) => {
            let quoted = raw.trim_start_matches('#');
            let hashes = &raw[..raw.len() - quoted.len()];
            quoted.strip_suffix(hashes)?.strip_prefix('"')?.strip_suffix('"')?.as_bytes().to_vec()
        }
        None => unescape(rest.strip_prefix('"')?.strip_suffix('"')?)?,
    };
    Some((kind, value))
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let mut buffer = [0; 4];
    while let Some(char) = chars.next() {
        if char != '\\' {
            value.extend_from_slice(char.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        match chars.next()? {
            'n' => value.push(b'\n'),
            'r' => value.push(b'\r'),
            't' => value.push(b'\t'),
            '0' => value.push(0),
            same @ ('\\' | '\'' | '"') => value.extend_from_slice(same.encode_utf8(&mut buffer).as_bytes()),
            'x' => {
                let high = chars.next()?.to_digit(16)?;
                let low = chars.next()?.to_digit(16)?;
                value.push(u8::try_from(high * 16 + low).ok()?);
            }
            'u' => {
                let (digits, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                let code = u32::from_str_radix(&digits.replace('_', ""), 16).ok()?;
                value.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut buffer).as_bytes());
                chars = rest.chars();
            }
            '\n' => chars = chars.as_str().trim_start_matches([' ', '\t', '\n', '\r']).chars(),
            _ => return None,
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::literal_value;

    #[test]
    fn the_value_of_a_string_is_that_of_the_compiler() {
        let value = |text: &str| literal_value(text).map(|(kind, value)| (kind, String::from_utf8(value).unwrap()));
        assert_eq!(value(r#""a\n\"\u{e9}\x41""#), Some((b's', "a\n\"\u{e9}A".into())));
        assert_eq!(value("\"a \\\n      b\""), Some((b's', "a b".into())));
        assert_eq!(value(r##"r#"a"b\"#"##), Some((b's', "a\"b\\".into())));
        assert_eq!(value("b\"x\""), Some((b'b', "x".into())));
        assert_eq!(value("br\"x\""), Some((b'b', "x".into())));
        assert_eq!(value("c\"x\""), Some((b'c', "x".into())));
        for other in
            ["3", "'a'", "b'a'", "3.0", "\"a\"suffix", "\"\\q\"", "\"", "r", "r#\"", "\"\\u{110000}\"", "\"\\xz\""]
        {
            assert_eq!(value(other), None, "{other}");
        }
    }
}
