//! Reads one JSON value into one type, or says what is wrong with it; for fields of any name.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::field_error::{ErrorCode, Problem};

/// Longest `name` and `description`, in bytes. The number is ours.
pub const MAX_TEXT_BYTES: usize = 1_024;
/// Longest part of a given text that a message repeats, in characters.
const MAX_QUOTED_CHARS: usize = 40;

/// Reads a JSON text; `what` names it in an error, as `The body`.
pub fn read_json(what: &str, text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|error| {
        let message = if text.trim().is_empty() {
            format!("{what} is empty; it must be JSON.")
        } else {
            let (line, column) = (error.line(), error.column());
            format!("{what} must be JSON; it stops being JSON at line {line}, column {column}.")
        };
        Problem { code: ErrorCode::NotJson, message }
    })
}

/// Reads a whole number in `range`.
pub fn whole_number(range: RangeInclusive<u32>) -> impl Fn(&Value) -> Result<u32, Problem> {
    move |value| {
        let expected = || format!("a whole number from {} to {}", range.start(), range.end());
        if !value.is_number() {
            return Err(wrong_type(&expected(), value));
        }
        whole(value)
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| range.contains(number))
            .ok_or_else(|| out_of_range(&expected(), value))
    }
}

/// Returns a whole number from 0 on. JSON may write it as `900.0` or `9E2`, as some clients do.
pub fn whole(value: &Value) -> Option<u64> {
    let is_whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    value.as_u64().or_else(|| value.as_f64().filter(is_whole).map(|number| number as u64))
}

/// Returns the fields of a JSON object; none for any other value.
pub fn document(value: Value) -> Map<String, Value> {
    if let Value::Object(document) = value { document } else { Map::new() }
}

/// Reads `true` or `false`.
pub fn boolean(value: &Value) -> Result<bool, Problem> {
    value.as_bool().ok_or_else(|| wrong_type("true or false", value))
}

/// Reads a text of at most `max_bytes` bytes.
pub fn text(max_bytes: usize) -> impl Fn(&Value) -> Result<&str, Problem> {
    move |value| {
        let text = value.as_str().ok_or_else(|| wrong_type("a text", value))?;
        if text.len() <= max_bytes {
            return Ok(text);
        }
        let message = format!("must be at most {max_bytes} bytes long, but has {}", text.len());
        Err(Problem { code: ErrorCode::OutOfRange, message })
    }
}

/// Reads a name of letters, digits, `-` and `_`, of at most `max_bytes` bytes.
pub fn plain_name(max_bytes: usize) -> impl Fn(&Value) -> Result<&str, Problem> {
    move |value| {
        let name = text(max_bytes)(value)?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !name.is_empty() && name.bytes().all(allowed) {
            return Ok(name);
        }
        Err(malformed(name, "must be letters, digits, - and _"))
    }
}

/// Reads a list of at most `most` values; `expected` names it in an error.
pub fn list(expected: &str, most: usize) -> impl Fn(&Value) -> Result<&[Value], Problem> {
    move |value| {
        let values = value.as_array().ok_or_else(|| wrong_type(expected, value))?;
        if values.len() <= most {
            return Ok(values);
        }
        let message = format!("must be at most {most}, but are {}", values.len());
        Err(Problem { code: ErrorCode::OutOfRange, message })
    }
}

/// Reads a text that parses as a `T`.
pub fn parsed<T: FromStr<Err: Display>>(value: &Value) -> Result<T, Problem> {
    let text = value.as_str().ok_or_else(|| wrong_type("a text", value))?;
    text.parse().map_err(|error: T::Err| malformed(text, error))
}

/// Reads a text that parses as a `T`; "" is the default.
pub fn parsed_or_default<T: FromStr<Err: Display> + Default>(value: &Value) -> Result<T, Problem> {
    if value == "" { Ok(T::default()) } else { parsed(value) }
}

/// Reads one of the texts of `choices`, in any letter case.
pub fn choice<T: Copy>(choices: &[(&str, T)]) -> impl Fn(&Value) -> Result<T, Problem> {
    move |value| {
        let names = || choices.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>();
        let expected = || names().join(" or ");
        let text = value.as_str().ok_or_else(|| wrong_type(&expected(), value))?;
        let chosen = choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        chosen.map(|(_, choice)| *choice).ok_or_else(|| out_of_range(&expected(), value))
    }
}

/// Accepts the value `supported` alone: this version cannot honour any other.
pub fn only(supported: &Value) -> impl Fn(&Value) -> Result<(), Problem> {
    move |value| {
        let same = match (value.as_str(), supported.as_str()) {
            (Some(value), Some(supported)) => value.eq_ignore_ascii_case(supported),
            _ => value == supported,
        };
        let unsupported = || Problem {
            code: ErrorCode::Unsupported,
            message: format!(
                "{} is not supported by this version; the only value is {supported}",
                shown(value)
            ),
        };
        same.then_some(()).ok_or_else(unsupported)
    }
}

