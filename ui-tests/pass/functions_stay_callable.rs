#![deny(warnings)]
//! An annotated function is still that function.
use protolink::prelude::*;
use protolink::testing::{ObservationFixture, RequestFixture, ResponseFixture};

#[tool]
async fn search(query: String) -> String {
    query
}

#[before_model]
fn edit(request: &mut ModelRequest<'_>) {
    request.history().push(Message::user("x"));
}

#[before_model]
async fn edit_async(request: &mut ModelRequest<'_>, State(text): State<String>) {
    request.history().push(Message::user(text));
}

#[after_tool(tool = search)]
fn cut(observation: &mut ToolObservation<'_, String>) {
    observation.result_mut().truncate(1);
}

#[before_complete]
fn close(response: &mut FinalResponse<'_>) {
    response.set_text("done");
}

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() {
    let function: fn(&mut ModelRequest<'_>) = edit;
    let mut request = RequestFixture::new();
    request.with(|request| function(request));
    request.with_async(async |request| edit_async(request, State("y".to_owned())).await).await;
    assert_eq!(request.messages().len(), 2);

    let mut observation = ObservationFixture::of::<search>(search("abc".to_owned()).await);
    observation.with(|observation| cut(observation));

    let mut response = ResponseFixture::text("x");
    response.with(|response| close(response));
}
