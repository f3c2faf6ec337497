//! Documents that fit the question stand in the request of the step, and are not kept.

use std::sync::Arc;

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};

#[derive(Clone)]
struct Index(Arc<Vec<(&'static str, &'static str)>>);

impl Index {
    async fn search(&self, question: &str) -> Option<&'static str> {
        tokio::task::yield_now().await;
        self.0.iter().find(|(word, _)| question.contains(word)).map(|(_, text)| *text)
    }
}

#[derive(Clone, FromRef)]
struct App {
    index: Index,
}

#[before_model]
async fn inject(request: &mut ModelRequest<'_>, State(index): State<Index>) {
    let question =
        request.history().iter().rev().find(|message| message.is_user()).and_then(Message::text).map(str::to_owned);
    if let Some(found) = index.search(&question.unwrap_or_default()).await {
        request.this_step().append_system(format!("What is known:\n{found}"));
    }
}

#[tokio::test]
async fn m13_what_was_retrieved_is_in_one_request_only() {
    let model = ScriptedModel::new([Reply::text("Oak."), Reply::text("You are welcome.")]);
    let index = Index(Arc::new(vec![("desk", "The desk is made of oak.")]));
    let agent = Agent::builder("shop")
        .instructions("Be brief.")
        .model(model.clone())
        .state(App { index })
        .hooks(hooks![inject])
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("What is the desk made of?").await.unwrap();
    conversation.invoke("Thanks!").await.unwrap();
    assert_eq!(model.requests()[0].system, "Be brief.\n\nWhat is known:\nThe desk is made of oak.");
    assert_eq!(model.requests()[1].system, "Be brief.");
    assert!(conversation.messages().iter().all(|message| !message.text().unwrap_or_default().contains("oak")));
}
