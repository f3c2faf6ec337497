use protolink::prelude::*;
use protolink::rules::{Decision, Policy, PolicyRequest};

struct AskTheServer;

impl Policy for AskTheServer {
    async fn decide(&self, _request: &PolicyRequest<'_>) -> Decision {
        Decision::Allow
    }
}

fn main() {
    let _ = Agent::builder("a").policy(AskTheServer);
}
