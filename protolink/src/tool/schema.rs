//! Whether arguments can fit the JSON Schema of a tool that is made at run time.

use serde_json::{Map, Value};

use super::typed::kind_of;

/// Says what in these arguments does not fit the schema.
///
/// It refuses nothing that the schema admits, and not all that it forbids: it reads `type`, `enum`, `const`, `required`,
/// `properties`, `additionalProperties: false` and `items`. Every other keyword is the tool's own to keep, and so is
/// everything beside a `$ref`.
///
/// # Errors
/// The place, and what is wanted there. No value is in it.
pub(super) fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    check_at(schema, arguments, &Place::Arguments)
}

/// Where a value stands.
enum Place<'p> {
    Arguments,
    Property(&'p Self, &'p str),
    Item(&'p Self, usize),
}

impl Place<'_> {
    fn words(&self) -> String {
        match self {
            Self::Arguments => "the arguments".to_owned(),
            Self::Property(Self::Arguments, name) => format!("`{}`", short(name)),
            Self::Property(parent, name) => format!("`{}` in {}", short(name), parent.words()),
            Self::Item(parent, index) => format!("item {index} of {}", parent.words()),
        }
    }
}

/// A name as it is told; the model chose it, and its length.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

fn check_at(schema: &Value, value: &Value, place: &Place<'_>) -> Result<(), String> {
    let Value::Object(schema) = schema else { return Ok(()) };
    if schema.contains_key("$ref") {
        return Ok(());
    }
    let nullable = value.is_null() && schema.get("nullable") == Some(&Value::Bool(true));
    if !nullable {
        check_type(schema, value, place)?;
        check_choice(schema, value, place)?;
    }
    match value {
        Value::Object(members) => check_members(schema, members, place),
        Value::Array(items) => {
            let Some(schema) = schema.get("items").filter(|_| !schema.contains_key("prefixItems")) else {
                return Ok(());
            };
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| check_at(schema, item, &Place::Item(place, index)))
        }
        _ => Ok(()),
    }
}

fn check_type(schema: &Map<String, Value>, value: &Value, place: &Place<'_>) -> Result<(), String> {
    let wanted: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if wanted.is_empty() || wanted.iter().any(|wanted| is_of_type(value, wanted)) {
        return Ok(());
    }
    Err(format!("{} must be of the type {}, and is {}", place.words(), wanted.join(" or "), kind_of(value)))
}

fn is_of_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // A number without a fraction is an integer, however it is written.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        // A type that JSON does not have is not for this check to refuse.
        _ => true,
    }
}

fn check_choice(schema: &Map<String, Value>, value: &Value, place: &Place<'_>) -> Result<(), String> {
    let choices = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(choices)), _) => choices.as_slice(),
        (_, Some(only)) => std::slice::from_ref(only),
        _ => return Ok(()),
    };
    // What holds other values may hold a number that is written in another way; the rest is written in one.
    let is_plain = |value: &Value| matches!(value, Value::Null | Value::Bool(_) | Value::String(_));
    if choices.is_empty() || !choices.iter().all(is_plain) || choices.contains(value) {
        return Ok(());
    }
    let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
    let told = short(&choices.join(", "));
    Err(format!("{} must be one of {told}", place.words()))
}

fn check_members(schema: &Map<String, Value>, members: &Map<String, Value>, place: &Place<'_>) -> Result<(), String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if !members.contains_key(name) {
            return Err(format!("{} is missing", Place::Property(place, name).words()));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.contains_key("patternProperties") || schema.get("additionalProperties") != Some(&false.into());
    for (name, member) in members {
        let place = Place::Property(place, name);
        match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => check_at(schema, member, &place)?,
            None if others => {}
            None => return Err(format!("{} is not an argument of this tool", place.words())),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    fn refused(schema: &Value, arguments: &Value) -> String {
        check(schema, arguments).expect_err("it does not fit")
    }

    #[test]
    fn what_the_schema_forbids_is_said_with_its_place_and_without_its_value() {
        let schema = json!({
            "type": "object",
            "required": ["to"],
            "additionalProperties": false,
            "properties": {
                "to": { "type": "string" },
                "cents": { "type": "integer" },
                "kind": { "enum": ["card", "cash"] },
                "lines": { "type": "array", "items": { "type": "object", "properties": { "n": { "type": "number" } } } },
            },
        });
        for (arguments, reason) in [
            (json!({}), "`to` is missing"),
            (json!({ "to": 7_777 }), "`to` must be of the type string, and is a number"),
            (json!({ "to": "x", "cents": 1.5 }), "`cents` must be of the type integer, and is a number"),
            (json!({ "to": "x", "kind": "gold" }), r#"`kind` must be one of "card", "cash""#),
            (json!({ "to": "x", "tip": 1 }), "`tip` is not an argument of this tool"),
            (
                json!({ "to": "x", "lines": [{ "n": 1 }, { "n": "s3cret" }] }),
                "`n` in item 1 of `lines` must be of the type number, and is a string",
            ),
        ] {
            assert_eq!(refused(&schema, &arguments), reason);
        }
        let long = json!({ "to": "x", "x".repeat(10_000): 1 });
        assert!(refused(&schema, &long).len() < 200, "the model chose the name");
    }

    #[test]
    fn what_the_schema_admits_or_this_check_cannot_read_passes() {
        for (schema, value) in [
            (json!({}), json!({ "any": 1 })),
            (json!(true), json!(1)),
            (json!({ "type": "integer" }), json!(3.0)),
            (json!({ "type": "integer" }), json!(u64::MAX)),
            (json!({ "type": ["string", "null"] }), json!(null)),
            (json!({ "type": "string", "nullable": true }), json!(null)),
            (json!({ "type": "tuple" }), json!(1)),
            (json!({ "type": 4 }), json!(1)),
            (json!({ "enum": [1, 2] }), json!(1.0)),
            (json!({ "$ref": "#/$defs/a", "type": "string" }), json!(1)),
            (json!({ "anyOf": [{ "type": "string" }] }), json!(1)),
            (json!({ "additionalProperties": false, "patternProperties": { "^x": {} } }), json!({ "xy": 1 })),
            (json!({ "prefixItems": [{}], "items": { "type": "string" } }), json!([1])),
            (json!({ "required": "all", "properties": [] }), json!({ "a": 1 })),
        ] {
            assert_eq!(check(&schema, &value), Ok(()), "{schema} {value}");
        }
    }
}
