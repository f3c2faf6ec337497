//! Answers that have a type, and answers that go back to the model with feedback.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use protolink::prelude::*;
use protolink::rules::BudgetLimit;
use protolink::testing::{Reply, ScriptedModel};
use protolink::{ValueError, before_complete};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What a reviewer thinks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Verdict {
    good: bool,
    score: u8,
}

const GOOD: &str = r#"{"good": true, "score": 7}"#;
const UNFIT: &str = r#"{"good": "the-secret-draft", "score": 7}"#;

fn agent(model: &ScriptedModel) -> Agent {
    Agent::builder("a").model(model.clone()).build().unwrap()
}

/// The answer is too low.
#[derive(Debug, thiserror::Error)]
#[error("a score of {0} is too low")]
struct TooLow(u8);

#[before_complete]
fn high_enough(response: &mut FinalResponse<'_, Verdict>) -> Result<(), TooLow> {
    let score = response.answer().score;
    if score < 5 { Err(TooLow(score)) } else { Ok(()) }
}

#[before_complete]
fn round_up(response: &mut FinalResponse<'_, Verdict>) {
    response.answer_mut().score = 10;
}

#[before_complete]
fn ask_for_more(response: &mut FinalResponse<'_>) {
    if response.text() != Some("final") {
        response.ask_revision("more detail, please");
    }
}

