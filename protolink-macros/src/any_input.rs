//! No input makes a macro panic, and a function that parses comes out as it went in.
//!
//! The inputs are functions and attributes as users write them, with tokens taken out, doubled, moved and replaced.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;

use crate::function::Function;
use crate::stage::{Stage, is_tool, of_attribute};
use crate::{collect, from_ref, hook, tool};

const ITEMS: [&str; 12] = [
    "/// Docs.\n#[inline] pub async fn select<'a>(request: &'a mut ModelRequest<'_>, State(db): State<Db>) -> Result<(), E> where 'a: 'a { request.history().push(x).await?; Ok(()) }",
    "fn keep(observation: &mut ToolObservation<'_, Vec<Hits>>) { if a && b || c { observation.result_mut().debug = None; } }",
    "pub(crate) unsafe extern \"C\" fn r#match(mut a: impl Send, #[cfg(x)] b: [u8; 3], ...) -> ! { loop {} }",
    "async fn search(/// What.\n query: String, #[default(10)] limit: Option<u32>, State(db): State<Db>, context: ToolContext) -> Result<Hits, DbError> { todo!() }",
    "const fn f<T: A + 'static, const N: usize>(self: &Self, _: T, (a, b): (u8, fn(&u8) -> &u8)) -> impl Future<Output = ()>;",
    "fn g(x: &'static str, y: Box<dyn for<'x> Fn(&'x u8) -> u8 + Send>) -> &str { match x { r#\"a\"# => 0x1f_u8, _ => -1.5e3 } }",
    "#[before_model] #[tool] fn two(a: A, b: B,) { quote!(#[doc = \"x\"] #a) }",
    "struct App { db: Db, #[from_ref(skip)] n: u32 }",
    "struct Unnamed(pub Db, #[from_ref(skip)] u8);",
    "mod rules { #[cfg(x)] #[before_model] pub fn a(r: &mut R) {} fn b() {} #[after_tool(tool = t)] async fn c() {} }",
    "impl Rules { fn hook(&self) {} }",
    "trait T { fn hook(r: &mut R); }",
];

const ARGS: [&str; 12] = [
    "",
    "timeout = \"2s\"",
    "tool = a::b, timeout = \"1.5s\", crate = ::pl",
    "crate = $crate::x",
    "tool = \"search\"",
    "name = \"a-b\", type = Handle, capability = \"a\", capability = \"b\", idempotent, on_error = \"report\"",
    "timeout, tool =, crate",
    "=, = = x ,",
    "tool = self::x, tool = super::y",
    "timeout = 2, idempotent = true, on_error = \"x\"",
    "(a, b), [c], {d}",
    "name = \"\", type = 3, 'a, crate = <A as B>::C",
];

/// One change of a token stream, at a place that is counted over all its tokens.
#[derive(Debug, Clone)]
enum Change {
    Remove(usize),
    Double(usize),
    Swap(usize),
    Replace(usize, usize),
    Wrap(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        any::<usize>().prop_map(Change::Remove),
        any::<usize>().prop_map(Change::Double),
        any::<usize>().prop_map(Change::Swap),
        (any::<usize>(), any::<usize>()).prop_map(|(at, with)| Change::Replace(at, with)),
        (any::<usize>(), any::<usize>()).prop_map(|(at, with)| Change::Wrap(at, with)),
    ]
}

const TOKENS: &str = "fn async unsafe self Self r#match crate super $ crate _ 'a 'static # ! ? , ; : -> = & && * . .. < > ( ) [ ] { } 0 1.0 \"x\" b\"x\" c\"x\" r\"x\" 'c' impl dyn mut State doc default";
const DELIMITERS: [Delimiter; 4] = [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None];

fn count(stream: &TokenStream) -> usize {
    stream
        .clone()
        .into_iter()
        .map(|token| if let TokenTree::Group(group) = &token { 1 + count(&group.stream()) } else { 1 })
        .sum()
}

