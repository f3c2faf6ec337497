use protolink::prelude::*;

#[tool]
extern "C" fn foreign(query: String) -> String { // wrong
    query
}

#[tool]
fn of_any_length<const N: usize>(query: String) -> String { // wrong
    query
}

#[tool]
fn of_any_type(query: impl ToString) -> String { // wrong
    query.to_string()
}

#[tool]
fn never(_query: String) -> ! { // wrong
    loop {}
}

unsafe extern "C" {
    #[tool]
    fn without_body(query: String) -> String; // wrong
}

#[tool]
fn two_defaults(#[default(1)] #[default(2)] limit: u32) -> u32 { // wrong
    limit
}

#[tool]
fn two_expressions(#[default(1, 2)] limit: u32) -> u32 { // wrong
    limit
}


fn main() {
    let _ = Agent::builder("a")
        .tools(tools![foreign, of_any_length, of_any_type, never, two_defaults, two_expressions]);
}
