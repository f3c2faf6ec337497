use protolink::prelude::*;

#[before_model]
fn hook(request: &mut ModelRequest<'_>) {
    let _ = Agent::builder("inner")
        .before_model("swap", move |inner: &mut ModelRequest<'_>| std::mem::swap(request, inner));
}

fn main() {
    let _ = Agent::builder("a").hooks(hooks![hook]);
}
