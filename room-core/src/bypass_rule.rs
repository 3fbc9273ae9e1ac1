//! A bypass rule as its owner configured it, and the one place that judges its expression.

use crate::id::RuleId;
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
    /// A note of the owner.
    pub description: String,
    /// False for a rule that is ignored.
    pub enabled: bool,
    /// When the rule was last changed; the epoch if nobody knows.
    pub last_updated: Timestamp,
}

/// What is wrong with an expression, for its owner.
///
/// The rules language takes its place here; without it every expression that is not blank passes.
pub fn check_expression(expression: &str) -> Result<(), String> {
    if expression.trim().is_empty() {
        return Err("must be an expression, like ip.src in {203.0.113.0/24}".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_expression;

    #[test]
    fn an_expression_is_not_blank() {
        assert_eq!(check_expression("ssl"), Ok(()));
        assert!(check_expression("").is_err());
        assert!(check_expression(" \n").is_err());
    }
}
