//! The functions of the rules language: their names and signatures.

use super::tree::{Scalar, Type};

/// A function of the rules language. `any` and `all` are not included, since they are part of the
/// grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Concat,
    EndsWith,
    HasKey,
    HasValue,
    IsTimedHmacValid,
    Len,
    LookupJsonInteger,
    LookupJsonString,
    Lower,
    RemoveBytes,
    StartsWith,
    Substring,
    Upper,
    UrlDecode,
}

/// What may be one argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// An integer, literal or from the request.
    Integer,
    /// A literal integer.
    IntegerLiteral,
    /// A name or a place in JSON: a quoted text, or an integer from 0.
    Key,
    /// A whole map of the request.
    Map,
    /// A text, literal or from the request.
    Text,
    /// An array of texts.
    TextArray,
    /// A quoted text.
    TextLiteral,
    /// A text from the request.
    TextOfRequest,
    /// A text, or an array of anything.
    TextOrArray,
}

impl Parameter {
    /// Returns what is allowed here, as errors say it.
    pub fn description(self) -> &'static str {
        match self {
            Self::Integer => "an integer",
            Self::IntegerLiteral => "a written integer",
            Self::Key => "a quoted name or an integer from 0",
            Self::Map => "a map, like http.request.headers",
            Self::Text => "a text",
            Self::TextArray => "an array of texts",
            Self::TextLiteral => "a quoted text",
            Self::TextOfRequest => "a text of the request, not a quoted one",
            Self::TextOrArray => "a text or an array",
        }
    }
}

/// How a function is called, and the type of its result.
#[derive(Debug)]
pub(super) struct Signature {
    pub name: &'static str,
    pub function: Function,
    /// The parameters. The last one may be repeated if `is_variadic`.
    pub parameters: &'static [Parameter],
    /// The number of required parameters. The others may be left out.
    pub required: usize,
    pub is_variadic: bool,
    /// The type of the result. `concat` of arrays gives an array instead.
    pub result: Type,
    /// How to call the function, as errors say it.
    pub usage: &'static str,
}

/// Finds the function of this name.
pub(super) fn find(name: &str) -> Option<&'static Signature> {
    SIGNATURES.iter().find(|signature| signature.name == name)
}

/// Iterates over the names of all functions, including `any` and `all`, to find a meant one.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SIGNATURES.iter().map(|signature| signature.name).chain(["any", "all"])
}

/// Whether Cloudflare has a function of this name, but not in bypass rules.
pub(super) fn is_of_other_products(name: &str) -> bool {
    OF_OTHER_PRODUCTS.contains(&name)
}

impl Function {
    /// Returns the function's name in expressions.
    pub fn name(self) -> &'static str {
        let signature = SIGNATURES.iter().find(|signature| signature.function == self);
        signature.map_or("", |signature| signature.name)
    }
}

const fn fixed(
    name: &'static str,
    function: Function,
    parameters: &'static [Parameter],
    result: Scalar,
    usage: &'static str,
) -> Signature {
    let required = parameters.len();
    let result = Type::One(result);
    Signature { name, function, parameters, required, is_variadic: false, result, usage }
}

const fn variadic(mut signature: Signature) -> Signature {
    signature.is_variadic = true;
    signature
}

/// Makes the last `count` parameters optional.
const fn optional(count: usize, mut signature: Signature) -> Signature {
    signature.required -= count;
    signature
}

use Parameter::{
    Integer, IntegerLiteral, Key, Map, Text, TextArray, TextLiteral, TextOfRequest, TextOrArray,
};

static SIGNATURES: &[Signature] = &[
    variadic(fixed(
        "concat",
        Function::Concat,
        &[TextOrArray],
        Scalar::Text,
        "concat(text, text, ...) or concat(array, array, ...)",
    )),
    fixed(
        "ends_with",
        Function::EndsWith,
        &[TextOfRequest, Text],
        Scalar::Boolean,
        "ends_with(text, ending)",
    ),
    fixed(
        "has_key",
        Function::HasKey,
        &[Map, TextLiteral],
        Scalar::Boolean,
        "has_key(map, \"name\")",
    ),
    fixed(
        "has_value",
        Function::HasValue,
        &[TextArray, Text],
        Scalar::Boolean,
        "has_value(array, text)",
    ),
    optional(
        2,
        fixed(
            "is_timed_hmac_valid_v0",
            Function::IsTimedHmacValid,
            &[TextLiteral, TextOfRequest, IntegerLiteral, Integer, IntegerLiteral, TextLiteral],
            Scalar::Boolean,
            "is_timed_hmac_valid_v0(key, message, seconds to live, now, separator length, \"s\")",
        ),
    ),
    fixed("len", Function::Len, &[TextOrArray], Scalar::Integer, "len(text or array)"),
    variadic(fixed(
        "lookup_json_integer",
        Function::LookupJsonInteger,
        &[TextOfRequest, Key],
        Scalar::Integer,
        "lookup_json_integer(text, key, ...)",
    )),
    variadic(fixed(
        "lookup_json_string",
        Function::LookupJsonString,
        &[TextOfRequest, Key],
        Scalar::Text,
        "lookup_json_string(text, key, ...)",
    )),
    fixed("lower", Function::Lower, &[Text], Scalar::Text, "lower(text)"),
    fixed(
        "remove_bytes",
        Function::RemoveBytes,
        &[Text, TextLiteral],
        Scalar::Text,
        "remove_bytes(text, \"bytes\")",
    ),
    fixed(
        "starts_with",
        Function::StartsWith,
        &[TextOfRequest, Text],
        Scalar::Boolean,
        "starts_with(text, beginning)",
    ),
    optional(
        1,
        fixed(
            "substring",
            Function::Substring,
            &[TextOfRequest, Integer, Integer],
            Scalar::Text,
            "substring(text, start) or substring(text, start, end)",
        ),
    ),
    fixed("upper", Function::Upper, &[Text], Scalar::Text, "upper(text)"),
    optional(
        1,
        fixed(
            "url_decode",
            Function::UrlDecode,
            &[TextOfRequest, TextLiteral],
            Scalar::Text,
            "url_decode(text) or url_decode(text, \"r\")",
        ),
    ),
];

static OF_OTHER_PRODUCTS: &[&str] = &[
    "bit_slice",
    "cidr",
    "cidr6",
    "decode_base64",
    "encode_base64",
    "join",
    "regex_replace",
    "remove_query_args",
    "sha256",
    "split",
    "to_string",
    "uuidv4",
    "wildcard_replace",
];

#[cfg(test)]
mod tests {
    use super::{SIGNATURES, find, is_of_other_products};

    #[test]
    fn every_function_has_one_signature() {
        assert!(SIGNATURES.is_sorted_by(|one, next| one.name < next.name));
        for signature in SIGNATURES {
            assert_eq!(signature.function.name(), signature.name);
            assert!(signature.usage.starts_with(signature.name), "{}", signature.usage);
            assert!(!is_of_other_products(signature.name), "{}", signature.name);
            assert!((1..=signature.parameters.len()).contains(&signature.required));
        }
        assert!(find("any").is_none());
    }
}
