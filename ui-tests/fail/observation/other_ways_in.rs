use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[after_tool]
fn json(observation: &mut ToolObservation<'_>) {
    let _ = observation.receipt; // wrong
    observation.outcome_mut(); // wrong
    observation.head.tool = "other"; // wrong
    let _: ToolObservation<'_> = observation.clone(); // wrong
    std::mem::take(observation); // wrong
    observation.answer(); // wrong
}

#[after_tool(tool = search)]
fn typed(observation: &mut ToolObservation<'_, String>) {
    *observation.result_mut() = 3; // wrong
    observation.set_result(3); // wrong
    let _: &mut ToolObservation<'_> = observation; // wrong
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![json, typed]);
}
