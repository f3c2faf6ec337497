use protolink::prelude::*;

#[before_model(crate = core)] // wrong
fn hook(_request: &mut ModelRequest<'_>, _limit: State<u32>) -> Result<(), String> {
    Ok(())
}

#[tool(crate = crate::agents)] // wrong
fn search(query: String) -> Result<String, String> {
    Ok(query)
}

#[derive(FromRef)]
#[from_ref(crate = agents)] // wrong
struct App {
    _limit: u32,
}

fn main() {
    let _ = Agent::builder("a").state(App { _limit: 1 }).hooks(hooks![hook]).tools(tools![search]);
}