/// Applies the change at the token that `left` counts down to.
fn apply(stream: TokenStream, change: &Change, left: &mut usize) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut swapped = None;
    for token in stream {
        let here = *left == 0;
        *left = left.wrapping_sub(1);
        let token = match token {
            TokenTree::Group(group) if !here => {
                let inner = apply(group.stream(), change, left);
                let mut changed = Group::new(group.delimiter(), inner);
                changed.set_span(group.span());
                TokenTree::Group(changed)
            }
            other => other,
        };
        if !here {
            out.push(token);
            out.extend(swapped.take());
            continue;
        }
        match change {
            Change::Remove(_) => {}
            Change::Double(_) => out.extend([token.clone(), token]),
            Change::Swap(_) => swapped = Some(token),
            Change::Replace(_, with) => {
                let words: Vec<&str> = TOKENS.split(' ').collect();
                out.extend(words[with % words.len()].parse::<TokenStream>().unwrap_or_default());
            }
            Change::Wrap(_, with) => {
                let group = Group::new(DELIMITERS[with % DELIMITERS.len()], TokenStream::from(token));
                out.push(TokenTree::Group(group));
            }
        }
    }
    out.extend(swapped);
    out.into_iter().collect()
}

fn changed(source: &str, changes: &[Change]) -> TokenStream {
    let mut stream: TokenStream = source.parse().unwrap_or_default();
    for change in changes {
        let (Change::Remove(at) | Change::Double(at) | Change::Swap(at) | Change::Replace(at, _) | Change::Wrap(at, _)) =
            change;
        let mut left = at % (count(&stream) + 1);
        stream = apply(stream, change, &mut left);
    }
    stream
}

/// Tokens by their structure, without their spacing and their invisible groups.
fn flat(stream: &TokenStream) -> Vec<String> {
    let mut texts = Vec::new();
    for token in stream.clone() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => texts.append(&mut flat(&group.stream())),
            TokenTree::Group(group) => {
                texts.push(format!("{:?}", group.delimiter()));
                texts.append(&mut flat(&group.stream()));
                texts.push("end".to_owned());
            }
            other => texts.push(other.to_string()),
        }
    }
    texts
}

fn starts_with(output: &TokenStream, input: &TokenStream) -> bool {
    flat(output).starts_with(&flat(input))
}

/// Leaves out the attributes that `#[tool]` takes off arguments, wherever they stand.
fn without_argument_attributes(texts: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut at = 0;
    while at < texts.len() {
        let beginning: Vec<&str> = texts[at..].iter().take(3).map(String::as_str).collect();
        if !matches!(beginning[..], ["#", "Bracket", "doc" | "default"]) {
            kept.push(texts[at].clone());
            at += 1;
            continue;
        }
        let mut open = 0_usize;
        loop {
            at += 1;
            match texts[at].as_str() {
                "Parenthesis" | "Brace" | "Bracket" => open += 1,
                "end" if open == 1 => break,
                "end" => open -= 1,
                _ => {}
            }
        }
        at += 1;
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hook_never_panics_and_keeps_its_function(
        item in 0..ITEMS.len(), args in 0..ARGS.len(), stage in 0..3_usize,
        item_changes in proptest::collection::vec(change(), 0..4),
        args_changes in proptest::collection::vec(change(), 0..3),
    ) {
        let item = changed(ITEMS[item], &item_changes);
        let output = hook::expand(Stage::ALL[stage], changed(ARGS[args], &args_changes), &item);
        let has_stage = Function::parse(&item)
            .is_ok_and(|function| function.attrs.iter().any(|attribute| of_attribute(attribute).is_some()));
        prop_assert!(has_stage || starts_with(&output, &item), "{item}\n\n{output}");
    }

    #[test]
    fn a_tool_never_panics_and_keeps_its_function(
        item in 0..ITEMS.len(), args in 0..ARGS.len(),
        item_changes in proptest::collection::vec(change(), 0..4),
        args_changes in proptest::collection::vec(change(), 0..3),
    ) {
        let item = changed(ITEMS[item], &item_changes);
        let output = tool::expand(changed(ARGS[args], &args_changes), &item);
        let is_twice = Function::parse(&item).is_ok_and(|function| function.attrs.iter().any(is_tool));
        let (written, given) = (without_argument_attributes(&flat(&output)), without_argument_attributes(&flat(&item)));
        prop_assert!(is_twice || written.starts_with(&given), "{item}\n\n{output}");
    }

    #[test]
    fn the_other_macros_never_panic(
        item in 0..ITEMS.len(), args in 0..ARGS.len(),
        item_changes in proptest::collection::vec(change(), 0..4),
        args_changes in proptest::collection::vec(change(), 0..3),
    ) {
        let item = changed(ITEMS[item], &item_changes);
        let _ = collect::expand(changed(ARGS[args], &args_changes), &item);
        let _ = from_ref::expand(item);
    }
}
