//! Finds one value in a JSON text without making a tree of the rest. Allocates only what it finds.

use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::value::Value;

/// What stands at the end of the keys.
pub(super) enum Found {
    Text(String),
    Integer(i64),
    /// Anything else, or nothing.
    Other,
}

/// What `keys` lead to in the JSON that `text` writes; `Other` if it writes none.
pub(super) fn look_up(text: &[u8], keys: &[Value<'_>]) -> Found {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let found = Keys(keys).deserialize(&mut deserializer);
    match (found, deserializer.end()) {
        (Ok(found), Ok(())) => found,
        _ => Found::Other,
    }
}

/// The keys that are left to follow.
struct Keys<'k>(&'k [Value<'k>]);

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = Found;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Found, E> {
        Ok(if self.0.is_empty() { Found::Integer(number) } else { Found::Other })
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Found, E> {
        i64::try_from(number).map_or(Ok(Found::Other), |number| self.visit_i64(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Found, E> {
        Ok(if self.0.is_empty() { Found::Text(text.to_owned()) } else { Found::Other })
    }

    fn visit_unit<E: Error>(self) -> Result<Found, E> {
        Ok(Found::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Found, A::Error> {
        let wanted = match self.0 {
            [Value::Integer(place), ..] => usize::try_from(*place).ok(),
            _ => None,
        };
        let mut found = Found::Other;
        for place in 0.. {
            if wanted == Some(place) {
                let Some(element) = elements.next_element_seed(self.rest())? else { break };
                found = element;
            } else if elements.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Found, A::Error> {
        let wanted = match self.0 {
            [Value::Text(name), ..] => Some(&**name),
            _ => None,
        };
        let mut found = Found::Other;
        // Of equal names the last one counts.
        while let Some(is_wanted) = entries.next_key_seed(IsName(wanted))? {
            if is_wanted {
                found = entries.next_value_seed(self.rest())?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

impl Keys<'_> {
    fn rest(&self) -> Keys<'_> {
        Keys(self.0.get(1..).unwrap_or_default())
    }
}

/// Whether a name is the wanted one.
struct IsName<'n>(Option<&'n [u8]>);

impl<'de> DeserializeSeed<'de> for IsName<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for IsName<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, look_up};
    use crate::rule::value::Value;

    fn check(text: &str, keys: &[Value<'_>], want: &str) {
        let found = match look_up(text.as_bytes(), keys) {
            Found::Text(found) => found,
            Found::Integer(found) => found.to_string(),
            Found::Other => "-".to_owned(),
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
        check("[[1]]", std::slice::from_ref(&first), "-");
        check("9223372036854775807", &[], "9223372036854775807");
        check("9223372036854775808", &[], "-");
        for other in ["1.5", "true", "null", "[]", "{}"] {
            check(other, &[], "-");
        }
        // Of equal names the last one counts.
        check(r#"{"a":1,"a":2}"#, std::slice::from_ref(&a), "2");
    }

    #[test]
    fn what_is_no_json_has_nothing() {
        let a = [Value::from("a")];
        for text in ["", "{", r#"{"a":1"#, r#"{"a":1}}"#, r#"{"a":1,}"#, r#"{"a":1,"b":tru}"#] {
            check(text, &a, "-");
        }
        // What is passed over may be as deep as it likes, what is followed may not.
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        check(&format!(r#"{{"b":{nested},"a":1}}"#), &a, "1");
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        check(&deep, &vec![Value::Integer(0); 200], "-");
    }
}
