//! An expression that is checked: its types fit, its patterns are compiled. Evaluates nothing.

use std::net::IpAddr;

use super::address::IpRange;
use super::field::Field;
use super::function::Function;
use super::pattern::{Needle, Pattern, Wildcard};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Boolean,
    Integer,
    Ip,
    Text,
}

/// What a field, a function or an element of it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    One(Scalar),
    Array(Scalar),
    /// Of arrays of texts, by name; the only map there is.
    Map,
}

/// One or many Booleans.
///
/// Invariant: a tree is as deep as its text is nested, so its depth has the parser's limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Constant(bool),
    /// At least two terms, of one shape.
    Logic(Logic, Vec<Node>),
    Not(Box<Node>),
    /// The inner node has many Booleans.
    Quantified(Quantifier, Box<Node>),
    /// A Boolean, or an array of them.
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

/// A value of the request, or made of such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub base: Base,
    pub indexes: Vec<Index>,
}

impl Operand {
    /// True if it stands for each element of an array.
    pub fn is_mapped(&self) -> bool {
        self.indexes.contains(&Index::Each)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Call(Call),
    Field(&'static Field),
}

/// `arguments` fit the signature of `function`; only the first may stand for each element.
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

/// What is asked of an operand; it fits the operand's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// True if a bit of both is set.
    BitwiseAnd(i64),
    Contains(Box<Needle>),
    InIntegers(Vec<IntegerRange>),
    InIps(Vec<IpRange>),
    /// The name of a list of the operand's kind.
    InList(Box<str>),
    InTexts(Vec<Box<[u8]>>),
    Integer(Relation, i64),
    /// Equal, or not equal.
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

/// From `first` to `last`, both included; `first` is not above `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntegerRange {
    pub first: i64,
    pub last: i64,
}
