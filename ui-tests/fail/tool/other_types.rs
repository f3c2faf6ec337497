use protolink::BoxFuture;
use protolink::prelude::*;

#[tool]
fn context(query: String, _context: &ToolContext) -> String { // wrong
    query
}

#[tool]
fn function(_callback: fn()) {} // wrong

#[tool]
fn object(_callback: Box<dyn Send>) {} // wrong

#[tool]
fn nameless(_: String) {} // wrong

#[tool]
fn future(query: String) -> BoxFuture<'static, String> { // wrong
    Box::pin(async { query })
}

#[tool]
fn key_and_value(#[default = 3] limit: u32) -> u32 { // wrong
    limit
}

fn main() {
    let _ = Agent::builder("a").tools(tools![context, function, object, nameless, future, key_and_value]);
}
