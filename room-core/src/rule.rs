//! Bypass rules: expressions in the rules language of the original, parsed once and evaluated on
//! requests. Reads no request by itself and knows no room.
//!
//! An expression is checked when it is saved: names, types, patterns and lists. After that it
//! cannot fail: what a request does not have matches nothing, and what would cost too much
//! bypasses nobody. Beside the checked limits, an evaluation of all rules of a request makes at
//! most `STEPS_MAX` steps, each a few nanoseconds: a node of the tree, a byte read or copied, or a
//! state of a regular expression visited for a byte.

mod address;
mod call;
mod check;
mod comparison;
mod error;
mod eval;
mod field;
mod function;
mod hmac;
mod lex;
mod list;
mod parse;
mod pattern;
mod print;
mod request;
mod tree;
mod value;

use std::fmt;

pub use self::address::{IpRange, RangeError};
pub use self::error::ExpressionError;
use self::error::{Fault, Span};
use self::eval::{Budget, Evaluation};
pub use self::list::{List, ListKind, Lists};
pub use self::request::{RequestFields, RequestSource};
use self::tree::Node;
use crate::bypass_rule::{BypassRule, MAX_EXPRESSION_BYTES};
use crate::id::RuleId;
use crate::sorted::SortedMap;

/// Parentheses, `not` and functions inside of each other, at most. The original allows 128 of
/// them; nobody can read 64.
pub const DEPTH_MAX: usize = 64;
/// Steps for all rules of one request, at most. The dearest ones (an element of an array that is
/// parsed anew, a JSON text) take up to half a second in all, natively: they must be charged more
/// before any visit is judged by rules.
pub const STEPS_MAX: usize = 4 * 1_024 * 1_024;

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
    let root =
        parse::parse(text, known_lists).map_err(|fault| ExpressionError::new(text, fault))?;
    Ok(Expression { root })
}

/// A checked expression. It displays as a text that parses to an equal one.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Node,
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.fmt(formatter)
    }
}

/// A bypass rule that is ready to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Names the rule.
    pub id: RuleId,
    /// False for a rule that is ignored.
    pub enabled: bool,
    /// Which requests skip the room.
    pub expression: Expression,
}

impl Rule {
    /// The rule as its owner configured it, or what is wrong with its expression.
    pub fn compile(
        rule: &BypassRule,
        known_lists: &SortedMap<String, ListKind>,
    ) -> Result<Self, ExpressionError> {
        let expression = parse_rule_expression(&rule.expression, known_lists)?;
        Ok(Self { id: rule.id, enabled: rule.enabled, expression })
    }
}

/// What the rules of a room say of one request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome<'rules> {
    /// The first enabled rule that matches; `None` if none does.
    pub rule: Option<&'rules Rule>,
    /// Steps that were made.
    pub steps: usize,
    /// True if `STEPS_MAX` was not enough: rules that were not finished match nothing.
    pub is_exhausted: bool,
}

/// The first enabled rule that matches the request. Expressions refer to `lists`; one that is not
/// there has no items.
pub fn first_match<'rules>(
    rules: &'rules [Rule],
    fields: &RequestFields<'_>,
    lists: &Lists,
) -> Outcome<'rules> {
    let mut evaluation = Evaluation { fields, lists, budget: Budget { left: STEPS_MAX } };
    let mut matched = None;
    let mut is_exhausted = false;
    for rule in rules.iter().filter(|rule| rule.enabled) {
        match evaluation.one(&rule.expression.root) {
            Ok(false) => continue,
            Ok(true) => matched = Some(rule),
            Err(eval::Exhausted) => is_exhausted = true,
        }
        break;
    }
    Outcome { rule: matched, steps: STEPS_MAX - evaluation.budget.left, is_exhausted }
}

/// True if the request skips the room.
pub fn bypasses(rules: &[Rule], fields: &RequestFields<'_>, lists: &Lists) -> bool {
    first_match(rules, fields, lists).rule.is_some()
}