/// Makes the problem of a value that has another type than `expected`.
pub fn wrong_type(expected: &str, value: &Value) -> Problem {
    Problem { code: ErrorCode::WrongType, message: must_be(expected, value) }
}

/// Makes the problem of a value that has the right type but is not `expected`.
pub fn out_of_range(expected: &str, value: &Value) -> Problem {
    Problem { code: ErrorCode::OutOfRange, message: must_be(expected, value) }
}

/// Makes the problem of a text that has the wrong form; `rule` says which it must have.
pub fn malformed(text: &str, rule: impl Display) -> Problem {
    Problem { code: ErrorCode::Malformed, message: format!("{rule}; given is {}", quoted(text)) }
}

/// Writes `text` in quotation marks, escaped as in JSON and cut when it is long.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        None => Value::from(text).to_string(),
        Some((cut, _)) => format!("{}...", Value::from(text.get(..cut).unwrap_or(""))),
    }
}

fn must_be(expected: &str, value: &Value) -> String {
    format!("must be {expected}, but is {}", shown(value))
}

/// Writes a value for an error: a list or an object by its kind alone.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) if !items.is_empty() => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        small => small.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{boolean, choice, only, quoted, text, whole_number};

    #[test]
    fn what_is_no_json_is_told_where_it_stops() {
        let read = |text: &str| super::read_json("The body", text);
        check(read("{}"), None);
        for empty in ["", " \n"] {
            check(read(empty), Some((1_100, "The body is empty; it must be JSON.")));
        }
        let cut = "The body must be JSON; it stops being JSON at line 2, column 8.";
        check(read("{\n  \"a\": }"), Some((1_100, cut)));
    }

    fn check<T>(result: Result<T, super::Problem>, want: Option<(u16, &str)>) {
        let problem = result.err();
        let seen = problem.as_ref().map(|problem| (problem.code.number(), &*problem.message));
        assert_eq!(seen, want);
    }

    #[test]
    fn numbers_keep_to_their_range() {
        let read = |value: Value| whole_number(1..=30)(&value);
        check(read(json!(1)), None);
        check(read(json!(30)), None);
        assert_eq!(read(json!(30.0)).ok(), Some(30));
        assert_eq!(read(serde_json::from_str("2E1").unwrap()).ok(), Some(20));
        check(read(json!(31.0)), Some((1_103, "must be a whole number from 1 to 30, but is 31.0")));
        check(read(json!(-1.0)), Some((1_103, "must be a whole number from 1 to 30, but is -1.0")));
        check(read(json!(1e300)), {
            Some((1_103, "must be a whole number from 1 to 30, but is 1e+300"))
        });
        check(read(json!(0)), Some((1_103, "must be a whole number from 1 to 30, but is 0")));
        check(read(json!(31)), Some((1_103, "must be a whole number from 1 to 30, but is 31")));
        check(read(json!(-1)), Some((1_103, "must be a whole number from 1 to 30, but is -1")));
        check(read(json!(1.5)), Some((1_103, "must be a whole number from 1 to 30, but is 1.5")));
        check(read(json!(4_294_967_297_u64)), {
            Some((1_103, "must be a whole number from 1 to 30, but is 4294967297"))
        });
        check(read(json!("5")), {
            Some((1_102, "must be a whole number from 1 to 30, but is \"5\""))
        });
    }

    #[test]
    fn other_types_are_told_apart() {
        check(boolean(&json!(true)), None);
        check(boolean(&json!("true")), Some((1_102, "must be true or false, but is \"true\"")));
        check(text(3)(&json!("abc")), None);
        check(text(3)(&json!("abcd")), Some((1_103, "must be at most 3 bytes long, but has 4")));
        check(text(3)(&json!([1])), Some((1_102, "must be a text, but is a list")));
        check(choice(&[("a", 1), ("b", 2)])(&json!("B")), None);
        check(choice(&[("a", 1), ("b", 2)])(&json!("c")), {
            Some((1_103, "must be \"a\" or \"b\", but is \"c\""))
        });
        check(only(&json!("fifo"))(&json!("FIFO")), None);
        check(only(&json!("fifo"))(&json!([1])), {
            Some((1_108, "a list is not supported by this version; the only value is \"fifo\""))
        });
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(quoted(&"ä".repeat(40)), format!("\"{}\"", "ä".repeat(40)));
        assert_eq!(quoted(&"ä".repeat(41)), format!("\"{}\"...", "ä".repeat(40)));
    }
}
