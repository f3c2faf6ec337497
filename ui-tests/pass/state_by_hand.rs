#![deny(warnings)]
//! `FromRef` written by hand.
use protolink::prelude::*;

struct App {
    names: Vec<String>,
}

struct Count(usize);

impl FromRef<App> for Count {
    fn from_ref(app: &App) -> Self {
        Self(app.names.len())
    }
}

#[tool]
fn count(State(Count(count)): State<Count>) -> u64 {
    count as u64
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(App { names: Vec::new() }).tools(tools![count]);
}
