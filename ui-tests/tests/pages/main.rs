//! The pages of the macros list every error with its rule: none is missing, none is gone, and no link is dead.
//!
//! After a change that is meant, run this with `UPDATE_DOCS=1`.

mod messages;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use messages::{MESSAGES, PAGES, Page};
use proc_macro2::{TokenStream, TokenTree};

/// How rustc's own errors begin, among those that have no number or the number of ours.
const OF_THE_COMPILER: [&str; 17] = [
    "a value of type",
    "async closure does not implement",
    "cannot construct",
    "captured variable",
    "documentation comments",
    "expected ",
    "function `",
    "future cannot be sent",
    "implementation is not supported",
    "key-value macro attributes",
    "lifetime may not live long enough",
    "struct is not supported",
    "the size for values",
    "the trait bound",
    "type `Db` is more private",
    "unexpected token",
    "use of deprecated",
];

/// String literals of the macros that are no messages, or only in a build that no user has.
const NO_MESSAGES: [&str; 2] = ["does not understand the signature of", "does not understand the module"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Whether the text is the message, in which `…` stands for anything.
fn fits(message: &str, text: &str) -> bool {
    let mut parts = message.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut open = false;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = if part.is_empty() { "" } else { &rest[at + part.len()..] };
        open = part.is_empty();
    }
    open || rest.is_empty()
}

/// The headings of all errors in the cases of a rule: whether they have a number, and what they say.
fn errors(rule: &str) -> Vec<(Option<String>, String)> {
    let mut errors = Vec::new();
    for file in fs::read_dir(root().join("ui-tests/fail").join(rule)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "stderr") {
            for line in fs::read_to_string(&path).unwrap().lines() {
                if let Some(text) = line.strip_prefix("error: ") {
                    errors.push((None, text.to_owned()));
                } else if let Some((number, text)) = line.strip_prefix("error[").and_then(|line| line.split_once("]: "))
                {
                    errors.push((Some(number.to_owned()), text.to_owned()));
                }
            }
        }
    }
    errors
}

fn rules() -> Vec<String> {
    let folders = fs::read_dir(root().join("ui-tests/fail")).unwrap();
    folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_message_has_a_case_of_its_rule() {
    for (rule, message, _) in MESSAGES {
        assert!(errors(rule).iter().any(|(_, text)| fits(message, text)), "{rule}: {message}");
    }
}

#[test]
fn every_error_of_ours_is_on_a_page() {
    for rule in rules() {
        for (number, text) in errors(&rule) {
            let ours = number.is_none_or(|number| number == "E0277");
            let known = MESSAGES.iter().any(|(_, message, _)| fits(message, &text));
            assert!(!ours || known || OF_THE_COMPILER.iter().any(|start| text.starts_with(start)), "{rule}: {text}");
        }
    }
}

/// What is written in the sources, of which each piece between two `{..}` is part of a message.
#[test]
fn every_message_in_the_sources_is_on_a_page() {
    let all = MESSAGES.map(|(_, message, _)| message).join("\n");
    for file in fs::read_dir(root().join("protolink-macros/src")).unwrap() {
        let file = file.unwrap().file_name().into_string().unwrap();
        // Tests, whose strings are inputs.
        if file == "any_input.rs"
            || file == "fingerprint_table.rs"
            || Path::new(&file).extension().is_none_or(|extension| extension != "rs")
        {
            continue;
        }
        let source: TokenStream = read(&format!("protolink-macros/src/{file}")).parse().unwrap();
        let mut literals = Vec::new();
        collect(source, &mut literals);
        for literal in literals.iter().filter(|literal| literal.contains(' ')) {
            for piece in pieces(literal) {
                let whole = MESSAGES.iter().any(|(_, message, _)| fits(message, &piece));
                let known =
                    whole || all.contains(piece.trim()) || NO_MESSAGES.iter().any(|other| piece.contains(other));
                assert!(known || is_example(&piece), "{file}: {piece:?} of {literal:?}");
            }
        }
    }
}

/// What follows `takes` in a message about options: it is on the page as the table of options.
fn is_example(piece: &str) -> bool {
    piece.contains(" = ") || piece.contains("takes ")
}

/// The string literals of a source, without its documentation and its tests.
fn collect(source: TokenStream, literals: &mut Vec<String>) {
    let mut tokens = source.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let _ = tokens.next_if(|next| matches!(next, TokenTree::Punct(_)));
                if let Some(TokenTree::Group(attribute)) = tokens.next_if(|next| matches!(next, TokenTree::Group(_)))
                    && attribute.stream().to_string().starts_with("cfg")
                {
                    // `#[cfg(test)] mod tests { .. }`
                    tokens.by_ref().find(|token| matches!(token, TokenTree::Group(_)));
                }
            }
            TokenTree::Group(group) => collect(group.stream(), literals),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                    literals.push(text.replace("\\\"", "\""));
                }
            }
            TokenTree::Punct(_) | TokenTree::Ident(_) => {}
        }
    }
}

