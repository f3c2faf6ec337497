#![deny(warnings)]
//! The library renamed, re-exported, under every lint, and used from older editions.
use protolink::prelude::*;

pub(crate) fn main() {
    let _ = Agent::builder("a").tools(tools![edition_2015::search]).hooks(edition_2015::hooks);
    let _ = Agent::builder("a").state(1_u32).tools(edition_2018::tools).hooks(edition_2018::hooks);
    let _ = Agent::builder("a").state(1_u32).tools(edition_2021::tools).hooks(edition_2021::hooks);
    let _ = lints::build();
    let _ = Agent::builder("a").tools(renamed::tools).hooks(renamed::hooks);
}
