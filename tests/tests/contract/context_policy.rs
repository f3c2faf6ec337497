//! What the context policy leaves out of a request (contract M7, M14, P2, T3).

use std::sync::{Arc, Mutex};

use protolink::prelude::*;
use protolink::rules::context::ContextManifest;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{DynTool, ToolOutcome};
use serde_json::{Value, json};

/// A tool that gives this back.
fn gives(name: &str, result: Value) -> DynTool {
    DynTool::new(name, "Gives something.", json!({ "type": "object" }), move |_, _| {
        let result = result.clone();
        async move { Ok::<_, ToolError>(result) }
    })
}

/// What was said about each request.
#[derive(Clone, Default)]
struct Manifests(Arc<Mutex<Vec<ContextManifest>>>);

impl Manifests {
    fn observer(&self) -> impl Fn(&RunEvent) + Send + Sync + 'static {
        let kept = Arc::clone(&self.0);
        move |event| {
            if let RunEvent::ContextPrepared { manifest, .. } = event {
                kept.lock().unwrap().push(manifest.clone());
            }
        }
    }

    fn all(&self) -> Vec<ContextManifest> {
        self.0.lock().unwrap().clone()
    }
}

/// The texts of the messages as they were sent, outcomes among them.
fn sent(model: &ScriptedModel, request: usize) -> Vec<String> {
    let request = &model.requests()[request];
    let text = |message: &Arc<Message>| match message.calls().first() {
        Some(exchange) => exchange.outcome.to_model_text(),
        None => message.text().unwrap_or_default().to_owned(),
    };
    request.messages.iter().map(text).collect()
}

fn words(count: usize) -> String {
    "blah ".repeat(count)
}

#[tokio::test]
async fn m7_r14_a_ceiling_below_the_current_message_is_an_error_before_the_request() {
    let model = ScriptedModel::new([Reply::text("first"), Reply::text("never")]);
    let agent = Agent::builder("a").model(model.clone()).context_policy(ContextPolicy::new(500)).build().unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("short").await.unwrap();

    let error = conversation.invoke(words(1_000)).await.unwrap_err();

    let Error::Context { step: 1, source, .. } = &error else { panic!("{error:?}") };
    assert!(source.needed > 1_000 && source.available == 500, "{source}");
    assert_eq!(model.request_count(), 1, "nothing is sent");
    let texts: Vec<_> = conversation.messages().iter().map(|message| message.text().unwrap().len()).collect();
    assert_eq!(texts, [5, 5, 5_000], "the conversation is whole");
}

