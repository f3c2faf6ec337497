//! T7: what JSON can hold is kept exactly, whatever Rust type it comes from, and what it cannot hold is refused wherever
//! it stands.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use protolink::ValueError;
use protolink::testing::ObservationFixture;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// What the model would see of a value that a hook sets.
fn kept(value: impl Serialize) -> Result<Value, ValueError> {
    let mut fixture = ObservationFixture::json("measure", json!("as it was"));
    let set = fixture.with(|observation| observation.set_result(value));
    if set.is_err() {
        assert_eq!(fixture.result(), "as it was");
        assert!(fixture.changes().is_empty());
    }
    set.map(|()| fixture.result().clone())
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Metres<T>(T);

#[derive(Serialize)]
struct Pair<T>(u8, T);

#[derive(Serialize)]
struct Reading<T> {
    at: char,
    value: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Serialize)]
enum Shape<T> {
    Nothing,
    One(T),
    Two(u16, T),
    Named {
        value: T,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<&'static str>,
    },
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    Red,
}

/// Serialises as the text that it displays.
struct Shown(f32);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} metres", self.0)
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Serialises otherwise for people than for machines.
struct Address;

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.serialize_str("::1") } else { serializer.serialize_bytes(&[1]) }
    }
}

struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[test]
fn t7_every_kind_of_value_is_kept_as_json_has_it() {
    let cases = [
        (kept(true), json!(true)),
        (kept((i8::MIN, i16::MIN, i32::MIN, i64::MIN)), json!([i8::MIN, i16::MIN, i32::MIN, i64::MIN])),
        (kept((u8::MAX, u16::MAX, u32::MAX, u64::MAX)), json!([u8::MAX, u16::MAX, u32::MAX, u64::MAX])),
        (kept((i128::from(i64::MIN), u128::from(u64::MAX))), json!([i64::MIN, u64::MAX])),
        (kept((0.5_f32, -2.25_f64)), json!([0.5, -2.25])),
        (kept(('é', "text", String::from("own"))), json!(["é", "text", "own"])),
        (kept(((), Unit, None::<u8>, Some(3))), json!([null, null, null, 3])),
        (kept(Bytes(&[0, 255])), json!([0, 255])),
        (kept([Shown(1.5)]), json!(["1.5 metres"])),
        (kept([Address]), json!(["::1"])),
        (kept(Metres(Metres(2))), json!(2)),
        (kept(Pair(1, "b")), json!([1, "b"])),
        (kept(Reading { at: 'a', value: [1], note: None }), json!({ "at": "a", "value": [1] })),
        (kept(Reading { at: 'a', value: (), note: Some("n") }), json!({ "at": "a", "value": null, "note": "n" })),
        (kept(Shape::<u8>::Nothing), json!("Nothing")),
        (kept(Shape::One(vec![1])), json!({ "One": [1] })),
        (kept(Shape::Two(1, "b")), json!({ "Two": [1, "b"] })),
        (kept(Shape::Named { value: 1, note: None }), json!({ "Named": { "value": 1 } })),
        (kept(Shape::Named { value: 1, note: Some("n") }), json!({ "Named": { "value": 1, "note": "n" } })),
        (kept(BTreeMap::from([(1, "one"), (2, "two")])), json!({ "1": "one", "2": "two" })),
        (kept(BTreeMap::from([(Colour::Red, 1)])), json!({ "Red": 1 })),
    ];
    for (kept, expected) in cases {
        assert_eq!(kept, Ok(expected));
    }
}

#[test]
fn t7_a_number_that_json_has_not_is_refused_wherever_it_stands() {
    let nan = f64::NAN;
    for refused in [
        kept(f32::INFINITY),
        kept(nan),
        kept(Some(nan)),
        kept([nan]),
        kept((1, nan)),
        kept(Metres(nan)),
        kept(Pair(1, nan)),
        kept(Reading { at: 'a', value: nan, note: None }),
        kept(Shape::One(nan)),
        kept(Shape::Two(1, nan)),
        kept(Shape::Named { value: nan, note: None }),
        kept(HashMap::from([("key", nan)])),
    ] {
        assert_eq!(refused, Err(ValueError::NotFinite));
    }
}

#[test]
fn t7_what_json_cannot_write_is_refused_with_its_reason() {
    for refused in [kept(i128::MAX), kept(u128::MAX), kept(BTreeMap::from([(vec![1], 1)]))] {
        assert!(matches!(&refused, Err(ValueError::Serialize(reason)) if !reason.is_empty()), "{refused:?}");
    }
}

#[derive(Serialize)]
enum Nest {
    Leaf,
    One(Box<Self>),
    Two(u8, Box<Self>),
    Named { inner: Box<Self> },
}

#[test]
fn t7_a_value_without_bottom_is_refused_in_every_kind_of_wrapping() {
    let wraps: [fn(Box<Nest>) -> Nest; 3] = [Nest::One, |inner| Nest::Two(1, inner), |inner| Nest::Named { inner }];
    for wrap in wraps {
        let deep = (0..500).fold(Nest::Leaf, |inner, _| wrap(Box::new(inner)));
        assert_eq!(kept(deep), Err(ValueError::TooDeep));
        let shallow = (0..20).fold(Nest::Leaf, |inner, _| wrap(Box::new(inner)));
        let plain = serde_json::to_value(&shallow).expect("it is JSON");
        assert_eq!(kept(shallow), Ok(plain));
    }
}
