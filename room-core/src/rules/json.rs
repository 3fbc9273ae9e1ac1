//! Finds one value in a JSON text, and computes the steps of reading the text.

use serde_json::Value as Json;

use super::value::Value;

/// Finds the value at `keys`, names and places from 0, in the JSON in `text`.
///
/// `None` if there is none, or if the whole `text` is no readable JSON. Not readable are more than
/// 127 levels, a number beyond those of an `f64`, and bytes that are not UTF-8, even in a part that
/// the keys do not reach.
pub(super) fn look_up(text: &[u8], keys: &[Value<'_>]) -> Option<Json> {
    let mut json: Json = serde_json::from_slice(text).ok()?;
    let found = keys.iter().try_fold(&mut json, |found, key| match key {
        Value::Text(name) => found.get_mut(str::from_utf8(name).ok()?),
        Value::Integer(place) => found.get_mut(usize::try_from(*place).ok()?),
        _ => None,
    })?;
    Some(found.take())
}

/// Returns the steps of reading `text`. They pay for its bytes, and for the memory of its objects,
/// arrays and elements, at most 5 bytes a step. So the whole budget of a request buys a tree of 5
/// MB.
pub(super) fn steps(text: &[u8]) -> usize {
    let of_byte = |byte: &u8| match byte {
        b'{' => 128,
        b'[' => 32,
        b',' => 16,
        _ => 4,
    };
    text.iter().map(of_byte).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::{Json, look_up, steps};
    use crate::rules::value::Value;

    fn check(text: &str, keys: &[Value<'_>], want: &str) {
        let found = match look_up(text.as_bytes(), keys) {
            Some(Json::String(found)) => found,
            found => found.map_or("-".to_owned(), |found| found.to_string()),
        };
        assert_eq!(found, want, "{text} at {keys:?}");
    }

    #[test]
    fn keys_lead_through_objects_and_arrays() {
        let (a, b) = (Value::from("a"), Value::from("b"));
        let [first, second] = [0, 1].map(Value::Integer);
        check("7", &[], "7");
        check(r#""x\n""#, &[], "x\n");
        check(r#"{"b":[],"a":{"b":"x"}}"#, &[a.clone(), b.clone()], "x");
        check("[1,[2,3]]", &[second.clone(), first.clone()], "2");
        check("[1]", std::slice::from_ref(&second), "-");
        check("[1]", std::slice::from_ref(&a), "-");
        check(r#"{"0":1}"#, std::slice::from_ref(&first), "-");
        check("[1]", &[Value::Integer(-1)], "-");
        check("[[1]]", std::slice::from_ref(&first), "[1]");
        check("9223372036854775807", &[], "9223372036854775807");
        // Of equal names the last one counts.
        check(r#"{"a":1,"a":2}"#, std::slice::from_ref(&a), "2");
    }

    #[test]
    fn what_is_no_json_has_nothing() {
        let a = [Value::from("a")];
        for text in ["", "{", r#"{"a":1"#, r#"{"a":1}}"#, r#"{"a":1,}"#, r#"{"a":1,"b":tru}"#] {
            check(text, &a, "-");
        }
    }

    #[test]
    fn what_cannot_be_read_in_whole_has_nothing() {
        let (a, first) = ([Value::from("a")], Value::Integer(0));
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        check(&nested(127), &vec![first.clone(); 127], "1");
        check(&nested(128), &vec![first.clone(); 128], "-");
        check(&nested(100_000), &[first], "-");
        let beside = |other: &str| format!(r#"{{"b":{other},"a":1}}"#);
        check(&beside(&nested(126)), &a, "1");
        check(&beside(&nested(127)), &a, "-");
        check(&beside("1e308"), &a, "1");
        check(&beside("1e309"), &a, "-");
        check(&beside(r#""\ud800""#), &a, "-");
        assert_eq!(look_up(b"{\"b\":\"\xff\",\"a\":1}", &a), None);
    }

    #[test]
    fn what_allocates_most_costs_most() {
        let check = |text: &str, want: usize| assert_eq!(steps(text.as_bytes()), want, "{text}");
        check("", 0);
        check(r#""some text""#, 44);
        check(r#"{"id":7,"tags":["a","b"]}"#, 21 * 4 + 128 + 32 + 2 * 16);
        check(&"[".repeat(1_000), 32_000);
        check(&r#"{"":0},"#.repeat(1_000), 164_000);
    }
}
