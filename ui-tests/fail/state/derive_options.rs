use protolink::prelude::*;

#[derive(FromRef)]
struct Twice {
    #[from_ref(skip)]
    #[from_ref(skip)] // wrong
    limit: u32,
}

#[derive(FromRef)]
#[from_ref] // wrong
struct WithoutOption {
    limit: u32,
}

#[derive(FromRef)]
#[from_ref(skip)] // wrong
struct Whole {
    limit: u32,
}

#[derive(FromRef)]
struct OnAField {
    #[from_ref(crate = ::protolink)] // wrong
    limit: u32,
}

fn main() {}
