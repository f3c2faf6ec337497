#![deny(warnings)]
//! What a hook is given is neither cloned, defaulted nor read from data, under any type that generic code could use.
use std::marker::PhantomData;

use protolink::prelude::*;
use protolink::{HistoryMut, ToolsMut};

struct Probe<T>(PhantomData<T>);

trait Otherwise {
    const CLONE: bool = false;
    const DEFAULT: bool = false;
    const READ: bool = false;
    const FROM_LIST: bool = false;
}

impl<T> Otherwise for Probe<T> {}

#[allow(dead_code, reason = "they are found only where a handle promises too much")]
impl<T: Clone> Probe<T> {
    const CLONE: bool = true;
}

#[allow(dead_code, reason = "they are found only where a handle promises too much")]
impl<T: Default> Probe<T> {
    const DEFAULT: bool = true;
}

#[allow(dead_code, reason = "they are found only where a handle promises too much")]
impl<T: serde::de::DeserializeOwned> Probe<T> {
    const READ: bool = true;
}

#[allow(dead_code, reason = "they are found only where a handle promises too much")]
impl<T: From<Vec<Message>>> Probe<T> {
    const FROM_LIST: bool = true;
}

macro_rules! assert_closed {
    ($($type:ty),* $(,)?) => {
        $(const _: () = assert!(
            !Probe::<$type>::CLONE && !Probe::<$type>::DEFAULT && !Probe::<$type>::READ && !Probe::<$type>::FROM_LIST
        );)*
    };
}

assert_closed!(
    ModelRequest<'static>,
    HistoryMut<'static>,
    ToolsMut<'static>,
    ToolObservation<'static>,
    ToolObservation<'static, String>,
    FinalResponse<'static>,
);

pub(crate) fn main() {
    assert!(Probe::<String>::CLONE && Probe::<String>::DEFAULT && Probe::<String>::READ);
}
