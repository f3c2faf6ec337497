use protolink::RunContext;
use protolink::prelude::*;

#[before_model]
fn maybe(_request: &mut ModelRequest<'_>, _limit: Option<State<u32>>) {} // wrong

#[after_tool]
fn mutable(_observation: &mut ToolObservation<'_>, _limit: &mut State<u32>) {} // wrong

#[before_complete]
fn borrowed(_response: &mut FinalResponse<'_>, _limit: &u32) {} // wrong

#[after_tool]
async fn of_a_tool(_observation: &mut ToolObservation<'_>, _context: ToolContext) {} // wrong

#[before_model]
fn context(_request: &mut ModelRequest<'_>, _context: &RunContext) {} // wrong

#[before_complete]
async fn receipts(_response: &mut FinalResponse<'_>, _receipts: Vec<protolink::Receipt>) {} // wrong

fn main() {
    let _ = Agent::builder("a").hooks(hooks![maybe, mutable, borrowed, of_a_tool, context, receipts]);
}
