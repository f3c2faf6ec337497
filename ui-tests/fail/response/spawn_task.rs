use protolink::prelude::*;

#[before_complete]
async fn hook(response: &mut FinalResponse<'_>) {
    tokio::spawn(async move { response.set_text("late") });
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
