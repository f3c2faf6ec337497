#![deny(warnings)]
//! What a `before_model` hook may do.
use protolink::prelude::*;
use protolink::testing::RequestFixture;

#[tool]
fn delete_document(id: String) -> String {
    id
}

#[before_model]
fn edit(request: &mut ModelRequest<'_>) {
    request.history().set_system("Be brief.");
    request.history().push(Message::user("x"));
    request.history().retain(|message| message.is_user());
    request.history().remove(0);
    request.this_step().append_system("Now.");
    request.tools().remove::<delete_document>();
    request.tools().remove_named("other");
    request.tools().retain(|spec| spec.name() != "another");
    let (mut history, tools) = request.parts();
    if !tools.contains::<delete_document>() {
        history.push(Message::user("there is no way to delete"));
    }
}

pub(crate) fn main() {
    let mut fixture = RequestFixture::new().user("hello").tool::<delete_document>();
    fixture.with(|request| edit(request));
    assert!(fixture.tool_names().is_empty());
    let _ = Agent::builder("a").tools(tools![delete_document]).hooks(hooks![edit]);
}
