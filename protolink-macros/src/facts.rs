//! The facts of a hook as one text, which `protolink/src/hook/facts.rs` reads and describes.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use crate::function::Function;
use crate::krate::Krate;
use crate::options::HookOptions;
use crate::stage::Stage;
use crate::{digest, signature_text};

/// `concat!("M07a1..", module_path!(), "\n", line!(), "\n", file!())`
pub(crate) fn expression(stage: Stage, krate: &Krate, options: &HookOptions, function: &Function) -> TokenStream {
    let known = known(stage, options, function);
    let private = krate.private();
    // A literal that stands in `quote!` itself is parsed each time.
    let line_break = Literal::character('\n');
    quote! {
        #private::concat!(
            #known, #private::module_path!(), #line_break, #private::line!(), #line_break, #private::file!()
        )
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// What the attribute itself knows.
fn known(stage: Stage, options: &HookOptions, function: &Function) -> String {
    let name = function.sig.ident.unraw().to_string();
    let signature = signature_text::text(function);
    let mut text = String::with_capacity(128 + name.len() + signature.len());
    text.push(match stage {
        Stage::BeforeModel => 'M',
        Stage::AfterTool => 'T',
        Stage::BeforeComplete => 'C',
    });
    for byte in digest::fingerprint(stage, options, function) {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 0x0f)]));
    }
    text.push_str(&name);
    text.push('\n');
    text.push_str(&signature.len().to_string());
    text.push('\n');
    text.push_str(&signature);
    text
}
