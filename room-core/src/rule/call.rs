//! What each function makes of its arguments, which fit its signature. Bounded by a budget.

use std::borrow::Cow;

use super::budget::{Budget, ELEMENT_STEPS, Stop};
use super::function::Function;
use super::hmac;
use super::json::{Found, look_up};
use super::value::Value;

/// The result; missing if an argument is, but for `concat`, which leaves it out.
pub(super) fn apply<'v>(
    function: Function,
    first: Value<'v>,
    others: &[Value<'v>],
    budget: &mut Budget,
) -> Result<Value<'v>, Stop> {
    if function == Function::Concat {
        return concat(first, others, budget);
    }
    if let (Function::Len, Value::Array(elements)) = (function, &first) {
        return Ok(count(elements.len()));
    }
    let Value::Text(text) = first else { return Ok(Value::Missing) };
    budget.spend(steps(function, &text, others))?;
    Ok(match (function, others) {
        (Function::EndsWith, [Value::Text(end)]) => Value::Boolean(text.ends_with(end)),
        (Function::IsTimedHmacValid, [Value::Text(message), rest @ ..]) => {
            hmac::validity(&text, message, rest)
        }
        (Function::Len, []) => count(text.len()),
        (Function::LookupJsonInteger, keys) => match look_up(&text, keys) {
            Found::Integer(found) => Value::Integer(found),
            Found::Text(_) | Found::Other => Value::Missing,
        },
        (Function::LookupJsonString, keys) => match look_up(&text, keys) {
            Found::Text(found) => Value::from(Cow::Owned(found)),
            Found::Integer(_) | Found::Other => Value::Missing,
        },
        (Function::Lower, []) => {
            map_bytes(text, u8::is_ascii_uppercase, <[u8]>::make_ascii_lowercase)
        }
        (Function::RemoveBytes, [Value::Text(removed)]) => remove(text, removed),
        (Function::StartsWith, [Value::Text(start)]) => Value::Boolean(text.starts_with(start)),
        (Function::Substring, [Value::Integer(start)]) => substring(text, *start, None),
        (Function::Substring, [Value::Integer(start), Value::Integer(end)]) => {
            substring(text, *start, Some(*end))
        }
        (Function::Upper, []) => {
            map_bytes(text, u8::is_ascii_lowercase, <[u8]>::make_ascii_uppercase)
        }
        (Function::UrlDecode, []) => Value::Text(url_decode(text, &[], budget)?),
        (Function::UrlDecode, [Value::Text(options)]) => {
            Value::Text(url_decode(text, options, budget)?)
        }
        _ => Value::Missing,
    })
}

/// What a call costs beside what it pays for itself.
fn steps(function: Function, text: &[u8], others: &[Value<'_>]) -> usize {
    let bytes = |value: &Value<'_>| match value {
        Value::Text(text) => text.len(),
        _ => 1,
    };
    let others: usize = others.iter().map(bytes).sum();
    match function {
        Function::EndsWith | Function::StartsWith => others.saturating_add(1),
        // Two blocks of the key and the digest of the digest, about 8 steps a byte.
        Function::IsTimedHmacValid => {
            text.len().saturating_add(others).saturating_add(256).saturating_mul(8)
        }
        Function::Len | Function::Concat | Function::UrlDecode => 1,
        // Each byte is read once, and each name compared with a key.
        Function::LookupJsonInteger | Function::LookupJsonString => {
            text.len().saturating_mul(4).saturating_add(others)
        }
        Function::Lower | Function::Substring | Function::Upper => {
            text.len().saturating_add(ELEMENT_STEPS)
        }
        // A table of all bytes is made first.
        Function::RemoveBytes => text.len().saturating_add(others).saturating_add(64),
    }
}

fn count<'v>(count: usize) -> Value<'v> {
    i64::try_from(count).map_or(Value::Missing, Value::Integer)
}

