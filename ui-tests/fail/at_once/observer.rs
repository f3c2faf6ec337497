use protolink::prelude::*;
use protolink::{BoxError, Observer, RunEvent};

struct Audit;

impl Observer for Audit {
    async fn observe(&self, _event: &RunEvent) -> Result<(), BoxError> {
        Ok(())
    }
}

fn main() {
    let _ = Agent::builder("a").observer(Audit);
}
