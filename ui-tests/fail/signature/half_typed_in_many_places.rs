use protolink::prelude::*;

#[before_model]
fn without_type(request: ) {} // wrong

#[after_tool]
async fn without_name_of_the_type(_observation: &mut ) {} // wrong

#[before_complete]
fn name_only(_response: &mut FinalResponse<'_>, limit) {} // wrong

#[tool]
fn search(query: ) -> String { // wrong
    query
}

#[after_tool(tool = )] // wrong
fn without_tool(_observation: &mut ToolObservation<'_>) {}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![
        without_type,
        without_name_of_the_type,
        name_only,
        without_tool,
    ]);
}