#[tokio::test]
async fn m7_l04_what_a_hook_adds_counts_against_the_budget_before_the_request() {
    let model = ScriptedModel::new([Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .before_model("add", |request: &mut ModelRequest<'_>| request.history().push(Message::user(words(4_000))))
        .budget(Budget::new().max_input_tokens(4_000))
        .build()
        .unwrap();
    let error = agent.invoke("go").await.unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error:?}");
    assert_eq!(model.request_count(), 0);
}

#[tokio::test]
async fn p2_r61_the_trimmed_request_is_what_is_counted() {
    let model = ScriptedModel::new([Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .before_model("trim", |request: &mut ModelRequest<'_>| {
            request.history().edit(0, |message| message.set_text("in short"));
        })
        .budget(Budget::new().max_input_tokens(100))
        .build()
        .unwrap();
    let answer = agent.invoke(words(4_000)).await.unwrap();
    assert!(answer.usage().input_tokens < 100);

    // The same, where the context policy does the trimming.
    let model = ScriptedModel::new([Reply::text("x"), Reply::text("y")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .context_policy(ContextPolicy::new(100))
        .before_model("old", |request: &mut ModelRequest<'_>| {
            request.history().insert(0, Message::user(words(4_000)));
        })
        .budget(Budget::new().max_input_tokens(100))
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    assert_eq!(sent(&model, 0), ["go"]);
}

#[tokio::test]
async fn m7_l06_the_policy_runs_after_the_hooks() {
    let model = ScriptedModel::new([Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .context_policy(ContextPolicy::new(2_600).reserve_tokens(100).preserve_recent(1))
        .before_model("insert", |request: &mut ModelRequest<'_>| {
            request.history().insert(0, Message::user(words(3_000)));
        })
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.unwrap();
    assert_eq!(sent(&model, 0), ["go"]);
    assert_eq!(conversation.messages().len(), 3, "what a hook inserted stays, and so does what was not sent");
}

#[tokio::test]
async fn m7_l07_protected_input_that_cannot_fit_is_an_error() {
    let model = ScriptedModel::new([Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .context_policy(ContextPolicy::new(2_600).reserve_tokens(100).preserve_recent(2))
        .before_model("add", |request: &mut ModelRequest<'_>| request.history().push(Message::user(words(4_000))))
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    let error = conversation.invoke("go").await.unwrap_err();
    let Error::Context { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.available, 2_500, "what is reserved is kept free");
    assert_eq!(model.request_count(), 0);
    assert_eq!(conversation.messages().len(), 1, "the edits of a step that failed do not stay");
}

#[tokio::test]
async fn m7_the_oldest_complete_turns_go_first() {
    let manifests = Manifests::default();
    let replies = (1..=4).flat_map(|n| [Reply::call("look", json!({})), Reply::text(format!("answer {n}"))]);
    let model = ScriptedModel::new(replies);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives("look", json!(words(80))))
        .context_policy(ContextPolicy::new(300))
        .observer(manifests.observer())
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    for n in 1..=4 {
        conversation.invoke(format!("question {n}")).await.unwrap();
    }

    let last = sent(&model, 7);
    assert_eq!(last, ["question 3", &words(80), "answer 3", "question 4", &words(80)], "whole turns, the newest");
    let manifest = manifests.all().pop().unwrap();
    assert_eq!((manifest.messages, manifest.messages_dropped), (5, 6));
    assert!(manifest.total_tokens() <= 300, "{manifest:?}");
    assert_eq!(conversation.messages().len(), 12, "the conversation stays whole");
}

#[tokio::test]
async fn m7_preserved_turns_stay_and_their_oldest_results_are_cleared() {
    let manifests = Manifests::default();
    let replies = (1..=3).flat_map(|n| [Reply::call("look", json!({})), Reply::text(format!("answer {n}"))]);
    let model = ScriptedModel::new(replies);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives("look", json!(words(80))))
        .context_policy(ContextPolicy::new(250).preserve_recent(3))
        .observer(manifests.observer())
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    for n in 1..=3 {
        conversation.invoke(format!("question {n}")).await.unwrap();
    }

    let last = sent(&model, 5);
    assert_eq!(last.len(), 8, "no turn is left out: {last:?}");
    assert!(last[1].contains("400 characters") && last[1].contains("cleared"), "{}", last[1]);
    assert!(last[4].contains("cleared"), "{}", last[4]);
    assert_eq!(last[7], words(80), "the newest result is shown");
    let manifest = manifests.all().pop().unwrap();
    assert_eq!((manifest.messages_dropped, manifest.results_cleared), (0, 2));
    assert!(manifest.total_tokens() <= 250, "{manifest:?}");
    for message in conversation.messages().iter().filter(|message| !message.calls().is_empty()) {
        assert_eq!(message.calls()[0].outcome, ToolOutcome::Observed(json!(words(80)).into()));
    }
}

#[tokio::test]
async fn m7_what_hooks_say_in_the_users_name_does_not_push_the_prompt_out() {
    let model = ScriptedModel::new([Reply::call("look", json!({})), Reply::text("x")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .dyn_tool(gives("look", json!(words(400))))
        .context_policy(ContextPolicy::new(150))
        .before_model("remind", |request: &mut ModelRequest<'_>| {
            request.history().push(Message::user("Be brief."));
        })
        .build()
        .unwrap();
    agent.invoke("What do you see?").await.unwrap();
    let second = sent(&model, 1);
    assert_eq!(second.len(), 4, "{second:?}");
    assert_eq!(second[0], "What do you see?");
    assert!(second[2].contains("cleared"), "{second:?}");
}

#[tokio::test]
async fn m7_an_answer_that_goes_back_keeps_its_question() {
    let model = ScriptedModel::new([Reply::text(words(40)), Reply::text("short")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .max_revisions(1)
        .context_policy(ContextPolicy::new(120))
        .before_model("old", |request: &mut ModelRequest<'_>| {
            request.this_step().insert(0, Message::user(words(60)));
        })
        .before_complete("brief", |response: &mut FinalResponse<'_>| {
            if response.text().is_some_and(|text| text.len() > 100) {
                response.ask_revision("Be brief.");
            }
        })
        .build()
        .unwrap();
    assert_eq!(agent.invoke("Why?").await.unwrap().text(), "short");
    assert_eq!(sent(&model, 1), ["Why?", &words(40), "Be brief."]);
}

#[tokio::test]
async fn m7_the_manifest_counts_what_is_sent() {
    let manifests = Manifests::default();
    let model = ScriptedModel::new([Reply::call("look", json!({ "at": "it" })), Reply::text("x")]);
    let agent = Agent::builder("a")
        .instructions("Look, and say what you see.")
        .model(model.clone())
        .dyn_tool(gives("look", json!(words(100))))
        .dyn_tool(gives("other", json!(null)))
        .before_model("fewer", |request: &mut ModelRequest<'_>| {
            request.tools().remove_named("other");
        })
        .observer(manifests.observer())
        .build()
        .unwrap();
    let answer = agent.invoke("What is there?").await.unwrap();
    let manifests = manifests.all();
    assert_eq!((manifests[0].messages, manifests[1].messages), (1, 2));
    assert_eq!(manifests[0].system_tokens, 7);
    assert_eq!(manifests[0].tool_tokens, manifests[1].tool_tokens);
    assert!((5..40).contains(&manifests[0].tool_tokens), "one tool: {manifests:?}");
    let grown = manifests[1].message_tokens - manifests[0].message_tokens;
    assert!((125..150).contains(&grown), "500 characters and their call: {grown}");
    // A scripted model does not say what it counted, so that the usage is what was estimated.
    assert_eq!(answer.usage().input_tokens, manifests[0].total_tokens() + manifests[1].total_tokens());

    // Nobody watching makes no difference to what is counted.
    let model = ScriptedModel::new([Reply::call("look", json!({ "at": "it" })), Reply::text("x")]);
    let unwatched = Agent::builder("a")
        .instructions("Look, and say what you see.")
        .model(model)
        .dyn_tool(gives("look", json!(words(100))))
        .build()
        .unwrap();
    assert_eq!(unwatched.invoke("What is there?").await.unwrap().usage(), answer.usage());
}
