use protolink::prelude::*;
use protolink::{Hook, HookFor, HookMeta, Registered, Stage};

struct Forged;

impl Hook for Forged { // wrong
    const META: &'static HookMeta = &HookMeta { stage: Stage::BeforeModel, name: "select", ..*select::META }; // wrong
}

impl HookFor<protolink::NoState> for Forged { // wrong
    const REGISTERED: Registered<protolink::NoState> = <select as HookFor<_>>::REGISTERED;
}

#[before_model]
fn select(_request: &mut ModelRequest<'_>) {}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![Forged]);
}
