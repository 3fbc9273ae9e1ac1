//! The tree of a checked expression: its types fit, and its patterns are compiled.

use std::net::IpAddr;

use super::address::IpRange;
use super::field::Field;
use super::function::Function;
use super::pattern::{Needle, Pattern, Wildcard};

/// The type of a single value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Boolean,
    Integer,
    Ip,
    Text,
}

/// The type of a field, of the result of a function, or of an element of either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    One(Scalar),
    Array(Scalar),
    /// A map from names to arrays of texts, the only kind of map.
    Map,
}

/// A part of an expression that gives one Boolean, or an array of them.
///
/// Invariant: a tree is as deep as its text is nested, so the parser's limit bounds its depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Constant(bool),
    /// At least two terms, which all give one Boolean, or all an array.
    Logic(Logic, Vec<Node>),
    Not(Box<Node>),
    /// `any(...)` or `all(...)`; the inner node gives an array of Booleans.
    Quantified(Quantifier, Box<Node>),
    /// A field or a function that is a Boolean, or an array of them.
    Bare(Operand),
    Comparison(Operand, Test),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logic {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantifier {
    All,
    Any,
}

/// A field of the request or the result of a function, and the indexes behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub base: Base,
    pub indexes: Vec<Index>,
}

impl Operand {
    /// Whether it has a `[*]`, so that it stands for each element of an array.
    pub fn is_mapped(&self) -> bool {
        self.indexes.contains(&Index::Each)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Call(Call),
    Field(&'static Field),
}

/// A call of a function. The arguments fit its signature, and only the first may have a `[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub function: Function,
    pub arguments: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Integer(i64),
    Text(Box<[u8]>),
    Value(Operand),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Index {
    /// `[n]`, from 0.
    At(u32),
    /// `[*]`
    Each,
    /// `["name"]`
    Key(Box<[u8]>),
}

/// How an operand is tested, and against what. It fits the operand's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// Whether a bit is set in both numbers.
    BitwiseAnd(i64),
    Contains(Box<Needle>),
    InIntegers(Vec<IntegerRange>),
    InIps(Vec<IpRange>),
    /// The name of a list, whose kind fits the operand.
    InList(Box<str>),
    InTexts(Vec<Box<[u8]>>),
    Integer(Relation, i64),
    /// True for equal, false for not equal.
    Ip(bool, IpAddr),
    Matches(Pattern),
    Text(Relation, Box<[u8]>),
    Wildcard(Wildcard),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    NotEqual,
}

/// The integers from `first` to `last`, both included. `first` is not above `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntegerRange {
    pub first: i64,
    pub last: i64,
}
