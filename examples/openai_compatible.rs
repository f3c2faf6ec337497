//! The quickstart against a real model: `cargo run -p protolink-examples --features genai --example openai_compatible`.
//!
//! It asks whatever speaks OpenAI's chat format, Ollama, vLLM and llama.cpp among them:
//!
//! ```sh
//! export OPENAI_BASE_URL=http://127.0.0.1:11434/v1
//! export PROTOLINK_MODEL=qwen3
//! export OPENAI_API_KEY=...  # where the server wants one
//! ```

use std::env;
use std::process::ExitCode;

use protolink::model::GenaiModel;
use protolink::prelude::*;
use protolink_examples::assistant::{App, check_citation, delete_document, keep_hits, search, select_context};
use protolink_examples::narrator::narrate;

/// The model that the environment names, or what is missing there.
fn model() -> Result<GenaiModel, String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let (base_url, name) = (set("OPENAI_BASE_URL"), set("PROTOLINK_MODEL"));
    let (Some(base_url), Some(name)) = (&base_url, &name) else {
        let missing = [
            ("OPENAI_BASE_URL", base_url.is_none(), "where the server is, http://127.0.0.1:11434/v1 for example"),
            ("PROTOLINK_MODEL", name.is_none(), "the model's name there, qwen3 for example"),
            ("OPENAI_API_KEY", set("OPENAI_API_KEY").is_none(), "the key; only a server that asks for one needs it"),
        ];
        let lines = missing.iter().filter(|(_, is_missing, _)| *is_missing);
        let lines: Vec<String> = lines.map(|(name, _, meaning)| format!("  {name}: {meaning}")).collect();
        return Err(format!("Not set:\n{}", lines.join("\n")));
    };
    let model = GenaiModel::new(name).base_url(base_url);
    Ok(match set("OPENAI_API_KEY") {
        Some(key) => model.api_key(key),
        None => model,
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let model = match model() {
        Ok(model) => model,
        Err(missing) => {
            eprintln!("This example asks a real model, and was not told of one.\n{missing}");
            return ExitCode::FAILURE;
        }
    };
    match ask(model).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            let mut cause = error.source();
            while let Some(inner) = cause {
                eprintln!("  because {inner}");
                cause = inner.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn ask(model: GenaiModel) -> Result<(), Box<dyn std::error::Error>> {
    let agent = Agent::builder("librarian")
        .instructions("Answer questions about this project from its documents. Search them first, one word at a time.")
        .model(model)
        .state(App::of_this_repository())
        .tools(tools![search, delete_document])
        .hooks(hooks![select_context, keep_hits, check_citation])
        .capture_content(true)
        .observer(narrate)
        .build()?;

    println!("question\n  What is a receipt?");
    agent.invoke("What is a receipt?").await?;
    Ok(())
}
