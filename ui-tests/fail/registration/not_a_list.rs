use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hook {}); // wrong
    let _ = Agent::builder("a").hooks([hook {}]); // wrong
    let _ = Agent::builder("a").hooks(hooks!["hook"]); // wrong
    let _ = Agent::builder("a").hooks(hooks![move |_request: &mut ModelRequest<'_>| {}]); // wrong
    let _ = Agent::builder("a").tools(search {}); // wrong
    let _ = Agent::builder("a").tools(tools!["search"]); // wrong
    let _ = protolink::AgentHooks::<u32>::new().hooks(hook {}); // wrong
}
