#![deny(warnings)]
//! Deadlines are constants of the binary.
use std::time::Duration;

use protolink::Hook;
use protolink::prelude::*;

#[before_model(timeout = "250ms")]
async fn millis(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "1.5s")]
async fn fraction(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "2m")]
async fn minutes(_request: &mut ModelRequest<'_>) {}

#[before_model(timeout = "1h")]
async fn hours(_request: &mut ModelRequest<'_>) {}

const TIMEOUT: Option<Duration> = millis::META.timeout;

pub(crate) fn main() {
    assert_eq!(TIMEOUT, Some(Duration::from_millis(250)));
    assert_eq!(fraction::META.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(minutes::META.timeout, Some(Duration::from_mins(2)));
    assert_eq!(hours::META.timeout, Some(Duration::from_hours(1)));
}
