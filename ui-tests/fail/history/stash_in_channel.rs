use std::sync::Mutex;
use std::sync::mpsc;

use protolink::prelude::*;

fn main() {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let _ = Agent::builder("a").before_model("stash", move |request: &mut ModelRequest<'_>| {
        if let Ok(sender) = sender.lock() {
            let _ = sender.send(request);
        }
    });
    drop(receiver);
}
