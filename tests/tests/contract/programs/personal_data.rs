//! Personal data does not leave in an answer, however the answer is taken.

use protolink::prelude::*;
use protolink::testing::{Reply, ScriptedModel};

#[before_complete]
fn mask_mail(response: &mut FinalResponse<'_>) {
    let masked = response.text().map(|text| {
        let words = text.split(' ').map(|word| if word.contains('@') { "[mail]" } else { word });
        words.collect::<Vec<_>>().join(" ")
    });
    if let Some(masked) = masked {
        response.set_text(masked);
    }
}

#[tokio::test]
async fn f3_what_is_masked_is_what_everyone_gets() {
    let model = ScriptedModel::from_fn(|_| Reply::text("Write to ada@example.com today"));
    let agent = Agent::builder("desk").model(model).hooks(hooks![mask_mail]).build().unwrap();

    let mut conversation = agent.conversation();
    let answer = conversation.invoke("Whom?").await.unwrap();
    assert_eq!(answer.text(), "Write to [mail] today");
    assert_eq!(conversation.messages()[1].text(), Some("Write to [mail] today"));

    let mut shown = Vec::new();
    let mut stream = agent.run("Whom?").hold_output(true).stream();
    while let Some(event) = stream.next().await {
        shown.push(format!("{:?}", event.unwrap()));
    }
    assert!(shown.iter().all(|event| !event.contains("ada@")), "{shown:?}");
    assert!(shown.last().unwrap().contains("[mail]"));
}
