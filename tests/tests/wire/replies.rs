//! A scripted reply means the same over HTTP as it does in process, in each of the three formats.

use std::time::Duration;

use protolink::model::{GenaiModel, Model, ModelError};
use protolink::prelude::*;
use protolink::testing::server::{ModelServer, ServerReply};
use protolink::testing::{Reply, ScriptedModel, retry_at_once};
use protolink::{Attachment, Content, RunEvent};
use serde_json::json;

type Tested = Result<(), Box<dyn std::error::Error>>;

/// A model of each format, at this server.
fn models(server: &ModelServer) -> [GenaiModel; 3] {
    let patient = Duration::from_millis(200);
    [
        GenaiModel::new("any").base_url(server.base_url()).timeout(patient),
        GenaiModel::new("claude-any").provider("anthropic").base_url(server.base_url()).api_key("k").timeout(patient),
        GenaiModel::new("any").provider("ollama").base_url(server.url()).timeout(patient),
    ]
}

/// What of a run does not depend on how the model is reached.
async fn told(model: impl Model, streamed: bool) -> Result<String, Box<dyn std::error::Error>> {
    let agent = Agent::builder("a").model(model).retry(retry_at_once()).build()?;
    let (mut shown, mut retries, mut ended) = (String::new(), 0, String::new());
    let mut events = if streamed { Some(agent.run("go").stream()) } else { None };
    if let Some(stream) = &mut events {
        while let Some(event) = stream.next().await {
            match event {
                Ok(RunEvent::TextDelta { text, .. }) => shown.push_str(&text),
                Ok(RunEvent::ModelRetried { .. }) => retries += 1,
                Ok(RunEvent::Completed(answer)) => ended = answer.to_string(),
                Ok(_) => {}
                Err(error) => ended = kind(&error),
            }
        }
    } else {
        ended = match agent.invoke("go").await {
            Ok(answer) => answer.text().to_owned(),
            Err(error) => kind(&error),
        };
    }
    Ok(format!("{shown}|{retries}|{ended}"))
}

fn kind(error: &Error) -> String {
    match error {
        Error::Model { source: ModelError::Transient { .. }, attempts, .. } => format!("transient after {attempts}"),
        Error::Model { source: ModelError::Permanent { .. }, attempts, .. } => format!("permanent after {attempts}"),
        other => other.kind().to_owned(),
    }
}

#[tokio::test]
async fn a_scripted_reply_means_the_same_in_process_and_in_every_format() -> Tested {
    let scripts = [
        vec![Reply::text("done")],
        vec![Reply::chunks(["do", "ne"])],
        vec![Reply::text("done").after(Duration::from_millis(20))],
        vec![Reply::chunks(["ha", "l"]).then(Reply::truncated())],
        vec![Reply::permanent("no such model"), Reply::text("never asked")],
        vec![Reply::transient("busy"), Reply::text("done")],
        vec![Reply::transient("busy").retry_after(Duration::ZERO), Reply::text("done")],
        vec![Reply::chunks(["do"]).then(Reply::transient("gone")), Reply::text("never asked")],
    ];
    for script in scripts {
        for streamed in [false, true] {
            let in_process = told(ScriptedModel::new(script.clone()), streamed).await?;
            for format in 0..3 {
                let server = ModelServer::start(script.clone()).await?;
                let model = models(&server)[format].clone();
                assert_eq!(told(model, streamed).await?, in_process, "format {format}, {script:?}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn f5_a_reply_that_was_cut_off_is_no_answer_in_any_format() -> Tested {
    for reply in [Reply::truncated(), Reply::truncated().saying("half of it")] {
        assert!(told(ScriptedModel::new([reply.clone()]), false).await?.ends_with("|0|truncated"));
        for (format, streamed) in (0..3).flat_map(|format| [(format, false), (format, true)]) {
            let server = ModelServer::start([reply.clone(), Reply::text("never asked")]).await?;
            let model = models(&server)[format].clone();
            let told = told(model, streamed).await?;
            assert!(told.ends_with("|0|truncated"), "format {format}, streamed {streamed}: {told}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_reply_that_never_comes_is_given_up_in_every_format() -> Tested {
    for reply in [Reply::hang(), Reply::panic("nobody there")] {
        for format in 0..3 {
            let server = ModelServer::start([reply.clone(), Reply::text("done")]).await?;
            let model = models(&server)[format].clone();
            assert_eq!(told(model, false).await?, "|0|done", "format {format}");
            assert_eq!(server.requests().len(), 2);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_server_may_make_its_reply_of_the_request() -> Tested {
    let server = ModelServer::from_fn(|request| {
        let asked = request.json()["messages"].as_array().map_or(0, Vec::len);
        if asked > 1 { ServerReply::status(500) } else { Reply::text("the first").into() }
    })
    .await?;
    let agent = Agent::builder("a").model(models(&server)[0].clone()).retry(retry_at_once()).build()?;
    let mut conversation = agent.conversation();
    assert_eq!(conversation.invoke("go").await?.text(), "the first");
    let error = conversation.invoke("go on").await.expect_err("the server fails on a second message");
    assert_eq!(kind(&error), "transient after 4");
    assert!(format!("{server:?}").contains("127.0.0.1"), "{server:?}");
    Ok(())
}

#[tokio::test]
async fn a_stop_word_an_effort_and_an_odd_value_reach_the_server() -> Tested {
    let server = ModelServer::start([Reply::text("done")]).await?;
    let model = models(&server)[0].clone().connect_timeout(Duration::from_secs(5));
    let model = model.option("stop", "END").option("reasoning_effort", "low").option("temperature", "warm");
    Agent::builder("a").model(model).build()?.invoke("go").await?;
    let body = server.requests()[0].json();
    assert_eq!(body["stop"], json!(["END"]));
    assert_eq!(body["reasoning_effort"], "low");
    assert_eq!(body["temperature"], "warm", "what is no number is for the server to judge");
    Ok(())
}

#[tokio::test]
async fn an_attachment_is_sent_or_refused_as_the_provider_takes_it() -> Tested {
    let picture = || Attachment::base64("image/png", "aGk=");
    let linked = || Attachment::url("image/png", "http://127.0.0.1/a.png");
    let document = || Attachment::base64("application/pdf", "aGk=");
    // By format: whether the server is asked.
    for (attachment, sent) in
        [(picture(), [true, true, true]), (linked(), [true, false, false]), (document(), [true, true, false])]
    {
        for (format, sent) in sent.into_iter().enumerate() {
            let server = ModelServer::start([Reply::text("done")]).await?;
            let agent = Agent::builder("a").model(models(&server)[format].clone()).build()?;
            let answer = agent.invoke(Content::text("look").with_attachment(attachment.clone())).await;
            assert_eq!(answer.is_ok(), sent, "format {format}: {attachment:?}");
            assert_eq!(server.requests().len(), usize::from(sent));
            if let Err(error) = answer {
                assert_eq!(kind(&error), "permanent after 1");
            }
        }
    }
    Ok(())
}
