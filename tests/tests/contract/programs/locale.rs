//! One agent, many languages: the locale comes with the run.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};

#[before_model]
fn speak(request: &mut ModelRequest<'_>) {
    let locale = request.context().get("locale").and_then(|locale| locale.as_str()).unwrap_or("en");
    request.history().append_system(format!("Answer in the language of the locale {locale}."));
}

#[before_complete]
fn decimal_comma(response: &mut FinalResponse<'_>) {
    let german = response.context().get("locale").is_some_and(|locale| locale == "de");
    let rewritten = response.text().filter(|_| german).map(|text| text.replace('.', ","));
    if let Some(rewritten) = rewritten {
        response.set_text(rewritten);
    }
}

#[tokio::test]
async fn m1_the_context_of_a_run_reaches_its_hooks() {
    let model = ScriptedModel::from_fn(|_| Reply::text("3.5"));
    let agent = Agent::builder("sums").model(model.clone()).hooks(hooks![speak, decimal_comma]).build().unwrap();
    for (locale, answer) in [("de", "3,5"), ("en", "3.5")] {
        let outcome = agent.run("7 / 2?").context("locale", locale).await.unwrap();
        assert_eq!(outcome.answer().unwrap().text(), answer);
    }
    assert!(model.requests()[0].system.ends_with("locale de."));
}
