use protolink::prelude::*;

#[tool]
fn search(query: String) -> Vec<String> {
    vec![query]
}

#[after_tool(tool = search)]
fn shared(_observation: &ToolObservation<'_, Vec<String>>) {} // wrong

#[after_tool(tool = search)]
async fn by_value(_observation: ToolObservation<'_, Vec<String>>) {} // wrong

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![shared, by_value]);
}
