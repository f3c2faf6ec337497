//! The agent's tool, and its hooks.

use protolink::prelude::*;

/// Search for something.
#[tool]
pub(crate) async fn search(
    /// What to look for.
    query: String,
) -> Vec<String> {
    (1..=5).map(|number| format!("{query} {number}")).collect()
}

/// Prepares what the model sees.
#[before_model]
pub(crate) fn be_brief(request: &mut ModelRequest<'_>) {
    request.history().append_system("Answer in one sentence.");
}

/// Shapes what the model learns from the search.
#[after_tool(tool = search)]
pub(crate) fn keep_three(observation: &mut ToolObservation<'_, Vec<String>>) {
    observation.result_mut().truncate(3);
}

/// Checks what leaves.
#[before_complete]
pub(crate) fn check_answer(response: &mut FinalResponse<'_>) -> Result<(), String> {
    match response.text() {
        Some(text) if text.trim().is_empty() => Err("the answer is empty".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protolink::testing::ResponseFixture;

    #[test]
    fn an_empty_answer_does_not_leave() {
        assert!(ResponseFixture::text(" ").with(check_answer).is_err());
        assert!(ResponseFixture::text("Yes.").with(check_answer).is_ok());
    }
}
