use protolink::prelude::*;

#[derive(FromRef)]
struct App {
    limit: u32,
    name: ,
}

#[before_model]
fn hook(_request: &mut ModelRequest<'_>, _limit: State<u32>) {}

fn main() {
    let _ = Agent::builder("a").state(App { limit: 3, name: "x" }).hooks(hooks![hook]);
}
