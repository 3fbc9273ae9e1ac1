//! Expressions of bypass rules, in Cloudflare's Rules language: parsed once, and evaluated on
//! requests.
//!
//! An expression is checked when it is saved: names, types, patterns and lists. After that it
//! cannot fail. What a request does not have matches nothing, and an evaluation that would cost too
//! much ends without a match. All rules of one request together make at most `STEPS_MAX` steps of a
//! few nanoseconds each. A step is a node of the tree, a byte that is read or copied, a part of the
//! work for an element of an array, or a state of a regular expression that is visited for a byte.

mod address;
mod body;
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
pub use self::body::{BODY_BYTES_MAX, Body};
pub use self::budget::STEPS_MAX;
use self::budget::{StepBudget, Stop};
pub use self::error::ExpressionError;
use self::error::{Mistake, Span};
use self::eval::Evaluation;
pub use self::list::{KnownLists, List, ListKind, Lists};
pub use self::request::{RequestFields, RequestSource};
use self::tree::Node;
use crate::base::sorted::SortedMap;

/// The longest expression of a rule, in bytes. Ours: Cloudflare publishes none.
pub const MAX_EXPRESSION_BYTES: usize = 4_096;

/// The deepest nesting of parentheses, `not` and functions. Cloudflare allows 128; nobody can read
/// 64.
pub const DEPTH_MAX: usize = 64;

/// Parses and checks an expression, or says what is wrong with it.
///
/// It may refer to `known_lists`.
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
        return Err(ExpressionError::new(text, Mistake::new(span, message)));
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
    /// Returns the approximate memory of the expression's regular expressions, in bytes.
    pub fn regex_bytes(&self) -> usize {
        self.regex_bytes
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(formatter)
    }
}

/// The result of evaluating expressions on one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which expression matches, if any, or why the evaluation stopped.
    pub end: End,
    /// How many steps were made, [`STEPS_MAX`] at most.
    pub steps: usize,
}

/// How the evaluation of expressions on one request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The expression at this place, counted from 0, matches, and none before it does.
    Match(usize),
    /// No expression matches.
    NoMatch,
    /// [`STEPS_MAX`] steps were not enough. Expressions that were not finished do not match.
    Exhausted,
    /// Before any match, an expression needed something that an incomplete source does not have.
    Lacking,
}

/// Finds the first expression that matches the request. The expressions refer to `lists`; a missing
/// list has no items.
pub fn first_match<'e>(
    expressions: impl IntoIterator<Item = &'e Expression>,
    fields: &RequestFields<'_>,
    lists: &Lists,
) -> Outcome {
    let mut evaluation = Evaluation { fields, lists, budget: StepBudget { left: STEPS_MAX } };
    let mut end = End::NoMatch;
    for (place, expression) in expressions.into_iter().enumerate() {
        end = match evaluation.one(&expression.root) {
            // What the expression would say of such a path is not said of what the origin serves.
            // Nor of a body that did not come, or of what nobody tells.
            Ok(false) | Err(Stop::Ambiguous | Stop::Unreadable | Stop::Untold) => continue,
            Ok(true) => End::Match(place),
            Err(Stop::Exhausted) => End::Exhausted,
            Err(Stop::Lacking) => End::Lacking,
        };
        break;
    }
    Outcome { end, steps: STEPS_MAX - evaluation.budget.left }
}
