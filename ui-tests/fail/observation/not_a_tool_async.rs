use protolink::prelude::*;

struct NotATool;

#[after_tool(tool = NotATool)]
async fn hook(_observation: &mut ToolObservation<'_, String>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
