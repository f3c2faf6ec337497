use protolink::prelude::*;

#[tool]
fn search(query: String) -> String {
    query
}

#[before_model(timeout("2s"))] // wrong
async fn in_parentheses(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout: "2s")] // wrong
async fn colon(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = 2s)] // wrong
async fn without_quotes(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "0s")] // wrong
async fn nothing(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "2s" "3s")] // wrong
async fn two_values(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "2s",,)] // wrong
async fn two_commas(_request: &mut ModelRequest<'_>) {}

#[before_complete(TIMEOUT = "2s")] // wrong
async fn capitals(_response: &mut FinalResponse<'_>) {}

#[after_tool(search)] // wrong
fn without_key(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool = search())] // wrong
fn call(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool = search {})] // wrong
fn braces(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool = [search])] // wrong
fn list(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool == search)] // wrong
fn compared(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool = search; timeout = "2s")] // wrong
async fn semicolon(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(tool = match)] // wrong
fn keyword(_observation: &mut ToolObservation<'_, String>) {}

#[after_tool(crate = "protolink")] // wrong
fn quoted_crate(_observation: &mut ToolObservation<'_>) {}

#[before_complete(name = "first")] // wrong
fn with_a_name(_response: &mut FinalResponse<'_>) {}

#[tool(search)] // wrong
fn only_a_name(query: String) -> String {
    query
}

#[tool(timeout = "2s")] // wrong
async fn with_timeout(query: String) -> String {
    query
}

#[tool(capability = ["a", "b"])] // wrong
fn capabilities(query: String) -> String {
    query
}

#[tool(type = "Search")] // wrong
fn quoted_type(query: String) -> String {
    query
}

fn main() {
    let _ = Agent::builder("a")
        .tools(tools![search, only_a_name, with_timeout, capabilities])
        .hooks(hooks![in_parentheses, colon, without_quotes, nothing, two_values, two_commas, capitals, without_key])
        .hooks(hooks![call, braces, list, compared, semicolon, keyword, quoted_crate, with_a_name]);
}
