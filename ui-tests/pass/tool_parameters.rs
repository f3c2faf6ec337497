#![deny(warnings)]
//! What a tool may take.
use std::collections::BTreeMap;

use protolink::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Ascending,
    Descending,
}

#[derive(Deserialize, JsonSchema)]
struct Filter {
    color: Option<String>,
}

const LIMIT: u32 = 10;

/// Search.
#[tool]
#[allow(clippy::too_many_arguments, reason = "it shows them all")]
async fn search(
    /// What for.
    query: String,
    filter: Filter,
    tags: Vec<String>,
    weights: BTreeMap<String, f64>,
    maybe: Option<u32>,
    #[default(LIMIT)] limit: u32,
    #[default(Order::Ascending)] order: Order,
    #[default(vec![1, 2])] list: Vec<u8>,
    pair: (u8, String),
    anything: serde_json::Value,
    State(state): State<u32>,
    context: ToolContext,
) -> String {
    let order = matches!(order, Order::Descending);
    let _ = (filter.color, tags, weights, maybe, limit, list, pair, anything, state, context.step());
    format!("{query}{order}")
}

#[tool]
fn patterns(State(_a): State<u32>, _: ToolContext, State(_): State<u32>) {}

pub(crate) fn main() {
    let _ = Agent::builder("a").state(1_u32).tools(tools![search, patterns]);
}
