use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    request.tools().insert::<search>();
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
