use protolink::prelude::*;

#[before_model]
fn hook<'a>(_request: &mut ModelRequest<'_>, _name: State<&'a str>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
