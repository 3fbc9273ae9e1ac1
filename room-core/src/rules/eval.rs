//! Evaluates a checked tree on one request. It stops early if its steps are used up or the source
//! of the request is incomplete, and cannot fail otherwise.

use super::budget::{
    LIST_STEPS, NODE_STEPS, PLATFORM_STEPS, SORTED_ELEMENT_STEPS, StepBudget, Stop, copy_steps,
};
use super::call;
use super::field::Source;
use super::function::Function;
use super::list::{List, Lists};
use super::pattern::Pattern;
use super::request::RequestFields;
use super::tree::{
    Argument, Base, Call, Index, IntegerRange, Logic, Node, Operand, Quantifier, Relation, Test,
    Type,
};
use super::value::Value;

/// The evaluation of trees on one request, and the steps that it may still make. Values are
/// borrowed from the request and from the tree.
pub(super) struct Evaluation<'e, 'r> {
    pub fields: &'e RequestFields<'r>,
    pub lists: &'e Lists,
    pub budget: StepBudget,
}

impl<'e> Evaluation<'e, '_> {
    /// Evaluates a node that gives one Boolean.
    pub fn one(&mut self, node: &'e Node) -> Result<bool, Stop> {
        self.budget.spend(NODE_STEPS)?;
        match node {
            Node::Constant(constant) => Ok(*constant),
            Node::Logic(logic, terms) => self.logic_of_one(*logic, terms),
            Node::Not(inner) => self.one(inner).map(|inner| !inner),
            Node::Quantified(quantifier, inner) => {
                let booleans = self.many(inner)?;
                Ok(match quantifier {
                    Quantifier::All => booleans.into_iter().all(|boolean| boolean),
                    Quantifier::Any => booleans.into_iter().any(|boolean| boolean),
                })
            }
            Node::Bare(operand) => self.operand(operand).map(|value| value == Value::Boolean(true)),
            Node::Comparison(operand, test) => {
                let value = self.operand(operand)?;
                self.holds(test, &value)
            }
        }
    }

    fn logic_of_one(&mut self, logic: Logic, terms: &'e [Node]) -> Result<bool, Stop> {
        let mut odd = false;
        for term in terms {
            let truth = self.one(term)?;
            match logic {
                Logic::And if !truth => return Ok(false),
                Logic::Or if truth => return Ok(true),
                Logic::And | Logic::Or => {}
                Logic::Xor => odd ^= truth,
            }
        }
        Ok(match logic {
            Logic::And => true,
            Logic::Or => false,
            Logic::Xor => odd,
        })
    }

    /// Evaluates a node that gives an array of Booleans.
    fn many(&mut self, node: &'e Node) -> Result<Vec<bool>, Stop> {
        self.budget.spend(NODE_STEPS)?;
        match node {
            Node::Logic(logic, terms) => self.logic_of_many(*logic, terms),
            Node::Not(inner) => {
                let mut booleans = self.many(inner)?;
                self.budget.spend(booleans.len())?;
                for boolean in &mut booleans {
                    *boolean = !*boolean;
                }
                Ok(booleans)
            }
            Node::Bare(operand) => {
                let values = elements(self.operand(operand)?);
                self.budget.spend_elements(values.len())?;
                Ok(values.into_iter().map(|value| value == Value::Boolean(true)).collect())
            }
            Node::Comparison(operand, test) => {
                let values = elements(self.operand(operand)?);
                self.budget.spend_elements(values.len())?;
                values.iter().map(|value| self.holds(test, value)).collect()
            }
            // These give one Boolean, so the parser does not let them stand here.
            Node::Constant(_) | Node::Quantified(..) => Ok(Vec::new()),
        }
    }

    /// Joins arrays of Booleans element by element; the result is as long as the shortest.
    fn logic_of_many(&mut self, logic: Logic, terms: &'e [Node]) -> Result<Vec<bool>, Stop> {
        let mut joined: Option<Vec<bool>> = None;
        for term in terms {
            let next = self.many(term)?;
            self.budget.spend(next.len())?;
            let join = |(one, other): (bool, bool)| match logic {
                Logic::And => one && other,
                Logic::Or => one || other,
                Logic::Xor => one ^ other,
            };
            joined = Some(match joined {
                None => next,
                Some(joined) => joined.into_iter().zip(next).map(join).collect(),
            });
        }
        Ok(joined.unwrap_or_default())
    }

    fn operand(&mut self, operand: &'e Operand) -> Result<Value<'e>, Stop> {
        let mut indexes = operand.indexes.as_slice();
        if let Base::Field(field) = &operand.base {
            self.fields.check(field.source)?;
        }
        let value = match &operand.base {
            Base::Call(call) => self.call(call)?,
            Base::Field(field) if field.kind == Type::Map => {
                if let Some((Index::Key(name), others)) = indexes.split_first() {
                    indexes = others;
                    self.entry(field.source, name)?
                } else {
                    self.entries(field.source)?
                }
            }
            Base::Field(field) => {
                self.pay_to_read(field.source)?;
                if field.source.has_path() && self.fields.is_path_ambiguous() {
                    return Err(Stop::Ambiguous);
                }
                let value = self.fields.value(field.source);
                self.pay_for_answer(field.source, &value)?;
                value
            }
        };
        self.indexed(value, indexes)
    }

    fn entry(&mut self, source: Source, name: &[u8]) -> Result<Value<'e>, Stop> {
        if source == Source::Headers && !self.fields.knows_all_headers() {
            // The platform finds one header without the others being read.
            self.budget.spend(PLATFORM_STEPS.saturating_add(name.len()))?;
            let value = self.fields.header_entry(name);
            self.pay_for_answer(source, &value)?;
            return Ok(value);
        }
        let count = self.pairs(source)?;
        self.budget.spend_elements(count)?;
        self.budget.spend(name.len())?;
        Ok(self.fields.entry(source, name))
    }

    fn entries(&mut self, source: Source) -> Result<Value<'e>, Stop> {
        let count = self.pairs(source)?;
        self.budget.spend(count.saturating_mul(SORTED_ELEMENT_STEPS))?;
        Ok(self.fields.entries(source))
    }

    /// Returns the number of pairs of a map. Splitting it is paid for the first time.
    fn pairs(&mut self, source: Source) -> Result<usize, Stop> {
        self.budget.spend(self.fields.steps_to_parse(source))?;
        Ok(self.fields.count(source))
    }

    /// Pays for a field that is no map, before it is read.
    fn pay_to_read(&mut self, source: Source) -> Result<(), Stop> {
        if let Some(map) = source.map() {
            let count = self.pairs(map)?;
            return self.budget.spend_elements(count);
        }
        self.budget.spend(self.fields.steps_to_read(source))
    }

    /// Pays for the bytes of an answer of the platform, whose length was not known before.
    fn pay_for_answer(&mut self, source: Source, value: &Value<'_>) -> Result<(), Stop> {
        if source.is_at_hand() {
            return Ok(());
        }
        match value {
            Value::Text(text) => self.budget.spend(copy_steps(text.len())),
            Value::Array(values) => {
                values.iter().try_for_each(|value| self.pay_for_answer(source, value))
            }
            _ => Ok(()),
        }
    }

    fn indexed(&mut self, value: Value<'e>, indexes: &[Index]) -> Result<Value<'e>, Stop> {
        let Some((index, others)) = indexes.split_first() else {
            return Ok(value);
        };
        match index {
            Index::At(place) => {
                let place = usize::try_from(*place).unwrap_or(usize::MAX);
                let element = elements(value).into_iter().nth(place);
                self.indexed(element.unwrap_or(Value::Missing), others)
            }
            Index::Each => {
                let is_deeper = others.contains(&Index::Each);
                let mut mapped = Vec::new();
                let elements = elements(value);
                self.budget.spend_elements(elements.len())?;
                for element in elements {
                    match self.indexed(element, others)? {
                        Value::Array(inner) if is_deeper => mapped.extend(inner),
                        other => mapped.push(other),
                    }
                }
                Ok(Value::Array(mapped))
            }
            // Only maps have names, and `operand` has looked up theirs before.
            Index::Key(_) => Ok(Value::Missing),
        }
    }

    fn call(&mut self, call: &'e Call) -> Result<Value<'e>, Stop> {
        if call.function == Function::HasKey {
            return self.has_key(&call.arguments);
        }
        let Some((first, others)) = call.arguments.split_first() else {
            return Ok(Value::Missing);
        };
        let is_mapped = matches!(first, Argument::Value(operand) if operand.is_mapped());
        let first = self.argument(first)?;
        let others: Result<Vec<_>, _> = others.iter().map(|other| self.argument(other)).collect();
        let others = others?;
        if !is_mapped {
            return call::apply(call.function, first, &others, &mut self.budget);
        }
        let mut results = Vec::new();
        let elements = elements(first);
        self.budget.spend_elements(elements.len())?;
        for element in elements {
            results.push(call::apply(call.function, element, &others, &mut self.budget)?);
        }
        Ok(Value::Array(results))
    }

    /// Whether a map has an entry of this name. Other entries are not read for that.
    fn has_key(&mut self, arguments: &'e [Argument]) -> Result<Value<'e>, Stop> {
        self.budget.spend(NODE_STEPS)?;
        let [Argument::Value(Operand { base: Base::Field(map), .. }), Argument::Text(name)] =
            arguments
        else {
            return Ok(Value::Missing);
        };
        self.fields.check(map.source)?;
        let found = self.entry(map.source, name)?;
        Ok(Value::Boolean(matches!(found, Value::Array(values) if !values.is_empty())))
    }

    fn argument(&mut self, argument: &'e Argument) -> Result<Value<'e>, Stop> {
        self.budget.spend(NODE_STEPS)?;
        match argument {
            Argument::Integer(number) => Ok(Value::Integer(*number)),
            Argument::Text(text) => Ok(Value::borrowed(text)),
            Argument::Value(operand) => self.operand(operand),
        }
    }

    /// Whether a value passes a test. A missing value passes none, not even `ne`.
    fn holds(&mut self, test: &Test, value: &Value<'_>) -> Result<bool, Stop> {
        match value {
            Value::Integer(number) => self.holds_for_integer(test, *number),
            Value::Ip(address) => match test {
                Test::InIps(ranges) => {
                    self.budget.spend(ranges.len())?;
                    Ok(ranges.iter().any(|range| range.contains(*address)))
                }
                Test::InList(name) => {
                    self.budget.spend(LIST_STEPS)?;
                    Ok(self.lists.get(&**name).is_some_and(|list| list.has_ip(*address)))
                }
                Test::Ip(is_equal, wanted) => {
                    self.budget.spend(1)?;
                    Ok((address == wanted) == *is_equal)
                }
                _ => Ok(false),
            },
            Value::Text(text) => self.holds_for_text(test, text),
            Value::Array(_) | Value::Boolean(_) | Value::Missing => Ok(false),
        }
    }

    fn holds_for_integer(&mut self, test: &Test, number: i64) -> Result<bool, Stop> {
        self.budget.spend(match test {
            Test::InIntegers(ranges) => ranges.len(),
            Test::InList(_) => LIST_STEPS,
            _ => 1,
        })?;
        let is_in = |range: &IntegerRange| (range.first..=range.last).contains(&number);
        Ok(match test {
            Test::BitwiseAnd(mask) => number & mask != 0,
            Test::InIntegers(ranges) => ranges.iter().any(is_in),
            Test::InList(name) => self.lists.get(&**name).is_some_and(|list| list.has_asn(number)),
            Test::Integer(relation, wanted) => relation.holds(&number, wanted),
            _ => false,
        })
    }

    fn holds_for_text(&mut self, test: &Test, text: &[u8]) -> Result<bool, Stop> {
        let length = text.len();
        self.budget.spend(match test {
            Test::Contains(needle) => length.saturating_add(needle.as_bytes().len()),
            Test::InList(_) => List::hostname_searches(text).saturating_mul(LIST_STEPS),
            Test::InTexts(texts) => length.saturating_add(texts.len()),
            Test::Matches(pattern) => {
                length.min(Pattern::SUBJECT_BYTES_MAX).saturating_mul(pattern.steps_per_byte())
            }
            Test::Text(_, wanted) => wanted.len().min(length).saturating_add(1),
            Test::Wildcard(pattern) => length.saturating_add(pattern.as_bytes().len()),
            _ => 0,
        })?;
        Ok(match test {
            Test::Contains(needle) => needle.is_in(text),
            Test::InList(name) => {
                self.lists.get(&**name).is_some_and(|list| list.has_hostname(text))
            }
            Test::InTexts(texts) => texts.iter().any(|wanted| **wanted == *text),
            Test::Matches(pattern) => pattern.is_in(text),
            Test::Text(relation, wanted) => relation.holds(text, wanted),
            Test::Wildcard(pattern) => pattern.matches(text),
            _ => false,
        })
    }
}

impl Relation {
    fn holds<T: Ord + ?Sized>(self, one: &T, other: &T) -> bool {
        match self {
            Self::Equal => one == other,
            Self::Greater => one > other,
            Self::GreaterOrEqual => one >= other,
            Self::Less => one < other,
            Self::LessOrEqual => one <= other,
            Self::NotEqual => one != other,
        }
    }
}

/// Returns the elements of an array; none if the value is no array.
fn elements(value: Value<'_>) -> Vec<Value<'_>> {
    match value {
        Value::Array(elements) => elements,
        _ => Vec::new(),
    }
}
