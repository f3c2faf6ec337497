//! Only the newest messages are sent; the conversation keeps all of them.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};

#[derive(Clone)]
struct Window(usize);

#[derive(Clone, FromRef)]
struct App {
    window: Window,
}

#[before_model]
fn newest_only(request: &mut ModelRequest<'_>, State(window): State<Window>) {
    let mut sent = request.this_step();
    while sent.len() > window.0 {
        sent.remove(0);
    }
}

#[tokio::test]
async fn m13_a_window_shapes_the_request_and_not_the_conversation() {
    let model = ScriptedModel::from_fn(|request| Reply::text(format!("{} messages", request.messages.len())));
    let agent = Agent::builder("chat")
        .model(model)
        .state(App { window: Window(3) })
        .hooks(hooks![newest_only])
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    for _ in 0..4 {
        conversation.invoke("hello").await.unwrap();
    }
    assert_eq!(conversation.messages().len(), 8);
    assert_eq!(conversation.messages()[7].text(), Some("3 messages"));
}
