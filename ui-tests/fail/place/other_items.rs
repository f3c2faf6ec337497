use protolink::prelude::*;

#[before_model]
enum Enumeration {} // wrong

#[after_tool]
trait Rules {} // wrong

#[before_complete]
const LIMIT: u32 = 3; // wrong

#[before_model]
static NAME: &str = "x"; // wrong

#[before_model]
type Alias = Enumeration; // wrong

#[before_model]
pub use std::fmt; // wrong

#[before_model]
macro_rules! rules { () => {}; } // wrong

#[tool]
unsafe extern "C" {} // wrong

#[tool]
union Both { a: u32 } // wrong

#[hook_module]
struct Module; // wrong

#[derive(FromRef)]
union Parts { a: u32 } // wrong

fn main() {
    let _ = (LIMIT, NAME, Module);
    rules!();
}
