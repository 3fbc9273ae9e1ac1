//! Writes a tree as an expression that parses to the same tree.

use std::fmt::{Display, Formatter, Result, Write};

use super::lex::{Classes, HASHES_MAX};
use super::tree::{Argument, Base, Index, Logic, Node, Operand, Quantifier, Relation, Test};

impl Display for Node {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Constant(constant) => write!(formatter, "{constant}"),
            Self::Logic(logic, terms) => {
                let word = match logic {
                    Logic::And => " and ",
                    Logic::Or => " or ",
                    Logic::Xor => " xor ",
                };
                joined(formatter, word, terms, in_parentheses)
            }
            Self::Not(inner) => {
                formatter.write_str("not ")?;
                in_parentheses(formatter, inner)
            }
            Self::Quantified(Quantifier::All, inner) => write!(formatter, "all({inner})"),
            Self::Quantified(Quantifier::Any, inner) => write!(formatter, "any({inner})"),
            Self::Bare(operand) => operand.fmt(formatter),
            Self::Comparison(operand, test) => write!(formatter, "{operand} {test}"),
        }
    }
}

/// Writes a term, in parentheses if operators join it. Readers then need not know which operator
/// binds stronger.
fn in_parentheses(formatter: &mut Formatter<'_>, node: &Node) -> Result {
    match node {
        Node::Logic(..) => write!(formatter, "({node})"),
        _ => node.fmt(formatter),
    }
}

impl Display for Operand {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match &self.base {
            Base::Call(call) => {
                write!(formatter, "{}(", call.function.name())?;
                joined(formatter, ", ", &call.arguments, |formatter, argument| match argument {
                    Argument::Integer(number) => write!(formatter, "{number}"),
                    Argument::Text(text) => quoted(formatter, text),
                    Argument::Value(operand) => operand.fmt(formatter),
                })?;
                formatter.write_char(')')?;
            }
            Base::Field(field) => formatter.write_str(field.name)?,
        }
        self.indexes.iter().try_for_each(|index| {
            formatter.write_char('[')?;
            match index {
                Index::At(place) => write!(formatter, "{place}")?,
                Index::Each => formatter.write_char('*')?,
                Index::Key(name) => quoted(formatter, name)?,
            }
            formatter.write_char(']')
        })
    }
}

impl Display for Test {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::BitwiseAnd(mask) => write!(formatter, "& {mask}"),
            Self::Contains(needle) => {
                formatter.write_str("contains ")?;
                quoted(formatter, needle.as_bytes())
            }
            Self::InIntegers(ranges) => set(formatter, ranges, |formatter, range| {
                write!(formatter, "{}", range.first)?;
                if range.first == range.last {
                    Ok(())
                } else {
                    write!(formatter, "..{}", range.last)
                }
            }),
            Self::InIps(ranges) => set(formatter, ranges, |formatter, range| range.fmt(formatter)),
            Self::InList(name) => write!(formatter, "in ${name}"),
            Self::InTexts(texts) => {
                set(formatter, texts, |formatter, text| quoted(formatter, text))
            }
            Self::Integer(relation, number) => write!(formatter, "{} {number}", relation.word()),
            Self::Ip(true, address) => write!(formatter, "eq {address}"),
            Self::Ip(false, address) => write!(formatter, "ne {address}"),
            Self::Matches(pattern) => {
                formatter.write_str("matches ")?;
                regular_expression(formatter, pattern.as_str())
            }
            Self::Text(relation, text) => {
                write!(formatter, "{} ", relation.word())?;
                quoted(formatter, text)
            }
            Self::Wildcard(pattern) => {
                let strict = if pattern.is_strict { "strict " } else { "" };
                write!(formatter, "{strict}wildcard ")?;
                quoted(formatter, pattern.as_bytes())
            }
        }
    }
}

impl Relation {
    fn word(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
            Self::NotEqual => "ne",
        }
    }
}

fn set<T>(
    formatter: &mut Formatter<'_>,
    items: &[T],
    write: impl FnMut(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    formatter.write_str("in {")?;
    joined(formatter, " ", items, write)?;
    formatter.write_char('}')
}

fn joined<T>(
    formatter: &mut Formatter<'_>,
    between: &str,
    items: &[T],
    mut write: impl FnMut(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    items.iter().enumerate().try_for_each(|(place, item)| {
        if place > 0 {
            formatter.write_str(between)?;
        }
        write(formatter, item)
    })
}

/// Writes a text in quotation marks, with bytes that are no printable characters as `\xHH`.
fn quoted(formatter: &mut Formatter<'_>, text: &[u8]) -> Result {
    formatter.write_char('"')?;
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => write!(formatter, "\\{character}")?,
                '\0'..=' ' | '\x7f' if character != ' ' => {
                    write!(formatter, "\\x{:02x}", u32::from(character))?;
                }
                _ => formatter.write_char(character)?,
            }
        }
        for byte in chunk.invalid() {
            write!(formatter, "\\x{byte:02x}")?;
        }
    }
    formatter.write_char('"')
}

/// Writes a regular expression as a raw text if possible, since that needs no escapes; otherwise as
/// a quoted one.
fn regular_expression(formatter: &mut Formatter<'_>, pattern: &str) -> Result {
    let runs = pattern.split('"').skip(1);
    let run = |after: &str| after.len() - after.trim_start_matches('#').len() + 1;
    let hashes = runs.map(run).max().unwrap_or(0);
    if hashes <= HASHES_MAX {
        let hashes = "#".repeat(hashes);
        return write!(formatter, "r{hashes}\"{pattern}\"{hashes}");
    }
    // It came from a quoted text, as no raw one can hold it, so it has no `\"` outside of classes.
    formatter.write_char('"')?;
    let mut classes = Classes::default();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' if !classes.is_inside() => formatter.write_str("\\\"")?,
            '\\' => {
                formatter.write_char('\\')?;
                characters.next().map_or(Ok(()), |escaped| formatter.write_char(escaped))?;
                classes.escaped();
            }
            _ => {
                formatter.write_char(character)?;
                classes.read(character);
            }
        }
    }
    formatter.write_char('"')
}
