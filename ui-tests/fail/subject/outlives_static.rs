use protolink::prelude::*;

#[before_model]
fn in_a_clause<'a>(_request: &'a mut ModelRequest<'_>)
where
    'a: 'static, // wrong
{
}

#[after_tool]
async fn in_a_parameter<'a: 'static>(_observation: &'a mut ToolObservation<'_>) {} // wrong

fn main() {
    let _ = Agent::builder("a").hooks(hooks![in_a_clause, in_a_parameter]);
}
