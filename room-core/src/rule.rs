//! Bypass rules: expressions in the rules language of the original, parsed once and evaluated on
//! requests. Reads no request by itself and knows no room.
//!
//! An expression is checked when it is saved: names, types, patterns and lists. After that it
//! cannot fail: what a request does not have matches nothing, and what would cost too much
//! bypasses nobody. Beside the checked limits, an evaluation of all rules of a request makes at
//! most `STEPS_MAX` steps of a few nanoseconds: nodes of the tree, bytes read or copied, elements
//! of arrays, states of a regular expression visited for a byte.

mod address;
mod budget;
mod call;
mod check;
mod comparison;
mod error;
mod eval;
mod field;
mod function;
mod hmac;
mod json;
mod lex;
mod list;
mod parse;
mod pattern;
mod print;
mod request;
mod tree;
mod value;

use std::fmt;
use std::sync::Arc;

pub use self::address::{IpRange, RangeError};
pub use self::budget::STEPS_MAX;
use self::budget::{Budget, Stop};
pub use self::error::ExpressionError;
use self::error::{Fault, Span};
use self::eval::Evaluation;
pub use self::list::{KnownLists, List, ListKind, Lists};
pub use self::request::{RequestFields, RequestSource};
use self::tree::Node;
use crate::bypass_rule::MAX_EXPRESSION_BYTES;
use crate::sorted::SortedMap;

/// Parentheses, `not` and functions inside of each other, at most. The original allows 128 of
/// them; nobody can read 64.
pub const DEPTH_MAX: usize = 64;

/// The expression that `text` writes, or what is wrong with it.
///
/// `known_lists` are the lists that it may refer to.
pub fn parse_rule_expression(
    text: &str,
    known_lists: &SortedMap<String, ListKind>,
) -> Result<Expression, ExpressionError> {
    if text.len() > MAX_EXPRESSION_BYTES {
        let mut end = MAX_EXPRESSION_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let message =
            format!("must be at most {MAX_EXPRESSION_BYTES} bytes long, but has {}", text.len());
        let span = Span { start: end, end: text.len() };
        return Err(ExpressionError::new(text, Fault::new(span, message)));
    }
    let (root, regex_bytes) =
        parse::parse(text, known_lists).map_err(|fault| ExpressionError::new(text, fault))?;
    Ok(Expression { root: Arc::new(root), regex_bytes })
}

/// A checked expression, cheap to clone. It displays as a text that parses to an equal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    root: Arc<Node>,
    regex_bytes: usize,
}

impl Expression {
    /// What its regular expressions take in memory, in bytes, nearly.
    pub fn regex_bytes(&self) -> usize {
        self.regex_bytes
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(formatter)
    }
}

/// What expressions say of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether one of them matches.
    pub end: End,
    /// Steps that were made.
    pub steps: usize,
}

/// How the evaluation of expressions on one request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one at this place matches, and none before it.
    Match(usize),
    /// None matches.
    NoMatch,
    /// `STEPS_MAX` was not enough: what was not finished matches nothing.
    Exhausted,
    /// One that comes before any match asks for what an incomplete source does not tell.
    Lacking,
}

/// The first expression that matches the request. They refer to `lists`; one that is not there has
/// no items.
pub fn first_match<'e>(
    expressions: impl IntoIterator<Item = &'e Expression>,
    fields: &RequestFields<'_>,
    lists: &Lists,
) -> Outcome {
    let mut evaluation = Evaluation { fields, lists, budget: Budget { left: STEPS_MAX } };
    let mut end = End::NoMatch;
    for (place, expression) in expressions.into_iter().enumerate() {
        end = match evaluation.one(&expression.root) {
            Ok(false) => continue,
            Ok(true) => End::Match(place),
            Err(Stop::Exhausted) => End::Exhausted,
            Err(Stop::Lacking) => End::Lacking,
        };
        break;
    }
    Outcome { end, steps: STEPS_MAX - evaluation.budget.left }
}
