//! Changing JSON by path, as the scenarios' hooks do.

use protolink::BoxError;
use serde_json::Value;

use crate::hook::raised;
use crate::operation::Key;

fn find<'v>(value: &'v mut Value, path: &[Key]) -> Result<&'v mut Value, BoxError> {
    path.iter().try_fold(value, |value, key| {
        let found = match key {
            Key::Index(index) => value.get_mut(*index),
            Key::Name(name) => value.get_mut(name),
        };
        found.ok_or_else(|| raised("KeyError", &format!("{key:?}")))
    })
}

fn parent<'v, 'k>(value: &'v mut Value, path: &'k [Key]) -> Result<(&'v mut Value, &'k Key), BoxError> {
    let (last, before) = path.split_last().ok_or_else(|| raised("KeyError", "an empty path"))?;
    Ok((find(value, before)?, last))
}

/// Puts a value at the path.
pub(crate) fn set(value: &mut Value, path: &[Key], new: Value) -> Result<(), BoxError> {
    match parent(value, path)? {
        (Value::Object(fields), Key::Name(name)) => drop(fields.insert(name.clone(), new)),
        (Value::Array(items), Key::Index(index)) if *index < items.len() => items[*index] = new,
        _ => return Err(raised("TypeError", "the result has no such place")),
    }
    Ok(())
}

/// Takes what is at the path away; nothing there is nothing to do.
pub(crate) fn delete(value: &mut Value, path: &[Key]) -> Result<(), BoxError> {
    match parent(value, path)? {
        (Value::Object(fields), Key::Name(name)) => drop(fields.remove(name)),
        (Value::Array(items), Key::Index(index)) if *index < items.len() => drop(items.remove(*index)),
        _ => return Err(raised("TypeError", "the result has no such place")),
    }
    Ok(())
}

/// Adds a value to the list at the path.
pub(crate) fn append(value: &mut Value, path: &[Key], new: Value) -> Result<(), BoxError> {
    match find(value, path)? {
        Value::Array(items) => items.push(new),
        _ => return Err(raised("AttributeError", "the result has no list there")),
    }
    Ok(())
}
