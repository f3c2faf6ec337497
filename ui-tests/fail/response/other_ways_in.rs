use protolink::prelude::*;

#[before_complete]
fn untyped(response: &mut FinalResponse<'_>) {
    response.receipts().clear(); // wrong
    response.text().unwrap().push_str("x"); // wrong
    response.text_mut(); // wrong
    response.answer(); // wrong
    response.finish(); // wrong
    std::mem::take(response); // wrong
    let _ = protolink::Receipt { step: 3, ..(*response.receipts()[0]).clone() }; // wrong
}

#[before_complete]
fn typed(response: &mut FinalResponse<'_, String>) {
    let _: &mut FinalResponse<'_> = response; // wrong
    *response.answer_mut() = 3; // wrong
    response.text(); // wrong
    let _ = response.draft; // wrong
}

fn main() {
    let _ = Agent::builder("a").answer::<String>().hooks(hooks![untyped, typed]);
}
