#![deny(warnings)]
//! `FromRef` by derive, for named and unnamed fields.
use std::sync::Arc;

use protolink::prelude::*;

#[derive(Clone)]
struct Db;

#[derive(FromRef)]
struct Named {
    db: Db,
    shared: Arc<str>,
    function: Arc<dyn Fn(u32) -> u32 + Send + Sync>,
    #[from_ref(skip)]
    other: Arc<str>,
}

#[derive(FromRef)]
struct Unnamed(
    Db,
    #[from_ref(skip)]
    #[allow(dead_code, reason = "it is skipped")]
    Db,
    u32,
);

#[derive(FromRef)]
#[from_ref(crate = ::protolink)]
struct ByPath {
    db: Db,
}

#[before_model]
fn takes(_request: &mut ModelRequest<'_>, _db: State<Db>) {}

#[before_model]
fn takes_more(
    _request: &mut ModelRequest<'_>,
    _db: State<Db>,
    _shared: State<Arc<str>>,
    State(function): State<Arc<dyn Fn(u32) -> u32 + Send + Sync>>,
) {
    let _ = function(1);
}

#[before_model]
fn takes_number(_request: &mut ModelRequest<'_>, _number: State<u32>) {}

pub(crate) fn main() {
    let named = Named { db: Db, shared: "x".into(), function: Arc::new(|x| x), other: "y".into() };
    assert_eq!(&*named.other, "y");
    let _ = Agent::builder("a").state(named).hooks(hooks![takes, takes_more]);
    let _ = Agent::builder("a").state(Unnamed(Db, Db, 1)).hooks(hooks![takes, takes_number]);
    let _ = Agent::builder("a").state(ByPath { db: Db }).hooks(hooks![takes]);
    let _ = Agent::builder("a").state(Db).hooks(hooks![takes]);
}
