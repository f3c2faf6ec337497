use protolink::prelude::*;

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, _rule: State<fn(impl Send)>) {} // wrong

#[tool]
fn search(_query: String, _rule: State<fn(impl Send)>) -> String { // wrong
    String::new()
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]).tools(tools![search]);
}