/// The pieces of a format string between its `{..}`, and between the lines of a literal.
fn pieces(literal: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = literal.replace("{{", "\u{1}").replace("}}", "\u{2}").into_bytes().into_iter().peekable();
    while let Some(byte) = chars.next() {
        match byte {
            b'{' => {
                chars.by_ref().find(|byte| *byte == b'}');
                pieces.push(String::new());
            }
            b'\\' => while chars.next_if(u8::is_ascii_whitespace).is_some() {},
            1 => pieces.last_mut().unwrap().push('{'),
            2 => pieces.last_mut().unwrap().push('}'),
            byte => pieces.last_mut().unwrap().push(char::from(byte)),
        }
    }
    pieces.retain(|piece| piece.trim().len() > 5);
    pieces
}

#[test]
fn no_page_is_stale_and_no_link_is_dead() {
    let errors_page = read("docs/compile-errors.md");
    for (page, name) in PAGES {
        let path = format!("protolink/src/macros/{name}_errors.md");
        let list = list(page);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(root().join(&path), &list).unwrap();
        }
        assert!(read(&path) == list, "{path} is stale: run this test with UPDATE_DOCS=1");
        for anchor in list.split("compile-errors.md#").skip(1).filter_map(|rest| rest.lines().next()) {
            assert!(errors_page.contains(&format!("<a id=\"{anchor}\"></a>")), "{path}: #{anchor}");
        }
    }
}

/// The options that the macros themselves speak of are those of the tables.
#[test]
fn every_option_is_in_the_table_of_its_page() {
    for (name, options) in [
        ("before_model", &["timeout = ", "crate = "][..]),
        ("after_tool", &["tool = ", "timeout = ", "crate = "]),
        ("before_complete", &["timeout = ", "crate = "]),
        ("tool", &["name = ", "type = ", "capability = ", "idempotent", "on_error = ", "crate = "]),
        ("hook_module", &["crate = "]),
        ("from_ref", &["#[from_ref(skip)]", "#[from_ref(crate = "]),
    ] {
        let page = read(&format!("protolink/src/macros/{name}.md"));
        for option in options {
            assert!(page.contains(&format!("\n| `{option}")), "{name}: {option}");
        }
    }
}

fn list(page: Page) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let link = format!("{repository}/blob/main/docs/compile-errors.md");
    let mut list = String::from(
        "\n# Errors\n\nThe compiler says these at the token that is wrong. Each links to its rule, with inputs and whole \
         messages; `…` stands for your own words.\n\n| error | rule |\n| --- | --- |\n",
    );
    let mut rules = BTreeSet::new();
    for (rule, message, pages) in MESSAGES {
        if pages.contains(&page) {
            let message = message.replace('|', "\\|");
            let _ = writeln!(list, "| {message} | [{rule}] |");
            rules.insert(rule);
        }
    }
    list.push_str("\nWhat is wrong inside of the function, rustc says in its own words.\n\n");
    for rule in rules {
        let _ = writeln!(list, "[{rule}]: {link}#{rule}");
    }
    list.push('\n');
    list
}
