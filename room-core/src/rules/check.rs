//! The type check of the rules language: which operator, index and argument fits which type.

use super::error::{Mistake, Span};
use super::function::{Function, Parameter, Signature};
use super::tree::{Argument, Index, Scalar, Type};

/// An operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    BitwiseAnd,
    Contains,
    In,
    Matches,
    Relation(super::tree::Relation),
    Wildcard { is_strict: bool },
}

impl Type {
    /// Returns the name of a value of this type in errors.
    pub fn description(self) -> &'static str {
        match self {
            Self::One(Scalar::Boolean) => "a Boolean",
            Self::One(Scalar::Integer) => "an integer",
            Self::One(Scalar::Ip) => "an IP address",
            Self::One(Scalar::Text) => "a text",
            Self::Array(Scalar::Boolean) => "an array of Booleans",
            Self::Array(Scalar::Integer) => "an array of integers",
            Self::Array(Scalar::Ip) => "an array of IP addresses",
            Self::Array(Scalar::Text) => "an array of texts",
            Self::Map => "a map of arrays",
        }
    }
}

/// Returns the type of what is compared, or an error if the operand is an array or a map. `operand`
/// is its text.
pub(super) fn comparable(kind: Type, operand: &str, span: Span) -> Result<Scalar, Mistake> {
    let advice = match kind {
        Type::One(scalar) => return Ok(scalar),
        Type::Array(_) => {
            format!("take one element, like {operand}[0], or any({operand}[*] == ...)")
        }
        Type::Map => format!("take one entry, like {operand}[\"name\"][0]"),
    };
    let message = format!("{} is {} and cannot be compared: {advice}", operand, kind.description());
    Err(Mistake::new(span, message))
}

/// Returns an error if the operator does not fit the type on its left. `written` is its text.
pub(super) fn operator(
    operator: Operator,
    written: &str,
    scalar: Scalar,
    span: Span,
) -> Result<(), Mistake> {
    use super::tree::Relation::{Equal, NotEqual};
    let fits = match scalar {
        Scalar::Boolean => false,
        Scalar::Integer => {
            matches!(operator, Operator::BitwiseAnd | Operator::In | Operator::Relation(_))
        }
        Scalar::Ip => {
            matches!(operator, Operator::In | Operator::Relation(Equal | NotEqual))
        }
        Scalar::Text => operator != Operator::BitwiseAnd,
    };
    if fits {
        return Ok(());
    }
    let kind = Type::One(scalar).description();
    Err(Mistake::new(span, format!("{written} does not fit {kind}: {}", operators_of(scalar))))
}

/// Returns the operators that errors name for a value of this type.
pub(super) fn operators_of(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Boolean => "it stands alone, or behind not",
        Scalar::Integer => "use eq, ne, lt, le, gt, ge or in",
        Scalar::Ip => "use eq, ne or in",
        Scalar::Text => {
            "use eq, ne, lt, le, gt, ge, contains, matches, wildcard, strict wildcard or in"
        }
    }
}

/// Returns the type of what `index` finds in a value of type `kind`.
pub(super) fn indexed(kind: Type, index: &Index, span: Span) -> Result<Type, Mistake> {
    let message = match (kind, index) {
        (Type::Array(scalar), Index::At(_) | Index::Each) => return Ok(Type::One(scalar)),
        (Type::Map, Index::Key(_) | Index::Each) => return Ok(Type::Array(Scalar::Text)),
        (Type::One(_), _) => format!("{} has no elements", kind.description()),
        (Type::Array(_), Index::Key(_)) => {
            "elements of an array are found by number, like [0], or all of them by [*]".to_owned()
        }
        (Type::Map, Index::At(_)) => {
            "entries of a map are found by name, like [\"name\"]".to_owned()
        }
    };
    Err(Mistake::new(span, message))
}

/// What was written as one argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    IntegerLiteral,
    NegativeLiteral,
    TextLiteral,
    Value { kind: Type, is_mapped: bool },
}

impl Given {
    fn description(self) -> &'static str {
        match self {
            Self::IntegerLiteral | Self::NegativeLiteral => "a written integer",
            Self::TextLiteral => "a quoted text",
            Self::Value { kind, .. } => kind.description(),
        }
    }
}

