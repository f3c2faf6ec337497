//! What changes the fingerprint of a hook and what does not, pair by pair, and the values themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::check::Errors;
use crate::digest::fingerprint;
use crate::function::Function;
use crate::options::HookOptions;
use crate::stage::of_attribute;

/// The fingerprint of a function with its stage's attribute, as the attribute makes it.
fn of(source: &str) -> [u8; 32] {
    let mut function = Function::parse(&source.parse().unwrap()).unwrap_or_else(|error| panic!("{error}: {source}"));
    let at = function.attrs.iter().position(|attribute| of_attribute(attribute).is_some()).unwrap();
    let attribute = function.attrs.remove(at);
    let stage = of_attribute(&attribute).unwrap();
    let args = match attribute.meta {
        syn::Meta::List(list) => list.tokens,
        _ => proc_macro2::TokenStream::new(),
    };
    let mut errors = Errors::default();
    let options = HookOptions::parse(stage, args, &mut errors);
    assert!(errors.is_empty(), "{source}");
    fingerprint(stage, &options, &function)
}

/// Formatting, comments, documentation, and what else changes nothing about what the function does.
const SAME: [(&str, &str, &str); 32] = [
    ("white space", "#[before_model] fn a(r: &mut R) { b(); }", "#[before_model]\nfn a( r : & mut R )\n{\n\tb( ) ;\n}"),
    ("line break in a chain", "#[before_model] fn a() { r.x().y() }", "#[before_model] fn a() { r\n  .x()\n  .y() }"),
    ("line comment", "#[before_model] fn a() { b(); }", "#[before_model] fn a() { // b\n b(); }"),
    ("block comment", "#[before_model] fn a() { b(); }", "#[before_model] fn a(/* none */) { b(); /* c */ }"),
    ("doc comment", "#[before_model] fn a() {}", "/// Docs.\n#[before_model] fn a() {}"),
    ("doc comment below", "#[before_model] fn a() {}", "#[before_model]\n/// Docs.\nfn a() {}"),
    ("block doc comment", "#[before_model] fn a() {}", "/** Docs. */ #[before_model] fn a() {}"),
    ("doc attribute", "#[before_model] fn a() {}", "#[doc = \"Docs.\"] #[before_model] fn a() {}"),
    (
        "doc comment in the body",
        "#[before_model] fn a() { fn b() {} }",
        "#[before_model] fn a() { /// B.\n fn b() {} }",
    ),
    ("inner doc comment", "#[before_model] fn a() { b() }", "#[before_model] fn a() { //! A.\n b() }"),
    ("trailing comma of parameters", "#[before_model] fn a(r: R) {}", "#[before_model] fn a(r: R,) {}"),
    ("trailing comma of a call", "#[before_model] fn a() { b(1, 2) }", "#[before_model] fn a() { b(1, 2,) }"),
    ("trailing comma of an array", "#[before_model] fn a() { [1, 2] }", "#[before_model] fn a() { [1, 2,] }"),
    ("trailing comma of a struct", "#[before_model] fn a() { B { c: 1 } }", "#[before_model] fn a() { B { c: 1, } }"),
    ("trailing comma of generics", "#[before_model] fn a(v: V<u8>) {}", "#[before_model] fn a(v: V<u8,>) {}"),
    ("trailing comma of a pair", "#[before_model] fn a() { (1, 2) }", "#[before_model] fn a() { (1, 2,) }"),
    ("trailing comma of a macro", "#[before_model] fn a() { vec![1, 2] }", "#[before_model] fn a() { vec![1, 2,] }"),
    (
        "trailing comma of a match",
        "#[before_model] fn a() { match b { _ => 1 } }",
        "#[before_model] fn a() { match b { _ => 1, } }",
    ),
    ("space in a minus", "#[before_model] fn a() { let d = -x; }", "#[before_model] fn a() { let d =-x; }"),
    ("space in a deref", "#[before_model] fn a() { f(|y| *y) }", "#[before_model] fn a() { f(|y|*y) }"),
    ("space before a less", "#[before_model] fn a() { **b < 5 }", "#[before_model] fn a() { **b<5 }"),
    ("raw plain identifier", "#[before_model] fn a() { let b = 1; }", "#[before_model] fn a() { let r#b = 1; }"),
    ("raw name of the function", "#[before_model] fn a() {}", "#[before_model] fn r#a() {}"),
    ("raw string", "#[before_model] fn a() { b(\"x\") }", "#[before_model] fn a() { b(r\"x\") }"),
    ("raw string with hashes", "#[before_model] fn a() { b(\"x\\\"\") }", "#[before_model] fn a() { b(r#\"x\"\"#) }"),
    ("continued string", "#[before_model] fn a() { b(\"x y\") }", "#[before_model] fn a() { b(\"x \\\n      y\") }"),
    ("escape", "#[before_model] fn a() { b(\"A\") }", "#[before_model] fn a() { b(\"\\x41\") }"),
    ("visibility", "#[before_model] fn a() {}", "#[before_model] pub(crate) fn a() {}"),
    ("lint level", "#[before_model] fn a() {}", "#[allow(unused)] #[before_model] #[expect(dead_code)] fn a() {}"),
    ("hints", "#[before_model] fn a() {}", "#[inline] #[cold] #[must_use] #[track_caller] #[before_model] fn a() {}"),
    ("path of the attribute", "#[before_model] fn a() {}", "#[protolink::before_model(crate = pl)] fn a() {}"),
    (
        "doc comment in an assigned block",
        "#[before_model] fn a() { let c = { fn b() {} b() }; }",
        "#[before_model] fn a() { let c = { /// B.\n fn b() {} b() }; }",
    ),
];