/// The texts of a request's messages.
fn texts(model: &ScriptedModel, request: usize) -> Vec<String> {
    let requests = model.requests();
    requests[request].messages.iter().map(|message| message.text().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn the_model_is_told_the_schema_and_the_answer_has_the_type() {
    let model = ScriptedModel::new([Reply::text(GOOD)]);
    let verdict: Verdict = agent(&model).invoke_as("judge").await.unwrap();
    assert_eq!(verdict, Verdict { good: true, score: 7 });
    let schema = model.requests()[0].answer_schema.clone().unwrap();
    assert_eq!(schema["properties"]["score"]["type"], "integer");
    assert_eq!(schema["required"], json!(["good", "score"]));
}

#[tokio::test]
async fn json_in_a_fenced_block_is_the_answer_too() {
    for text in [format!("```json\n{GOOD}\n```"), format!("```\n{GOOD}\n```\n"), format!("\n {GOOD}\n")] {
        let model = ScriptedModel::new([Reply::text(text)]);
        let verdict: Verdict = agent(&model).invoke_as("judge").await.unwrap();
        assert_eq!(verdict.score, 7);
    }
}

#[tokio::test]
async fn a_reply_that_does_not_fit_goes_back_with_the_reason() {
    let model = ScriptedModel::new([Reply::text("I think it is good."), Reply::text(UNFIT), Reply::text(GOOD)]);
    let verdict: Verdict = agent(&model).invoke_as("judge").await.unwrap();
    assert_eq!(verdict.score, 7);

    assert_eq!(texts(&model, 0), ["judge"]);
    let second = texts(&model, 1);
    assert_eq!(second[..2], ["judge", "I think it is good."]);
    assert!(second[2].contains("does not fit"), "{second:?}");
    let third = texts(&model, 2);
    assert_eq!(third[3], UNFIT);
    assert!(third[4].contains("expected a boolean"), "the model is told what is wrong: {third:?}");
}

#[tokio::test]
async fn f3_the_conversation_keeps_the_accepted_answer_only() {
    let model = ScriptedModel::new([Reply::text(UNFIT), Reply::text(GOOD), Reply::text("sure")]);
    let typed = Agent::builder("a").model(model.clone()).answer::<Verdict>().build().unwrap();
    let mut conversation = typed.agent().conversation();
    let answer = conversation.invoke("judge").await.unwrap();
    assert_eq!(answer.content(), &json!({ "good": true, "score": 7 }));
    let kept: Vec<_> = conversation.messages().iter().map(|message| message.text().unwrap_or_default()).collect();
    assert_eq!(kept, ["judge", r#"{"good":true,"score":7}"#]);
}

#[tokio::test]
async fn f6_after_the_last_revision_the_answer_is_refused_and_named_nowhere() {
    for (limit, calls) in [(Some(0), 1), (Some(1), 2), (Some(4), 5), (None, 3)] {
        let model = ScriptedModel::from_fn(|_| Reply::text(UNFIT));
        let mut builder = Agent::builder("a").model(model.clone());
        if let Some(limit) = limit {
            builder = builder.max_revisions(limit);
        }
        let error = builder.build().unwrap().invoke_as::<Verdict>("judge").await.unwrap_err();
        assert_eq!(model.request_count(), calls, "{limit:?}");
        let Error::Answer { step, source, .. } = &error else { panic!("{error:?}") };
        assert_eq!(usize::try_from(*step), Ok(calls));
        assert!(matches!(source, ValueError::Deserialize(_)));
        assert!(source.to_string().contains("expected a boolean"), "{source}");
        assert!(!format!("{error} {error:?} {source}").contains("the-secret-draft"), "{error:?}");
    }
}

#[tokio::test]
async fn p2_revisions_are_made_within_the_budget() {
    let model = ScriptedModel::from_fn(|_| Reply::text(UNFIT));
    let agent = Agent::builder("a")
        .model(model.clone())
        .max_revisions(9)
        .budget(Budget::new().max_model_calls(2))
        .build()
        .unwrap();
    let error = agent.invoke_as::<Verdict>("judge").await.unwrap_err();
    assert!(matches!(error, Error::Budget { limit: BudgetLimit::ModelCalls(2), .. }), "{error:?}");
    assert_eq!(model.request_count(), 2);
}

#[tokio::test]
async fn f2_hooks_on_the_type_read_change_and_refuse_the_answer() {
    let typed = |reply: &str| {
        Agent::builder("a")
            .model(ScriptedModel::new([Reply::text(reply)]))
            .answer::<Verdict>()
            .hooks(hooks![high_enough, round_up])
            .build()
            .unwrap()
    };
    assert_eq!(typed(GOOD).invoke("judge").await.unwrap(), Verdict { good: true, score: 10 });

    let error = typed(r#"{"good": false, "score": 2}"#).invoke("judge").await.unwrap_err();
    let Error::Hook { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.downcast_ref::<TooLow>().map(|error| error.0), Some(2));
}

#[tokio::test]
async fn f2_a_hook_cannot_make_something_of_the_answer_that_is_not_its_type() {
    let typed = Agent::builder("a")
        .model(ScriptedModel::new([Reply::text(GOOD)]))
        .answer::<Verdict>()
        .before_complete("spoil", |response: &mut FinalResponse<'_>| response.set_text("the-secret-draft"))
        .build()
        .unwrap();
    let error = typed.invoke("judge").await.unwrap_err();
    assert!(matches!(error, Error::Answer { step: 1, .. }), "{error:?}");
    assert!(!format!("{error:?}").contains("the-secret-draft"), "{error:?}");
}

#[tokio::test]
async fn f8_untyped_hooks_check_an_answer_that_is_asked_for_by_its_type() {
    let checks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&checks);
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::text(UNFIT), Reply::text(GOOD)]))
        .before_complete("count", move |response: &mut FinalResponse<'_>| {
            assert_eq!(response.text(), None, "it is structured");
            assert_eq!(response.content()["score"], 7);
            count.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    agent.invoke_as::<Verdict>("judge").await.unwrap();
    assert_eq!(checks.load(Ordering::SeqCst), 1, "what does not fit is no candidate");
}

#[tokio::test]
async fn a_hook_sends_the_answer_back_with_feedback() {
    let model = ScriptedModel::new([Reply::text("first"), Reply::text("second"), Reply::text("final")]);
    let agent = Agent::builder("a").model(model.clone()).max_revisions(2).hooks(hooks![ask_for_more]).build().unwrap();
    let mut conversation = agent.conversation();
    let answer = conversation.invoke("go").await.unwrap();
    assert_eq!(answer.text(), "final");
    assert_eq!(texts(&model, 1), ["go", "first", "more detail, please"]);
    assert_eq!(texts(&model, 2), ["go", "first", "more detail, please", "second", "more detail, please"]);
    let kept: Vec<_> = conversation.messages().iter().map(|message| message.text().unwrap_or_default()).collect();
    assert_eq!(kept, ["go", "final"], "drafts and feedback stood in the requests only");
}

#[tokio::test]
async fn f8_at_the_bound_there_is_an_error_after_exactly_one_call_more_than_revisions() {
    for limit in [0, 1, 3] {
        let model = ScriptedModel::from_fn(|_| Reply::text("the-secret-draft"));
        let checks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&checks);
        let agent = Agent::builder("a")
            .model(model.clone())
            .max_revisions(limit)
            .before_complete("count", move |_: &mut FinalResponse<'_>| {
                count.fetch_add(1, Ordering::SeqCst);
            })
            .hooks(hooks![ask_for_more])
            .build()
            .unwrap();
        let error = agent.invoke("go").await.unwrap_err();
        assert!(matches!(&error, Error::Revisions { limit: said, .. } if *said == limit), "{error:?}");
        assert!(!format!("{error:?}").contains("the-secret-draft"));
        let calls = usize::try_from(limit).unwrap() + 1;
        assert_eq!(model.request_count(), calls);
        assert_eq!(checks.load(Ordering::SeqCst), calls, "each candidate is checked once");
    }
}

#[tokio::test]
async fn a_revision_that_nobody_allowed_is_a_typed_error() {
    let model = ScriptedModel::from_fn(|_| Reply::text("draft"));
    let agent = Agent::builder("a").model(model.clone()).hooks(hooks![ask_for_more]).build().unwrap();
    let error = agent.invoke("go").await.unwrap_err();
    let Error::RevisionsNotAllowed { hook, step: 1, .. } = &error else { panic!("{error:?}") };
    assert!(hook.ends_with("ask_for_more"), "{hook}");
    assert_eq!(model.request_count(), 1);
}

#[tokio::test]
async fn s2_hooks_after_the_one_that_asks_for_a_revision_do_not_see_that_candidate() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let keep = Arc::clone(&seen);
    let agent = Agent::builder("a")
        .model(ScriptedModel::new([Reply::text("draft"), Reply::text("final")]))
        .max_revisions(1)
        .hooks(hooks![ask_for_more])
        .before_complete("keep", move |response: &mut FinalResponse<'_>| {
            keep.lock().unwrap().push(response.text().map(str::to_owned));
        })
        .build()
        .unwrap();
    agent.invoke("go").await.unwrap();
    assert_eq!(*seen.lock().unwrap(), [Some("final".to_owned())]);
}

