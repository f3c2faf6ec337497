//! What tests of agents, hooks and stores are written with: no network, no model, no waiting.
//!
//! A hook is a function. A fixture lends it what the loop would, and tells what it did:
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::RequestFixture;
//!
//! #[before_model]
//! fn last_two(request: &mut ModelRequest<'_>) {
//!     while request.history().len() > 2 {
//!         request.history().remove(0);
//!     }
//! }
//!
//! let mut fixture = RequestFixture::new().user("one").user("two").user("three");
//! fixture.with(|request| last_two(request));
//! assert_eq!(fixture.messages().len(), 2);
//! ```
//!
//! An agent is tested with a model that follows a script, and keeps what it was sent:
//!
//! ```
//! use protolink::prelude::*;
//! use protolink::testing::{Reply, ScriptedModel};
//!
//! /// Search the catalogue.
//! #[tool]
//! fn search(query: String) -> Vec<String> {
//!     vec![format!("a lamp for {query}")]
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = ScriptedModel::new([
//!     Reply::call("search", serde_json::json!({ "query": "desks" })),
//!     Reply::text("There is a lamp for desks."),
//! ]);
//! let agent = Agent::builder("helper").model(model.clone()).tools(tools![search]).build()?;
//! assert_eq!(agent.invoke("Which lamps?").await?.text(), "There is a lamp for desks.");
//! let told = model.requests()[1].messages[1].calls()[0].outcome.to_model_text();
//! assert_eq!(told, r#"["a lamp for desks"]"#);
//! # Ok(())
//! # }
//! ```
//!
//! | to test | there is |
//! | --- | --- |
//! | a hook | [`RequestFixture`], [`ObservationFixture`], [`ResponseFixture`] |
//! | whether a hook does the same twice | [`assert_repeatable`], [`assert_repeatable_async`] |
//! | an agent | [`ScriptedModel`] and its [`Reply`] |
//! | an agent in every way in which a run can go | [`matrix`] |
//! | a store of your own | [`store_suite`], on a [`ManualClock`] |
//! | an agent over HTTP | `server`, with the feature `testing-server` |

mod clock;
mod fixtures;
pub mod matrix;
mod model;
mod repeatable;
mod reply;
#[cfg(feature = "testing-server")]
pub mod server;
pub mod store_suite;

pub use clock::ManualClock;
pub use fixtures::{ObservationFixture, RequestFixture, ResponseFixture};
pub use model::{RecordedRequest, ScriptedModel, retry_at_once};
pub use repeatable::{Fixture, assert_repeatable, assert_repeatable_async};
pub use reply::Reply;
