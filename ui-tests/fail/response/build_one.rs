use protolink::prelude::*;

fn main() {
    let _: FinalResponse<'static> = FinalResponse { text: "done" };
}
