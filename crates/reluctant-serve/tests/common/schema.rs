//! As much of JSON Schema as the OpenAPI document uses, to hold answers against it.

#![allow(unreachable_pub, reason = "part of a test")]

use serde_json::Value;

/// An error that says where `value` is not what `schema` allows.
pub fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = document.pointer(name.trim_start_matches('#')).ok_or(format!("{at}: no {name}"))?;
        return check(document, target, value, at);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let tried: Vec<_> = choices.iter().map(|choice| check(document, choice, value, at)).collect();
        return if tried.iter().any(Result::is_ok) { Ok(()) } else { Err(format!("{at}: none of {tried:?}")) };
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{at}: {value} is not one of {allowed:?}"));
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if !types.iter().any(|kind| is(kind, value)) {
        return Err(format!("{at}: {value} is not {types:?}"));
    }
    if let Some(items) = value.as_array() {
        for (i, item) in items.iter().enumerate() {
            check(document, &schema["items"], item, &format!("{at}[{i}]"))?;
        }
    }
    if let Some(fields) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                return Err(format!("{at}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            match schema["properties"].get(name) {
                Some(inner) => check(document, inner, field, &format!("{at}.{name}"))?,
                None if schema["additionalProperties"] == false => {
                    return Err(format!("{at}: {name} is not described"));
                }
                None => {}
            }
        }
    }
    Ok(())
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
