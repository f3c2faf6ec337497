use protolink::prelude::*;

#[before_model]
fn object(_request: &mut ModelRequest<'_>, _db: State<dyn Send>) {} // wrong

#[before_model]
fn text(_request: &mut ModelRequest<'_>, _name: State<str>) {} // wrong

#[tool]
fn search(_db: State<[u8]>) {} // wrong

fn main() {
    let _ = Agent::builder("a").tools(tools![search]).hooks(hooks![object, text]);
}
