#![deny(warnings)]
//! A tool's type can have another name than its function, and hooks speak of the type.
use protolink::Tool;
use protolink::prelude::*;

mod catalogue {
    use protolink::prelude::*;

    #[tool(name = "find", type = Find)]
    pub(crate) fn search(query: String) -> Vec<String> {
        vec![query]
    }
}

use catalogue::Find;

#[after_tool(tool = catalogue::Find)]
fn by_path(observation: &mut ToolObservation<'_, Vec<String>>) {
    observation.result_mut().clear();
}

#[after_tool(tool = Find)]
fn by_name(observation: &mut ToolObservation<'_, <Find as Tool>::Output>) {
    observation.result_mut().clear();
}

pub(crate) fn main() {
    assert_eq!(Find::NAME, "find");
    let _ = Agent::builder("a").tools(tools![catalogue::Find]).hooks(hooks![by_path, by_name]);
}
