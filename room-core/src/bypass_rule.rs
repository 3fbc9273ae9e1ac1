//! A bypass rule as its owner configured it, and the one place that compiles its expression.

use crate::id::RuleId;
use crate::rule::{Expression, ExpressionError, KnownLists, parse_rule_expression};
use crate::time::Timestamp;

/// Longest expression of a rule, in bytes. Ours: the original publishes none.
pub const MAX_EXPRESSION_BYTES: usize = 4_096;

/// Requests that match `expression` skip the room. Made by `config`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BypassRule {
    /// Names the rule.
    pub id: RuleId,
    /// Grows with every change, from 1.
    pub version: u32,
    /// Which requests, in the rules language.
    pub expression: String,
    /// The same, ready to be evaluated.
    pub compiled: Expression,
    /// A note of the owner.
    pub description: String,
    /// False for a rule that is ignored.
    pub enabled: bool,
    /// When the rule was last changed; the epoch if nobody knows.
    pub last_updated: Timestamp,
}

/// The expression, ready to be evaluated, or what is wrong with it; it may refer to `lists`.
pub fn compile(expression: &str, lists: &KnownLists) -> Result<Expression, ExpressionError> {
    parse_rule_expression(expression, lists)
}

#[cfg(test)]
mod tests {
    use super::compile;
    use crate::rule::ListKind;

    #[test]
    fn an_expression_is_one_of_the_rules_language() {
        let check = |expression: &str, want: bool| {
            let lists = [("home".to_owned(), ListKind::Ip)].into();
            assert_eq!(compile(expression, &lists).is_ok(), want, "{expression}");
        };
        check("ssl", true);
        check("ip.src in {203.0.113.0/24}", true);
        check("", false);
        check("ssl and", false);
        check("cf.threat_score gt 5", false);
        check("ip.src in $office", false);
        check("ip.src in $home", true);
    }
}
