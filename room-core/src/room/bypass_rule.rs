//! A bypass rule as its owner configured it, and the one place that compiles its expression.

use crate::base::id::RuleId;
use crate::base::time::Timestamp;
use crate::rules::{Expression, ExpressionError, KnownLists, parse_rule_expression};

/// A bypass rule of a room: requests that match its expression skip the room. Only
/// `management::config` makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BypassRule {
    /// The permanent id of the rule.
    pub id: RuleId,
    /// The number of the rule's version: 1 when it is made, and one more with every change.
    pub version: u32,
    /// The expression in the rules language, as written.
    pub expression: String,
    /// The expression, ready to be evaluated.
    pub compiled: Expression,
    /// A note of the owner, without effect.
    pub description: String,
    /// Whether the rule counts.
    pub enabled: bool,
    /// When the rule was last changed; the epoch if it is not known.
    pub last_updated: Timestamp,
}

/// Makes an expression ready to be evaluated, or says what is wrong with it. It may refer to
/// `lists`.
pub fn compile(expression: &str, lists: &KnownLists) -> Result<Expression, ExpressionError> {
    parse_rule_expression(expression, lists)
}

#[cfg(test)]
mod tests {
    use super::compile;
    use crate::rules::ListKind;

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
