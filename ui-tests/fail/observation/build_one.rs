use protolink::prelude::*;

fn main() {
    let _: ToolObservation<'static> = ToolObservation { tool: "search" };
}
