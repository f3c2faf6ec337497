//! What a test lends to a hook is what a run would lend to it, and what the hook does is there to be read.

use std::panic::{AssertUnwindSafe, catch_unwind};

use protolink::prelude::*;
use protolink::testing::{ObservationFixture, RequestFixture, ResponseFixture};
use protolink::{RunId, ValueError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Says all that a hook learns of where it runs.
fn place(step: u32, context: &protolink::RunContext) -> String {
    let session = context.session().unwrap_or("no session");
    let user = context.get("user").cloned().unwrap_or_default();
    format!("{step} {} {} {session} {user}", context.run_id(), context.agent())
}

fn of_ada(context: &mut protolink::RunContext) {
    context.run_id = RunId::from("r-7");
    context.agent = String::from("clerk");
    context.session = Some("desk-4".to_owned());
    context.metadata.insert("user".to_owned(), json!("ada"));
}

#[test]
fn a_request_has_the_messages_the_step_and_the_context_that_the_test_gave_it() {
    let mut fixture =
        RequestFixture::default().system("Be brief.").user("Hello?").assistant("Hello.").step(3).context(of_ada);
    let told = fixture.with(|request| {
        let said: Vec<_> =
            request.history().iter().map(|message| message.text().unwrap_or_default().to_owned()).collect();
        format!("{} {said:?}", place(request.step(), request.context()))
    });
    assert_eq!(told, r#"3 r-7 clerk desk-4 "ada" ["Hello?", "Hello."]"#);
    assert_eq!(fixture.system_text(), "Be brief.");
    assert!(fixture.changes().is_empty(), "reading changes nothing");
}

#[test]
fn an_observation_has_the_call_the_step_and_the_context_that_the_test_gave_it() {
    let mut fixture = ObservationFixture::json("search", json!([1])).call_id("c-9").step(4).context(of_ada);
    let told = fixture.with(|observation| {
        let place = place(observation.step(), observation.context());
        format!("{place} {} {}", observation.tool(), observation.call_id())
    });
    assert_eq!(told, r#"4 r-7 clerk desk-4 "ada" search c-9"#);
    assert_eq!((fixture.result(), fixture.original()), (&json!([1]), &json!([1])));
}

#[test]
fn a_response_has_the_receipts_the_step_and_the_context_that_the_test_gave_it() {
    let mut fixture = ResponseFixture::text("42").receipt("measure", json!(42)).step(5).context(of_ada);
    let told = fixture.with(|response| {
        let place = place(response.step(), response.context());
        let found: Vec<_> = response.receipts().iter().filter_map(|receipt| receipt.result().cloned()).collect();
        format!("{place} {found:?}")
    });
    assert_eq!(told, r#"5 r-7 clerk desk-4 "ada" [Number(42)]"#);
}

#[tokio::test]
async fn f2_an_answer_shows_what_a_hook_left_of_it_and_what_it_asked_for() {
    let mut fixture = ResponseFixture::text("secret");
    fixture.with_async(async |response| response.set_text("redacted")).await;
    assert_eq!((fixture.answer(), fixture.revision(), fixture.changes().len()), (&json!("redacted"), None, 1));
    fixture.with(|response| response.ask_revision("name your source"));
    assert_eq!(fixture.revision(), Some("name your source"));
    fixture.with(|_| ());
    assert_eq!(fixture.revision(), Some("name your source"), "a later hook takes no request back");
}

#[test]
fn t7_a_structured_answer_that_json_cannot_hold_is_no_answer() {
    assert_eq!(ResponseFixture::content(json!({ "ok": true })).expect("it is JSON").answer(), &json!({ "ok": true }));
    let refused = ResponseFixture::content(f64::NAN).map(|fixture| fixture.answer().clone());
    assert_eq!(refused, Err(ValueError::NotFinite));
}

/// A measure.
#[tool]
fn measure() -> f64 {
    1.0
}

/// Reads back as another value than it was written from.
#[derive(Debug, Serialize)]
struct Words(String);

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(serde::de::Error::custom("nobody reads this back"))
    }
}

/// Words.
#[tool]
fn speak() -> Words {
    Words(String::new())
}

fn panics(act: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn t7_a_fixture_of_what_no_tool_could_give_back_says_so() {
    let text = panics(|| drop(ObservationFixture::of::<measure>(f64::NAN)));
    assert!(text.starts_with("the result of `measure` cannot be written as JSON"), "{text}");

    let text = panics(|| ObservationFixture::of::<speak>(Words("x".to_owned())).with(|_| ()));
    assert_eq!(text, "the result of `speak` is not of the type that it was made of");

    let mut fixture = ObservationFixture::of::<measure>(1.5);
    let text = panics(|| fixture.with(|observation| *observation.result_mut() = f64::INFINITY));
    assert!(text.starts_with("what the hook left of the result cannot be kept"), "{text}");
    assert_eq!(fixture.result(), &json!(1.5));
}

#[tokio::test]
async fn t4_a_typed_result_can_be_lent_to_an_async_hook() {
    let mut fixture = ObservationFixture::of::<measure>(1.5);
    fixture.with_async(async |observation| *observation.result_mut() *= 2.0).await;
    assert_eq!((fixture.result(), fixture.original()), (&json!(3.0), &json!(1.5)));
    assert_eq!(fixture.changes().len(), 1);
    fixture.with_async(async |observation| *observation.result_mut() *= 1.0).await;
    assert_eq!(fixture.changes().len(), 1, "the same value is no change");
}

/// Anything at all.
#[tool]
fn look() -> Value {
    Value::Null
}

#[test]
fn t4_a_tool_whose_output_is_json_can_have_its_result_replaced_by_any_value() {
    let mut fixture = ObservationFixture::of::<look>(json!({ "hits": 3 }));
    fixture.with(|observation| {
        assert_eq!(observation.set_result(f64::NAN), Err(ValueError::NotFinite));
        assert_eq!(observation.result(), &json!({ "hits": 3 }), "what was refused left it as it was");
        observation.set_result(("three", 3)).expect("it is JSON");
        assert_eq!(observation.result(), &json!(["three", 3]));
    });
    assert_eq!((fixture.result(), fixture.original()), (&json!(["three", 3]), &json!({ "hits": 3 })));
}

#[test]
fn t3_what_a_hook_prints_of_what_it_is_given_shows_no_content() {
    let (mut request, mut message) = (RequestFixture::new().user("s3cret").tool::<look>(), String::new());
    let request = request.with(|request| {
        request.history().edit(0, |edited| {
            edited.set_text("s3cret too");
            message = format!("{edited:?}");
        });
        request.history().append_system("s3cret");
        (format!("{request:?}"), format!("{:?}", request.history()), format!("{:?}", request.this_step()))
    });
    let observation = ObservationFixture::json("look", json!("s3cret")).with(|observation| format!("{observation:?}"));
    let response = ResponseFixture::text("s3cret").with(|response| format!("{response:?}"));
    for (text, told) in [
        (request.0, "step: 1, messages: 1, tools: 1"),
        (request.1, "scope: History, messages: 1"),
        (request.2, "scope: ThisStep, messages: 1"),
        (message, "edits: 1"),
        (observation, r#"tool: "look""#),
        (response, "step: 1"),
    ] {
        assert!(text.contains(told) && !text.contains("s3cret"), "{text}");
    }
}
