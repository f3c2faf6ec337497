//! Reading an object of a scenario without skipping any of its fields.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::not_here::NotHere;

/// The fields of one object; each is taken once, and what is left over is unsupported.
pub(crate) struct Fields {
    what: String,
    fields: Map<String, Value>,
}

impl Fields {
    pub(crate) fn of(what: impl Into<String>, value: &Value) -> Result<Self, NotHere> {
        let what = what.into();
        match value {
            Value::Object(fields) => Ok(Self { what, fields: fields.clone() }),
            other => Err(NotHere::unsupported(format!("{what} is not an object: {other}"))),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// The field as a `T`; `None` where it is missing or null.
    pub(crate) fn optional<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, NotHere> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match serde_json::from_value(value.clone()) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(NotHere::unsupported(format!("{}: {name} = {value}: {error}", self.what))),
            },
        }
    }

    pub(crate) fn required<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, NotHere> {
        let missing = format!("{} without {name}", self.what);
        self.optional(name)?.ok_or_else(|| NotHere::unsupported(missing))
    }

    /// The one field that is left, whatever it is called.
    pub(crate) fn the_rest(&mut self) -> Option<Value> {
        let name = self.fields.keys().next().cloned()?;
        self.fields.remove(&name)
    }

    /// Says so where a field was not taken.
    pub(crate) fn end(self) -> Result<(), NotHere> {
        match self.fields.keys().next() {
            None => Ok(()),
            Some(name) => Err(NotHere::unsupported(format!("the key `{name}` of {}", self.what))),
        }
    }
}