/// What a reviewer of the hook would want to see again.
const DIFFERENT: [(&str, &str, &str); 41] = [
    ("number", "#[before_model] fn a() { b(3) }", "#[before_model] fn a() { b(4) }"),
    ("base of a number", "#[before_model] fn a() { b(3) }", "#[before_model] fn a() { b(0x3) }"),
    ("suffix of a number", "#[before_model] fn a() { b(3) }", "#[before_model] fn a() { b(3u8) }"),
    ("text", "#[before_model] fn a() { b(\"x\") }", "#[before_model] fn a() { b(\"y\") }"),
    ("space in a text", "#[before_model] fn a() { b(\"x y\") }", "#[before_model] fn a() { b(\"x  y\") }"),
    ("text and bytes", "#[before_model] fn a() { b(\"x\") }", "#[before_model] fn a() { b(b\"x\") }"),
    ("text and character", "#[before_model] fn a() { b(\"x\") }", "#[before_model] fn a() { b('x') }"),
    ("truth", "#[before_model] fn a() { b(true) }", "#[before_model] fn a() { b(false) }"),
    ("comparison", "#[before_model] fn a() { b > 3 }", "#[before_model] fn a() { b >= 3 }"),
    ("arithmetic", "#[before_model] fn a() { b + c }", "#[before_model] fn a() { b - c }"),
    ("and", "#[before_model] fn a() { b && c }", "#[before_model] fn a() { b & c }"),
    ("two references", "#[before_model] fn a() { b(&&c) }", "#[before_model] fn a() { b(&c) }"),
    ("negation", "#[before_model] fn a() { b(c) }", "#[before_model] fn a() { b(!c) }"),
    ("range", "#[before_model] fn a() { 0..3 }", "#[before_model] fn a() { 0..=3 }"),
    ("question mark", "#[before_model] fn a() { b() }", "#[before_model] fn a() { b()? }"),
    ("semicolon", "#[before_model] fn a() { b() }", "#[before_model] fn a() { b(); }"),
    ("order of statements", "#[before_model] fn a() { b(); c(); }", "#[before_model] fn a() { c(); b(); }"),
    ("order of arguments", "#[before_model] fn a() { b(c, d) }", "#[before_model] fn a() { b(d, c) }"),
    ("a statement more", "#[before_model] fn a() { b(); }", "#[before_model] fn a() { b(); b(); }"),
    ("a called name", "#[before_model] fn a() { b() }", "#[before_model] fn a() { c() }"),
    ("raw keyword", "#[before_model] fn a() { b(r#match) }", "#[before_model] fn a() { b(matched) }"),
    ("raw keyword and keyword", "#[before_model] fn a() { r#loop {} }", "#[before_model] fn a() { loop {} }"),
    ("tuple of one", "#[before_model] fn a() { let b = (1); }", "#[before_model] fn a() { let b = (1,); }"),
    ("delimiters", "#[before_model] fn a() { b![c] }", "#[before_model] fn a() { b!(c) }"),
    ("nesting", "#[before_model] fn a() { b(c(), d) }", "#[before_model] fn a() { b(c(d)) }"),
    (
        "doc in a macro call",
        "#[before_model] fn a() { q!(#[doc = \"x\"] b) }",
        "#[before_model] fn a() { q!(#[doc = \"y\"] b) }",
    ),
    ("condition in the body", "#[before_model] fn a() { #[cfg(x)] b() }", "#[before_model] fn a() { #[cfg(y)] b() }"),
    ("name of the function", "#[before_model] fn a() {}", "#[before_model] fn b() {}"),
    ("name of a parameter", "#[before_model] fn a(r: R) {}", "#[before_model] fn a(s: R) {}"),
    ("type of a parameter", "#[before_model] fn a(r: R) {}", "#[before_model] fn a(r: S) {}"),
    ("a parameter more", "#[before_model] fn a(r: R) {}", "#[before_model] fn a(r: R, s: S) {}"),
    ("result", "#[before_model] fn a() {}", "#[before_model] fn a() -> Result<(), E> {}"),
    ("async", "#[before_model] fn a() {}", "#[before_model] async fn a() {}"),
    ("stage", "#[before_model] fn a() {}", "#[before_complete] fn a() {}"),
    ("tool", "#[after_tool(tool = b)] fn a() {}", "#[after_tool(tool = c)] fn a() {}"),
    ("for a tool", "#[after_tool] fn a() {}", "#[after_tool(tool = c)] fn a() {}"),
    (
        "timeout",
        "#[before_model(timeout = \"1s\")] async fn a() {}",
        "#[before_model(timeout = \"2s\")] async fn a() {}",
    ),
    ("attribute macro", "#[before_model] fn a() {}", "#[before_model] #[tracing::instrument] fn a() {}"),
    ("returned tuple of one", "#[before_model] fn a() { return (b); }", "#[before_model] fn a() { return (b,); }"),
    ("inner attribute", "#[before_model] fn a() { #![c] b() }", "#[before_model] fn a() { #![d] b() }"),
    (
        "doc in a macro's rules",
        "#[before_model] fn a() { macro_rules! b { () => { #[doc = \"x\"] fn c() {} } } }",
        "#[before_model] fn a() { macro_rules! b { () => { #[doc = \"y\"] fn c() {} } } }",
    ),
];

