//! Calls the functions of the rules language. The arguments fit the signature: `check` has verified
//! it.

use std::borrow::Cow;

use percent_encoding::percent_decode;
use serde_json::Value as Json;

use super::budget::{ELEMENT_STEPS, StepBudget, Stop};
use super::function::Function;
use super::hmac;
use super::json::{self, look_up};
use super::value::Value;

/// Calls a function. The result is missing if an argument is; `concat` leaves missing arguments
/// out.
pub(super) fn apply<'v>(
    function: Function,
    first: Value<'v>,
    others: &[Value<'v>],
    budget: &mut StepBudget,
) -> Result<Value<'v>, Stop> {
    if function == Function::Concat {
        return concat(first, others, budget);
    }
    if let (Function::Len, Value::Array(elements)) = (function, &first) {
        return Ok(count(elements.len()));
    }
    if let (Function::HasValue, Value::Array(elements), [Value::Text(wanted)]) =
        (function, &first, others)
    {
        let compared = wanted.len().saturating_add(ELEMENT_STEPS);
        budget.spend(elements.len().saturating_mul(compared))?;
        let is_wanted = |one: &Value<'_>| matches!(one, Value::Text(text) if text == wanted);
        return Ok(Value::Boolean(elements.iter().any(is_wanted)));
    }
    let Value::Text(text) = first else { return Ok(Value::Missing) };
    budget.spend(steps(function, &text, others))?;
    Ok(match (function, others) {
        (Function::EndsWith, [Value::Text(end)]) => Value::Boolean(text.ends_with(end)),
        (Function::IsTimedHmacValid, [Value::Text(message), rest @ ..]) => {
            hmac::validity(&text, message, rest)
        }
        (Function::Len, []) => count(text.len()),
        (Function::LookupJsonInteger, keys) => {
            let found = look_up(&text, keys).and_then(|found| found.as_i64());
            found.map_or(Value::Missing, Value::Integer)
        }
        (Function::LookupJsonString, keys) => match look_up(&text, keys) {
            Some(Json::String(found)) => Value::from(Cow::Owned(found)),
            _ => Value::Missing,
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

/// Returns the steps of a call, without those that the function spends itself.
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
        // Keys are looked for where fields are read, values above.
        Function::HasKey
        | Function::HasValue
        | Function::Len
        | Function::Concat
        | Function::UrlDecode => 1,
        Function::LookupJsonInteger | Function::LookupJsonString => {
            json::steps(text).saturating_add(others)
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
    budget: &mut StepBudget,
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

/// Applies `map` to the text. It is copied only if there is a byte for which `changes` is true.
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

/// Returns the bytes from `start` to before `end`; negative numbers count from the end of the text.
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

/// Decodes `+` to a space, and `%` with two hexadecimal digits to a byte. With the option `r` this
/// is repeated until nothing changes. With `u`, `%u` with four hexadecimal digits is decoded to a
/// character too.
fn url_decode<'v>(
    mut text: Cow<'v, [u8]>,
    options: &[u8],
    budget: &mut StepBudget,
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

/// Decodes a text once. Characters from `%u` are not decoded any further: a `%` among them begins
/// no other encoding.
fn decode_once(text: &[u8], is_unicode: bool) -> Vec<u8> {
    let text: Vec<u8> = text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = &*text;
    while is_unicode && let Some((before, character, behind)) = first_unicode(rest) {
        decoded.extend(percent_decode(before));
        decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = behind;
    }
    decoded.extend(percent_decode(rest));
    decoded
}

/// Finds the first character written as `%u` and four hexadecimal digits. Returns the text before
/// it, the character and the text behind it. Half of a surrogate pair is no character.
fn first_unicode(text: &[u8]) -> Option<(&[u8], char, &[u8])> {
    (0..text.len()).find_map(|place| {
        let (before, rest) = text.split_at_checked(place)?;
        let (digits, behind) = rest.strip_prefix(b"%u")?.split_first_chunk::<4>()?;
        let mut unit = [0; 2];
        base16ct::mixed::decode(digits, &mut unit).ok()?;
        Some((before, char::from_u32(u16::from_be_bytes(unit).into())?, behind))
    })
}
