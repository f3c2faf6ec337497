#![deny(warnings)]
//! A raw identifier is a name like any other, without its `r#`.
use protolink::prelude::*;
use protolink::{Hook, Tool};

#[derive(Clone)]
#[allow(non_camel_case_types, reason = "the name is the point")]
struct r#type;

#[before_model]
fn r#match(r#in: &mut ModelRequest<'_>, State(r#fn): State<r#type>) {
    r#in.history().push(Message::user("x"));
    drop(r#fn);
}

#[before_model]
async fn r#async(r#in: &mut ModelRequest<'_>) {
    r#in.history().push(Message::user("x"));
}

#[tool]
async fn r#move(r#loop: String, #[default(1)] r#for: u32) -> String {
    format!("{}{}", r#loop, r#for)
}

#[after_tool(tool = r#move)]
fn r#yield(_observation: &mut ToolObservation<'_, String>) {}

pub(crate) fn main() {
    assert_eq!(<r#match as Hook>::META.name, "match");
    assert_eq!(<r#move as Tool>::NAME, "move");
    let _ = Agent::builder("a").state(r#type).tools(tools![r#move]).hooks(hooks![r#match, self::r#async, r#yield]);
}
