#![deny(dead_code)]

use protolink::prelude::*;

#[before_model]
fn called_in_a_test(request: &mut ModelRequest<'_>) { // wrong
    request.history().push(Message::user("x"));
}

#[before_model]
fn called_by_the_program(_request: &mut ModelRequest<'_>) {}

#[cfg(test)]
mod tests {
    #[test]
    fn it_adds_a_message() {
        protolink::testing::RequestFixture::new().with(|request| super::called_in_a_test(request));
    }
}

fn main() {
    protolink::testing::RequestFixture::new().with(|request| called_by_the_program(request));
}
