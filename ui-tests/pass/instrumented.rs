#![deny(warnings)]
//! Attribute macros stack.
use protolink::prelude::*;

macro_rules! unchanged {
    ($($tokens:tt)*) => { $($tokens)* };
}

unchanged! {
    #[before_model]
    #[tracing::instrument(skip_all)]
    fn below(request: &mut ModelRequest<'_>) {
        request.history().set_system("x");
    }
}

#[tracing::instrument(skip_all, err)]
#[before_model]
async fn above(request: &mut ModelRequest<'_>) -> Result<(), String> {
    request.history().set_system("x");
    Ok(())
}

#[before_complete]
#[tracing::instrument(skip_all, err)]
async fn below_async(response: &mut FinalResponse<'_>, State(n): State<u32>) -> Result<(), String> {
    response.set_text(n.to_string());
    Ok(())
}

#[tool]
#[tracing::instrument]
async fn search(
    /// What for.
    query: String,
) -> String {
    query
}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(1_u32).tools(tools![search]).hooks(hooks![below, above, below_async]);
}
