#![deny(warnings)]
//! The compiler hands the macro the tokens whose fingerprint the table of the macro crate pins.
use protolink::Hook;
use protolink::prelude::*;

/// Not part of it.
#[before_model(timeout = "2s")]
pub(crate) async fn pinned<'a>(request: &'a mut ModelRequest<'_>, State(limit): State<usize>) -> Result<(), String> {
    // Nor is this.
    while request.history().len() >= limit && !request.history().is_empty() {
        request.history().remove(0).ok_or_else(|| r"no message".to_owned())?;
    }
    Ok(())
}

pub(crate) fn main() {
    let fingerprint = pinned::META.fingerprint.map(|fingerprint| fingerprint.to_string());
    assert_eq!(fingerprint.as_deref(), Some("fp1:24549b82b328719735b668fc362d3d861e1b9cc5cf8509f91ce0ab9a89e6e30d"));
}
