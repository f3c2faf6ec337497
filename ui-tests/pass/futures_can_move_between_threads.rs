#![deny(warnings)]
//! The future of an annotated function is the function's own, and can move between threads.
use protolink::prelude::*;

fn can_move<F: Future + Send>(future: F) -> F {
    future
}

#[before_model]
async fn edit(request: &mut ModelRequest<'_>, State(text): State<String>) -> Result<(), String> {
    std::future::ready(()).await;
    request.history().push(Message::user(text));
    Ok(())
}

#[tool]
async fn search(query: String) -> String {
    std::future::ready(()).await;
    query
}

async fn both(request: &mut ModelRequest<'_>) {
    let _ = can_move(edit(request, State("x".to_owned()))).await;
    let _ = can_move(search("x".to_owned())).await;
}

pub(crate) fn main() {
    let _ = both;
    let _ = Agent::builder("a").state("x".to_owned()).tools(tools![search]).hooks(hooks![edit]);
}
