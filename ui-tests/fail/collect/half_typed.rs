use protolink::prelude::*;

#[hook_module]
mod rules {
    use protolink::prelude::*;

    #[before_model]
    fn first(_request: &mut ModelRequest<'_>) {}

    #[before_model]
    fn second(_request: &mut ModelRequest<'_>, limit: ) {}
}

fn main() {
    let _ = Agent::builder("a").hooks(rules::hooks);
}
