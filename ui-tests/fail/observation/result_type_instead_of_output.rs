use protolink::prelude::*;

#[tool]
fn search(query: String) -> Result<String, std::io::Error> {
    Ok(query)
}

#[after_tool(tool = search)]
fn hook(_observation: &mut ToolObservation<'_, Result<String, std::io::Error>>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![hook]);
}
