#![deny(warnings)]
//! A hook may be made by a macro, of fragments of any kind.
use protolink::prelude::*;

macro_rules! hook {
    ($vis:vis $name:ident, $arg:ident, $ty:ty, $ret:ty, $state:ty, $body:block) => {
        #[before_model]
        $vis fn $name($arg: $ty, _state: State<$state>) -> $ret $body
    };
    (async $name:ident) => {
        #[before_model]
        async fn $name(request: &mut ModelRequest<'_>) {
            let local = "x";
            request.history().push(Message::user(local));
        }
    };
    (tool $name:ident, $default:literal, $doc:literal) => {
        #[doc = $doc]
        #[tool(name = $doc)]
        fn $name(#[default($default)] limit: u32) -> u32 {
            limit
        }
    };
    (fixed) => {
        #[before_model(crate = ::protolink)]
        fn fixed(request: &mut ::protolink::ModelRequest<'_>) {
            let _ = request.step();
        }
    };
}

hook!(pub(crate) one, request, &mut ModelRequest<'_>, Result<(), String>, u32, {
    let _ = request.step();
    Ok(())
});
hook!(async two);
hook!(tool three, 3, "search");
hook!(fixed);

pub(crate) fn main() {
    let _ = Agent::builder("a").state(1_u32).tools(tools![three]).hooks(hooks![one, two, fixed]);
}
