use protolink::prelude::*;
use protolink::{ToolSpec, ToolsMut};

#[tool]
fn search(query: String) -> String {
    query
}

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let kept: Vec<ToolSpec> = request.tools().iter().cloned().collect();
    request.tools().retain(|_| false);
    request.tools().replace(kept); // wrong
    request.tools().add::<search>(); // wrong
    request.tools().clone(); // wrong
    request.tools().iter_mut(); // wrong
    request.tools()["search"]; // wrong
    request.tools().retain(|tool| tool.set_description("x")); // wrong
    request.tools().remove("search"); // wrong
    request.tools().remove(search); // wrong
    request.tools().remove::<hook>(); // wrong
    let _ = ToolSpec::default(); // wrong
    let _: ToolsMut<'_> = kept.into_iter().collect(); // wrong
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
