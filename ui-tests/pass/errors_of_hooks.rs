#![deny(warnings)]
//! What may be the error of a hook.
use std::error::Error;

use protolink::prelude::*;

#[derive(Debug, thiserror::Error)]
#[error("own")]
struct Own;

#[before_model]
fn own(_request: &mut ModelRequest<'_>) -> Result<(), Own> {
    Err(Own)
}

#[before_model]
fn boxed(_request: &mut ModelRequest<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
    Err(Box::new(Own))
}

#[before_model]
fn text(_request: &mut ModelRequest<'_>) -> Result<(), String> {
    Err("text".to_owned())
}

#[before_model]
fn literal(_request: &mut ModelRequest<'_>) -> Result<(), &'static str> {
    Err("text")
}

#[before_model]
fn library(_request: &mut ModelRequest<'_>) -> std::io::Result<()> {
    Ok(())
}

pub(crate) fn main() {
    let _ = Agent::builder("a").hooks(hooks![own, boxed, text, literal, library]);
}