fn concat<'v>(
    first: Value<'v>,
    others: &[Value<'v>],
    budget: &mut Budget,
) -> Result<Value<'v>, Stop> {
    let is_array = |value: &&Value<'v>| matches!(value, Value::Array(_));
    if is_array(&&first) || others.iter().any(|other| is_array(&other)) {
        let mut joined = Vec::new();
        for value in std::iter::once(&first).chain(others) {
            if let Value::Array(elements) = value {
                for element in elements {
                    let bytes = if let Value::Text(text) = element { text.len() } else { 0 };
                    budget.spend(bytes.saturating_add(ELEMENT_STEPS))?;
                    joined.push(element.clone());
                }
            }
        }
        return Ok(Value::Array(joined));
    }
    let mut joined = match first {
        Value::Text(text) if others.is_empty() => return Ok(Value::Text(text)),
        Value::Text(text) => {
            budget.spend(text.len())?;
            text.into_owned()
        }
        _ => Vec::new(),
    };
    for other in others {
        if let Value::Text(text) = other {
            budget.spend(text.len())?;
            joined.extend_from_slice(text);
        }
    }
    Ok(Value::Text(Cow::Owned(joined)))
}

/// Copies only if a byte changes.
fn map_bytes(
    mut text: Cow<'_, [u8]>,
    changes: impl Fn(&u8) -> bool,
    map: impl Fn(&mut [u8]),
) -> Value<'_> {
    if text.iter().any(changes) {
        map(text.to_mut());
    }
    Value::Text(text)
}

fn remove<'v>(text: Cow<'v, [u8]>, removed: &[u8]) -> Value<'v> {
    let mut is_removed = [false; 256];
    for byte in removed {
        if let Some(flag) = is_removed.get_mut(usize::from(*byte)) {
            *flag = true;
        }
    }
    let stays = |byte: &u8| !is_removed.get(usize::from(*byte)).copied().unwrap_or_default();
    if text.iter().all(stays) {
        return Value::Text(text);
    }
    Value::Text(Cow::Owned(text.iter().copied().filter(stays).collect()))
}

/// From `start` to before `end`; negative ones count from the end of the text.
fn substring(text: Cow<'_, [u8]>, start: i64, end: Option<i64>) -> Value<'_> {
    let place = |index: i64| {
        let distance = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        if index < 0 { text.len().saturating_sub(distance) } else { distance.min(text.len()) }
    };
    let range = place(start)..end.map_or(text.len(), place);
    Value::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_vec()),
    })
}

/// `+`, and `%` with two hex digits, decoded; by the options until nothing changes (`r`), and `%u`
/// with four hex digits too (`u`).
fn url_decode<'v>(
    mut text: Cow<'v, [u8]>,
    options: &[u8],
    budget: &mut Budget,
) -> Result<Cow<'v, [u8]>, Stop> {
    loop {
        budget.spend(text.len().saturating_mul(2))?;
        if !text.iter().any(|byte| matches!(byte, b'%' | b'+')) {
            return Ok(text);
        }
        let decoded = decode_once(&text, options.contains(&b'u'));
        if decoded == *text || !options.contains(&b'r') {
            return Ok(Cow::Owned(decoded));
        }
        text = Cow::Owned(decoded);
    }
}

fn decode_once(text: &[u8], is_unicode: bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        rest = match *rest {
            [] => return decoded,
            [b'+', ref rest @ ..] => {
                decoded.push(b' ');
                rest
            }
            [b'%', b'u', ref digits @ ..] if is_unicode && unicode(digits).is_some() => {
                let character = unicode(digits).unwrap_or(char::REPLACEMENT_CHARACTER);
                decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                digits.get(4..).unwrap_or_default()
            }
            [b'%', high, low, ref rest @ ..] if hexadecimal(&[high, low]).is_some() => {
                decoded.extend(hexadecimal(&[high, low]).and_then(|byte| u8::try_from(byte).ok()));
                rest
            }
            [byte, ref rest @ ..] => {
                decoded.push(byte);
                rest
            }
        };
    }
}

/// The character of the four digits at the start; half of a pair is none.
fn unicode(digits: &[u8]) -> Option<char> {
    char::from_u32(hexadecimal(digits.get(..4)?)?)
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0_u32, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
