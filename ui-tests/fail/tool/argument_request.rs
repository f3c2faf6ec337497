use protolink::prelude::*;

#[tool]
fn search(request: &mut ModelRequest<'_>) -> u32 {
    request.step()
}

fn main() {
    let _ = Agent::builder("a").tools(tools![search]);
}
