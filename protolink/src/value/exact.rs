//! A serializer in front of `serde_json`'s own that refuses what JSON would lose.
//!
//! `serde_json` writes NaN and infinities as `null` without a word. Everything else that it cannot keep (integers out
//! of 64 bits, keys that are no text) it refuses by itself.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Display;

use serde::ser::{self, Serialize, Serializer};
use serde_json::Value;

use super::{MAX_DEPTH, ValueError};

/// Turns a value into JSON exactly.
///
/// # Errors
/// [`ValueError`] when something of it cannot be kept.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, ValueError> {
    let lost = Cell::new(None);
    let json = value
        .serialize(Exact { inner: serde_json::value::Serializer, lost: &lost, depth: 0 })
        .map_err(|error| lost.take().unwrap_or_else(|| ValueError::Serialize(error.to_string())))?;
    // A `Serialize` implementation may swallow the error of a part; what was lost is still lost.
    match lost.take() {
        Some(error) => Err(error),
        None => check_depth(&json).map(|()| json),
    }
}

/// Like [`to_value`], and moves a value that is JSON already instead of walking it.
pub(crate) fn to_value_of<T: Serialize + 'static>(value: T) -> Result<Value, ValueError> {
    let mut slot = Some(value);
    if let Some(json) = (&mut slot as &mut dyn Any).downcast_mut::<Option<Value>>().and_then(Option::take) {
        return check_depth(&json).map(|()| json);
    }
    slot.as_ref().map_or(Ok(Value::Null), to_value)
}

/// Refuses a value that a reader would not take back.
pub(crate) fn check_depth(value: &Value) -> Result<(), ValueError> {
    fn walk(value: &Value, left: usize) -> bool {
        match value {
            Value::Array(items) => left > 0 && items.iter().all(|item| walk(item, left - 1)),
            Value::Object(fields) => left > 0 && fields.values().all(|field| walk(field, left - 1)),
            _ => true,
        }
    }
    if walk(value, MAX_DEPTH) { Ok(()) } else { Err(ValueError::TooDeep) }
}

/// Forwards to `inner`, and notes in `lost` what `inner` would not have refused.
#[derive(Clone, Copy)]
struct Exact<'l, S> {
    inner: S,
    lost: &'l Cell<Option<ValueError>>,
    depth: usize,
}

impl<S> Exact<'_, S> {
    fn refuse<E: ser::Error>(&self, error: ValueError) -> E {
        let text = error.to_string();
        self.lost.set(Some(error));
        E::custom(text)
    }

    fn descend<E: ser::Error>(&self) -> Result<(), E> {
        if self.depth < MAX_DEPTH { Ok(()) } else { Err(self.refuse(ValueError::TooDeep)) }
    }
}

/// A part of a value, to be serialised by the same rules.
struct Part<'l, 'v, T: ?Sized> {
    value: &'v T,
    lost: &'l Cell<Option<ValueError>>,
    depth: usize,
}

impl<T: Serialize + ?Sized> Serialize for Part<'_, '_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Exact { inner: serializer, lost: self.lost, depth: self.depth })
    }
}

/// A compound value in the making.
struct Compound<'l, C> {
    inner: C,
    lost: &'l Cell<Option<ValueError>>,
    depth: usize,
}

macro_rules! forward {
    ($($method:ident($ty:ty)),* $(,)?) => {
        $(fn $method(self, value: $ty) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        })*
    };
}

macro_rules! open {
    ($($method:ident($($arg:ident: $ty:ty),*) -> $compound:ident;)*) => {
        $(fn $method(self, $($arg: $ty),*) -> Result<Self::$compound, S::Error> {
            self.descend()?;
            let (lost, depth) = (self.lost, self.depth + 1);
            Ok(Compound { inner: self.inner.$method($($arg),*)?, lost, depth })
        })*
    };
}

impl<'l, S: Serializer> Serializer for Exact<'l, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Compound<'l, S::SerializeSeq>;
    type SerializeTuple = Compound<'l, S::SerializeTuple>;
    type SerializeTupleStruct = Compound<'l, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Compound<'l, S::SerializeTupleVariant>;
    type SerializeMap = Compound<'l, S::SerializeMap>;
    type SerializeStruct = Compound<'l, S::SerializeStruct>;
    type SerializeStructVariant = Compound<'l, S::SerializeStructVariant>;

    forward! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_i128(i128), serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_u128(u128), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]),
        serialize_unit_struct(&'static str),
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.inner.serialize_f32(value) } else { Err(self.refuse(ValueError::NotFinite)) }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.inner.serialize_f64(value) } else { Err(self.refuse(ValueError::NotFinite)) }
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_none()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Part { value, lost: self.lost, depth: self.depth })
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit()
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(name, &Part { value, lost: self.lost, depth: self.depth })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.descend()?;
        let part = Part { value, lost: self.lost, depth: self.depth + 1 };
        self.inner.serialize_newtype_variant(name, index, variant, &part)
    }

    open! {
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant;
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! sequence {
    ($($trait:ident::$method:ident),* $(,)?) => {
        $(impl<C: ser::$trait> ser::$trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.inner.$method(&Part { value, lost: self.lost, depth: self.depth })
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })*
    };
}

sequence! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! structure {
    ($($trait:ident),* $(,)?) => {
        $(impl<C: ser::$trait> ser::$trait for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), C::Error> {
                self.inner.serialize_field(key, &Part { value, lost: self.lost, depth: self.depth })
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
                self.inner.skip_field(key)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        })*
    };
}

structure!(SerializeStruct, SerializeStructVariant);

impl<C: ser::SerializeMap> ser::SerializeMap for Compound<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.inner.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.inner.serialize_value(&Part { value, lost: self.lost, depth: self.depth })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(serde::Serialize)]
    struct Reading {
        celsius: f64,
        id: u64,
    }

    #[test]
    fn t7_numbers_are_kept_or_refused() {
        assert_eq!(to_value(&Reading { celsius: 1.5, id: u64::MAX }), Ok(json!({ "celsius": 1.5, "id": u64::MAX })));
        for celsius in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(to_value(&Reading { celsius, id: 1 }), Err(ValueError::NotFinite));
            assert_eq!(to_value(&vec![Some(celsius)]), Err(ValueError::NotFinite));
        }
        assert!(matches!(to_value(&u128::MAX), Err(ValueError::Serialize(_))));
        assert_eq!(to_value(&i64::MIN), Ok(json!(i64::MIN)));
    }

    #[test]
    fn t7_a_value_that_is_too_deep_to_be_read_back_is_refused() {
        let nest = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(to_value_of(nest(MAX_DEPTH)), Ok(nest(MAX_DEPTH)));
        assert_eq!(to_value_of(nest(MAX_DEPTH + 1)), Err(ValueError::TooDeep));
        assert_eq!(to_value(&nest(1_000)), Err(ValueError::TooDeep));
    }

    #[test]
    fn t7_a_lost_number_is_noticed_even_if_its_error_is_swallowed() {
        struct Careless;
        impl Serialize for Careless {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ser::SerializeSeq;
                let mut sequence = serializer.serialize_seq(None)?;
                let _ = sequence.serialize_element(&f64::NAN);
                sequence.end()
            }
        }
        assert_eq!(to_value(&Careless), Err(ValueError::NotFinite));
    }
}
