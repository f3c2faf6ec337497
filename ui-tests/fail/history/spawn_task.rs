use protolink::prelude::*;

#[before_model]
async fn hook(request: &mut ModelRequest<'_>) {
    tokio::spawn(async move { request.history().push(Message::user("late")) });
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