/// Returns the type of a call. An error is at the wrong argument or at `name`.
pub(super) fn call(
    signature: &Signature,
    arguments: &[(Given, Span)],
    name: Span,
) -> Result<Type, Mistake> {
    let places = signature.parameters.len();
    let is_complete = arguments.len() >= signature.required;
    if !is_complete || (arguments.len() > places && !signature.is_variadic) {
        let count = arguments.len();
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{count} argument{plural} do not fit: {}", signature.usage);
        return Err(Mistake::new(name, message));
    }
    for (place, (given, span)) in arguments.iter().enumerate() {
        let parameter = signature.parameters.get(place).or(signature.parameters.last());
        if let Some(parameter) = parameter {
            argument(signature, *parameter, *given, *span)?;
        }
        if place > 0 && matches!(given, Given::Value { is_mapped: true, .. }) {
            return Err(Mistake::new(
                *span,
                "[*] can stand only in the first argument of a function",
            ));
        }
    }
    let result = result_of_concat(signature, arguments)?;
    let Some((Given::Value { is_mapped: true, .. }, span)) = arguments.first() else {
        return Ok(result);
    };
    match result {
        Type::One(scalar) => Ok(Type::Array(scalar)),
        Type::Array(_) | Type::Map => Err(Mistake::new(*span, "this gives an array for each [*]")),
    }
}

fn argument(
    signature: &Signature,
    parameter: Parameter,
    given: Given,
    span: Span,
) -> Result<(), Mistake> {
    let value = match given {
        Given::Value { kind, .. } => Some(kind),
        Given::IntegerLiteral | Given::NegativeLiteral | Given::TextLiteral => None,
    };
    let is_text = value == Some(Type::One(Scalar::Text));
    let is_integer = matches!(given, Given::IntegerLiteral | Given::NegativeLiteral);
    let fits = match parameter {
        Parameter::Integer => is_integer || value == Some(Type::One(Scalar::Integer)),
        Parameter::IntegerLiteral => is_integer,
        Parameter::Key => matches!(given, Given::IntegerLiteral | Given::TextLiteral),
        Parameter::Map => value == Some(Type::Map),
        Parameter::TextArray => value == Some(Type::Array(Scalar::Text)),
        Parameter::Text => is_text || given == Given::TextLiteral,
        Parameter::TextLiteral => given == Given::TextLiteral,
        Parameter::TextOfRequest => is_text,
        Parameter::TextOrArray => {
            is_text || given == Given::TextLiteral || matches!(value, Some(Type::Array(_)))
        }
    };
    if fits {
        return Ok(());
    }
    let wanted = parameter.description();
    let usage = signature.usage;
    let message = format!("this must be {wanted}, but is {}: {usage}", given.description());
    Err(Mistake::new(span, message))
}

/// Returns the type of a call's result. It is that of the signature, but `concat` of arrays gives
/// such an array.
fn result_of_concat(signature: &Signature, arguments: &[(Given, Span)]) -> Result<Type, Mistake> {
    let takes_arrays = signature.parameters.first() == Some(&Parameter::TextOrArray);
    if !takes_arrays || !signature.is_variadic {
        return Ok(signature.result);
    }
    let kind = |given: &Given| match given {
        Given::Value { kind, .. } => *kind,
        _ => Type::One(Scalar::Text),
    };
    let first = arguments.first().map_or(signature.result, |(given, _)| kind(given));
    match arguments.iter().find(|(given, _)| kind(given) != first) {
        None => Ok(first),
        Some((given, span)) => {
            let (first, other) = (first.description(), given.description());
            let message = format!("all must be of one type, but this is {other} behind {first}");
            Err(Mistake::new(*span, message))
        }
    }
}

/// Returns an error if a literal argument, like the options of `url_decode`, has a value that its
/// function does not know.
pub(super) fn literals(
    function: Function,
    arguments: &[Argument],
    given: &[(Given, Span)],
) -> Result<(), Mistake> {
    for (place, (argument, (_, span))) in arguments.iter().zip(given).enumerate() {
        let message = match (function, place, argument) {
            (Function::UrlDecode, 1, Argument::Text(options))
                if !options.iter().all(|option| matches!(option, b'r' | b'u')) =>
            {
                "the options of url_decode are \"r\", \"u\" and \"ur\""
            }
            (Function::IsTimedHmacValid, 0, Argument::Text(key)) if key.is_empty() => {
                "the key must not be empty"
            }
            (Function::IsTimedHmacValid, 2 | 4, Argument::Integer(..0)) => {
                "this integer must be 0 or more"
            }
            (Function::IsTimedHmacValid, 5, Argument::Text(flags)) if **flags != *b"s" => {
                "the only flag is \"s\""
            }
            _ => continue,
        };
        return Err(Mistake::new(*span, message));
    }
    Ok(())
}
