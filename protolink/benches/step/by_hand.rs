//! The baseline: the same steps over the same messages, in a loop that is written by hand. It has no drafts, policy,
//! budget, receipts or events.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;

use protolink::{Exchange, Message, ToolCall, ToolOutcome, Turn};
use serde::Deserialize;
use serde_json::Value;

use crate::clock;
use crate::subject::{CallsAndAnswers, look};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Asks the model, as any trait object with an async method is asked.
fn ask<'a>(model: &'a CallsAndAnswers, messages: &'a [Arc<Message>]) -> Boxed<'a, Vec<ToolCall>> {
    Box::pin(async move {
        black_box(messages);
        model.next()
    })
}

/// Calls the tool: arguments and result are JSON.
fn call(arguments: Value) -> Boxed<'static, Value> {
    #[derive(Deserialize)]
    struct Arguments {
        at: String,
    }
    Box::pin(async move {
        let arguments: Arguments = serde_json::from_value(arguments).unwrap();
        serde_json::to_value(look(arguments.at)).unwrap()
    })
}

/// Runs until the model calls nothing any more. What is measured ends with the step `measured`.
pub(crate) async fn run(model: &CallsAndAnswers, history: &mut Vec<Arc<Message>>, measured: u32) {
    history.push(Arc::new(Message::user("Which lamps do we have?")));
    for step in 1.. {
        if step == 1 {
            clock::begin();
        } else if step == measured + 1 {
            clock::end();
        }
        black_box(step);
        black_box(history.len());
        let calls = ask(model, history).await;
        if calls.is_empty() {
            history.push(Arc::new(Message::assistant("done")));
            return;
        }
        let mut exchanges = Vec::with_capacity(calls.len());
        for made in calls {
            let result = call(made.arguments.clone()).await;
            black_box(&result);
            exchanges.push(Exchange { call: made, outcome: ToolOutcome::Observed(result.into()) });
        }
        history.push(Arc::new(Message::Assistant(Turn::new(None, exchanges))));
    }
}