#[test]
fn d6_what_changes_nothing_keeps_the_fingerprint() {
    for (what, one, other) in SAME {
        assert_eq!(of(one), of(other), "{what}");
    }
}

#[test]
fn d6_what_changes_something_changes_the_fingerprint() {
    for (what, one, other) in DIFFERENT {
        assert_ne!(of(one), of(other), "{what}");
    }
}

#[test]
fn d6_no_two_of_the_sources_meet() {
    let mut seen = BTreeMap::new();
    for source in DIFFERENT.iter().flat_map(|(_, one, other)| [*one, *other]) {
        if let Some(before) = seen.insert(of(source), source) {
            assert_eq!(before, source);
        }
    }
}

/// A fragment of a `macro_rules!` comes in an invisible group; around one token it says nothing.
#[test]
fn d6_a_fragment_of_one_token_is_that_token() {
    use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
    use quote::quote;

    let of_limit = |limit: TokenStream| {
        let function: Function = syn::parse2(quote!(fn a() { b(#limit) })).unwrap();
        let mut errors = Errors::default();
        let options = HookOptions::parse(crate::stage::Stage::BeforeModel, TokenStream::new(), &mut errors);
        fingerprint(crate::stage::Stage::BeforeModel, &options, &function)
    };
    let invisible = |tokens: TokenStream| TokenStream::from(TokenTree::Group(Group::new(Delimiter::None, tokens)));
    assert_eq!(of_limit(quote!(3)), of_limit(invisible(quote!(3))));
    assert_eq!(of_limit(quote!(c)), of_limit(invisible(invisible(quote!(c)))));
    assert_ne!(of_limit(quote!(1 + 2)), of_limit(invisible(quote!(1 + 2))));
}

/// The function of `ui-tests/pass/fingerprint_is_pinned.rs`, where the compiler's own tokens are hashed.
const COMPILED: &str = "#[before_model(timeout = \"2000ms\")] async fn pinned<'a>(request: &'a mut ModelRequest<'_>, \
    State(limit): State<usize>,) -> Result<(), String> { while request.history().len()>=limit&&!request.history().is_empty() \
    { request.history().remove(0).ok_or_else(||\"no message\".to_owned())?; } Ok(()) }";

/// The values stand in a file, so that a change of the algorithm is noticed: runs that are under way would refuse to
/// go on. A change that is meant takes a new version beside `fp1`; then run this with `UPDATE_FINGERPRINTS=1`.
#[test]
fn d6_the_values_are_pinned() {
    let mut values = String::new();
    for (what, source) in
        SAME.iter().map(|(what, one, _)| (what, one)).chain(DIFFERENT.iter().map(|(what, _, other)| (what, other)))
    {
        let hex = of(source).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let _ = writeln!(values, "{hex}  {what}");
    }
    let hex = of(COMPILED).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let _ = writeln!(values, "{hex}  as compiled");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fingerprints.txt");
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some() {
        std::fs::write(path, &values).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), values);
}
