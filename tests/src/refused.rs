//! What the types refuse, clause by clause; `ui-tests` shows what the compiler says to each.
//!
//! Each block that must not compile stands beside one that does and differs in the mistake only.
//!
//! # S1: a hook of one stage does not fit into another
//! ```
//! use protolink::prelude::*;
//! let _ = Agent::builder("a").before_model("hook", |_: &mut ModelRequest<'_>| ());
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! let _ = Agent::builder("a").before_model("hook", |_: &mut FinalResponse<'_>| ());
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! let _ = Agent::builder("a").after_tool("hook", |_: &mut ModelRequest<'_>| ());
//! ```
//!
//! # S4, R23: a hook returns `()` or a `Result`, and no future of its own
//! ```
//! use protolink::prelude::*;
//! #[before_model]
//! fn hook(_: &mut ModelRequest<'_>) -> Result<(), String> { Ok(()) }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! #[before_model]
//! fn hook(_: &mut ModelRequest<'_>) -> bool { true }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! #[before_model]
//! fn hook(_: &mut ModelRequest<'_>) -> impl Future<Output = ()> { async {} }
//! ```
//!
//! # M3, R52: the history is neither replaced nor kept
//! ```
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) { request.history().push(Message::user("more")); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) { *request.history() = Vec::new(); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) { std::mem::take(&mut request.history()); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn swap(one: &mut ModelRequest<'_>, other: &mut ModelRequest<'_>) { std::mem::swap(one, other); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn keep(request: &mut ModelRequest<'_>) -> protolink::HistoryMut<'static> { request.history() }
//! ```
//!
//! # M4, R53: what a hook sees of a tool is read-only, and a tool that is not there is not removed
//! ```
//! use protolink::prelude::*;
//! /// Search.
//! #[tool]
//! fn search(query: String) -> String { query }
//! fn hook(request: &mut ModelRequest<'_>) { request.tools().remove::<search>(); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! /// Search.
//! #[tool]
//! fn search(query: String) -> String { query }
//! fn hook(request: &mut ModelRequest<'_>) { request.tools().remove::<serach>(); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) {
//!     request.tools().retain(|tool: &mut protolink::ToolSpec| true);
//! }
//! ```
//!
//! # M5, R54: a tool is neither added nor brought back
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>, spec: protolink::ToolSpec) { request.tools().insert(spec); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn keep(request: &mut ModelRequest<'_>) -> protolink::ToolsMut<'static> { request.tools() }
//! ```
//!
//! # M11, R55: the context is lent for reading
//! ```
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) { request.context().clone().metadata.clear(); }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(request: &mut ModelRequest<'_>) { request.context().metadata.clear(); }
//! ```
//!
//! # F7: so are the receipts
//! ```
//! use protolink::prelude::*;
//! fn hook(response: &mut FinalResponse<'_>) -> usize { response.receipts().len() }
//! ```
//! ```compile_fail
//! use protolink::prelude::*;
//! fn hook(response: &mut FinalResponse<'_>) { response.receipts()[0].tool.clear(); }
//! ```
//!
//! # S11, R60: a conversation runs once at a time
//! ```compile_fail
//! use protolink::prelude::*;
//! async fn twice(agent: Agent) {
//!     let mut conversation = agent.conversation();
//!     let outer = conversation.run("one");
//!     let inner = conversation.run("two");
//!     let _ = (outer.await, inner.await);
//! }
//! ```
