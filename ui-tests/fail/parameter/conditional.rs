use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, #[cfg(any())] _limit: State<u32>) {} // wrong

#[before_model]
fn attribute(_request: &mut ModelRequest<'_>, #[cfg_attr(all(), allow(unused))] limit: State<u32>) {} // wrong

#[tool]
fn search(query: String, #[cfg(any())] limit: u32) -> String { // wrong
    query
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook, attribute]);
}