#[tokio::test]
async fn m2_hooks_of_the_next_step_may_edit_the_history_beside_a_draft() {
    let model = ScriptedModel::new([Reply::text("draft"), Reply::text("final")]);
    let agent = Agent::builder("a")
        .model(model.clone())
        .max_revisions(1)
        .before_model("note", |request: &mut ModelRequest<'_>| {
            let step = request.step();
            request.history().push(Message::user(format!("note {step}")));
        })
        .hooks(hooks![ask_for_more])
        .build()
        .unwrap();
    let mut conversation = agent.conversation();
    conversation.invoke("go").await.unwrap();
    assert_eq!(texts(&model, 0), ["go", "note 1"]);
    assert_eq!(texts(&model, 1), ["go", "note 1", "draft", "more detail, please", "note 2"]);
    let kept: Vec<_> = conversation.messages().iter().map(|message| message.text().unwrap_or_default()).collect();
    assert_eq!(kept, ["go", "note 1", "note 2", "final"]);
}

#[tokio::test]
async fn t7_an_answer_too_deep_to_keep_goes_back() {
    #[derive(Debug, Serialize, Deserialize, JsonSchema)]
    struct Any {
        value: serde_json::Value,
    }
    let deep = format!("{{\"value\": {}{}}}", "[".repeat(110), "]".repeat(110));
    let model = ScriptedModel::new([Reply::text(deep), Reply::text(r#"{"value": 1}"#)]);
    let any: Any = agent(&model).invoke_as("go").await.unwrap();
    assert_eq!(any.value, 1);
    assert_eq!(model.request_count(), 2);
}
