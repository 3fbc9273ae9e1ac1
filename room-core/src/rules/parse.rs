//! The grammar of the rules language: from a text to a checked tree, or to the first mistake.

use super::DEPTH_MAX;
use super::check::{self, Given};
use super::error::{Mistake, Span, nearest};
use super::field;
use super::function;
use super::lex::{Lexer, Token};
use super::list::ListKind;
use super::tree::{Argument, Base, Call, Index, Logic, Node, Operand, Quantifier, Scalar, Type};
use crate::base::sorted::SortedMap;

/// Parses `text`, which may refer to `lists`. Returns its tree, and how many bytes its compiled
/// regular expressions take.
pub(super) fn parse(
    text: &str,
    lists: &SortedMap<String, ListKind>,
) -> Result<(Node, usize), Mistake> {
    let mut parser = Parser {
        text,
        lexer: Lexer::new(text),
        lists,
        depth: 0,
        regex_bytes: 0,
        mapping: Mapping::Forbidden,
    };
    if parser.peek().0 == Token::End {
        let span = Span { start: text.len(), end: text.len() };
        return Err(Mistake::new(span, "the expression is empty; to match everything, write true"));
    }
    let whole = parser.logic(LEVELS)?;
    let (token, span) = parser.peek();
    if token != Token::End {
        let operators = "and, or, xor or the end";
        return Err(Mistake::new(span, format!("{operators} must follow, not {}", shown(token))));
    }
    whole.must_be(Shape::One)?;
    Ok((whole.node, parser.regex_bytes))
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) lexer: Lexer<'t>,
    pub(super) lists: &'t SortedMap<String, ListKind>,
    depth: usize,
    /// The bytes of all compiled regular expressions so far.
    pub(super) regex_bytes: usize,
    mapping: Mapping,
}

/// The arrays behind which `[*]` may be written.
#[derive(Clone, Debug, PartialEq)]
enum Mapping {
    /// No array: this is outside of functions.
    Forbidden,
    /// Any array: this function has no `[*]` yet.
    Free,
    /// The array of this field and these indexes, as before in the same function.
    Of(&'static str, Vec<Index>),
}

/// Whether a part of an expression gives one Boolean or an array of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Many,
    One,
}

/// The arguments of a call for the tree, and their kinds and places for the type check.
type Arguments = (Vec<Argument>, Vec<(Given, Span)>);

struct Parsed {
    node: Node,
    shape: Shape,
    span: Span,
}

impl Parsed {
    fn must_be(&self, shape: Shape) -> Result<(), Mistake> {
        if self.shape == shape {
            return Ok(());
        }
        Err(Mistake::new(
            self.span,
            match shape {
                Shape::One => "this is an array of Booleans: put it into any(...) or all(...)",
                Shape::Many => {
                    "this is one Boolean, but any() and all() need an array: mark the array with \
                     [*]"
                }
            },
        ))
    }
}

/// The logical operators with their two spellings, from the weakest binding on.
const LEVELS: &[(Logic, &str, &str)] =
    &[(Logic::Or, "or", "||"), (Logic::Xor, "xor", "^^"), (Logic::And, "and", "&&")];

/// A value with its type. Behind `[*]` it is the type of each element.
pub(super) struct Typed {
    pub operand: Operand,
    pub kind: Type,
    pub span: Span,
}

impl<'t> Parser<'t> {
    fn logic(&mut self, levels: &[(Logic, &str, &str)]) -> Result<Parsed, Mistake> {
        let Some(((logic, word, symbol), stronger)) = levels.split_first() else {
            return self.unary();
        };
        let first = self.logic(stronger)?;
        let (mut span, shape) = (first.span, first.shape);
        let mut terms = vec![first.node];
        while matches!(self.peek().0, Token::Name(found) if found == *word)
            || matches!(self.peek().0, Token::Symbol(found) if found == *symbol)
        {
            self.lexer.next();
            let term = self.logic(stronger)?;
            if term.shape != shape {
                let message = format!("{word} cannot join one Boolean and an array of Booleans");
                return Err(Mistake::new(term.span, message));
            }
            span = span.to(term.span);
            terms.push(term.node);
        }
        let node = match <[Node; 1]>::try_from(terms) {
            Ok([only]) => only,
            Err(terms) => Node::Logic(*logic, terms),
        };
        Ok(Parsed { node, shape, span })
    }

    fn unary(&mut self) -> Result<Parsed, Mistake> {
        let (token, span) = self.peek();
        match token {
            Token::Name("not") | Token::Symbol("!") => {
                self.lexer.next();
                let inner = self.nested(span, Self::unary)?;
                let span = span.to(inner.span);
                Ok(Parsed { node: Node::Not(Box::new(inner.node)), shape: inner.shape, span })
            }
            Token::Symbol("(") => {
                self.lexer.next();
                let mut inner = self.nested(span, |parser| parser.logic(LEVELS))?;
                inner.span = span.to(self.expect(")")?);
                Ok(inner)
            }
            Token::Name("any") => self.quantified(Quantifier::Any),
            Token::Name("all") => self.quantified(Quantifier::All),
            Token::Name(word @ ("true" | "false")) => {
                self.lexer.next();
                Ok(Parsed { node: Node::Constant(word == "true"), shape: Shape::One, span })
            }
            _ => self.comparison(),
        }
    }

    fn quantified(&mut self, quantifier: Quantifier) -> Result<Parsed, Mistake> {
        let (_, name) = self.lexer.next();
        self.expect("(")?;
        let inner = self.mapping(|parser| parser.nested(name, |parser| parser.logic(LEVELS)))?;
        let span = name.to(self.expect(")")?);
        inner.must_be(Shape::Many)?;
        let node = Node::Quantified(quantifier, Box::new(inner.node));
        Ok(Parsed { node, shape: Shape::One, span })
    }

    fn comparison(&mut self) -> Result<Parsed, Mistake> {
        let left = self.operand()?;
        let Some((operator, span)) = self.operator()? else {
            return self.bare(left);
        };
        let scalar = check::comparable(left.kind, self.written(left.span), left.span)?;
        check::operator(operator, self.written(span), scalar, span)?;
        let (test, last) = self.test(operator, scalar)?;
        let shape = if left.operand.is_mapped() { Shape::Many } else { Shape::One };
        let node = Node::Comparison(left.operand, test);
        Ok(Parsed { node, shape, span: left.span.to(last) })
    }

    fn bare(&self, left: Typed) -> Result<Parsed, Mistake> {
        let shape = match (left.kind, left.operand.is_mapped()) {
            (Type::One(Scalar::Boolean), false) => Shape::One,
            (Type::One(Scalar::Boolean), true) | (Type::Array(Scalar::Boolean), false) => {
                Shape::Many
            }
            (kind, _) => return Err(self.no_operator(kind, left.span)),
        };
        Ok(Parsed { node: Node::Bare(left.operand), shape, span: left.span })
    }

    fn no_operator(&self, kind: Type, left: Span) -> Mistake {
        let (token, span) = self.peek();
        let written = self.written(left);
        let Type::One(scalar) = kind else {
            return match check::comparable(kind, written, left) {
                Err(fault) => fault,
                Ok(_) => Mistake::new(span, "an operator must follow"),
            };
        };
        let kind = kind.description();
        let advice = check::operators_of(scalar);
        let found = shown(token);
        Mistake::new(span, format!("{written} is {kind}, so {advice}; found is {found}"))
    }

    pub(super) fn operand(&mut self) -> Result<Typed, Mistake> {
        let (token, span) = self.lexer.next();
        let Token::Name(name) = token else {
            let message = format!("a field or a function must stand here, not {}", shown(token));
            return Err(Mistake::new(span, message));
        };
        let (base, kind, span) = if self.peek().0 == Token::Symbol("(") {
            self.call(name, span)?
        } else {
            let field = field::find(name).ok_or_else(|| unknown_field(name, span))?;
            (Base::Field(field), field.kind, span)
        };
        let mut typed = Typed { operand: Operand { base, indexes: Vec::new() }, kind, span };
        while self.peek().0 == Token::Symbol("[") {
            self.index(&mut typed)?;
        }
        Ok(typed)
    }

    fn index(&mut self, typed: &mut Typed) -> Result<(), Mistake> {
        let (_, opening) = self.lexer.next();
        let index = if let Some((key, _)) = self.lexer.text()? {
            Index::Key(key.into())
        } else if self.peek().0 == Token::Symbol("*") {
            self.lexer.next();
            Index::Each
        } else {
            let (number, span) = self.lexer.run();
            let message = "an index is a number from 0, a quoted name or *";
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| is_number);
            Index::At(number.ok_or_else(|| Mistake::new(span, message))?)
        };
        let span = opening.to(self.expect("]")?);
        typed.kind = check::indexed(typed.kind, &index, span)?;
        typed.span = typed.span.to(span);
        if index == Index::Each {
            self.map_over(&typed.operand, span)?;
        }
        typed.operand.indexes.push(index);
        Ok(())
    }

    /// Returns an error if `[*]` cannot follow `operand`.
    fn map_over(&mut self, operand: &Operand, span: Span) -> Result<(), Mistake> {
        if self.mapping == Mapping::Forbidden {
            let message = "[*] must stand inside of any(), all() or another function";
            return Err(Mistake::new(span, message));
        }
        // An operand that has a `[*]` already, or is the result of a call, was checked before.
        let Base::Field(field) = &operand.base else { return Ok(()) };
        if operand.is_mapped() {
            return Ok(());
        }
        let array = Mapping::Of(field.name, operand.indexes.clone());
        if self.mapping == Mapping::Free || self.mapping == array {
            self.mapping = array;
            return Ok(());
        }
        let message = "inside of one function, [*] can stand only behind one and the same array";
        Err(Mistake::new(span, message))
    }

    fn call(&mut self, name: &str, span: Span) -> Result<(Base, Type, Span), Mistake> {
        let signature = function::find(name).ok_or_else(|| unknown_function(name, span))?;
        self.expect("(")?;
        let (arguments, given) = self.mapping(|parser| parser.nested(span, Self::arguments))?;
        let closing = self.expect(")")?;
        let kind = check::call(signature, &given, span)?;
        check::literals(signature.function, &arguments, &given)?;
        let call = Call { function: signature.function, arguments };
        Ok((Base::Call(call), kind, span.to(closing)))
    }

    fn arguments(&mut self) -> Result<Arguments, Mistake> {
        let (mut arguments, mut given) = (Vec::new(), Vec::new());
        if self.peek().0 == Token::Symbol(")") {
            return Ok((arguments, given));
        }
        loop {
            let (argument, kind, span) = self.argument()?;
            arguments.push(argument);
            given.push((kind, span));
            if self.peek().0 != Token::Symbol(",") {
                return Ok((arguments, given));
            }
            self.lexer.next();
        }
    }

    fn argument(&mut self) -> Result<(Argument, Given, Span), Mistake> {
        if let Some((text, span)) = self.lexer.text()? {
            return Ok((Argument::Text(text.into()), Given::TextLiteral, span));
        }
        let is_number = match self.peek().0 {
            Token::Symbol("-") => true,
            Token::Name(name) => name.starts_with(|first: char| first.is_ascii_digit()),
            _ => false,
        };
        if is_number {
            let (number, span) = self.integer()?;
            let given = if number < 0 { Given::NegativeLiteral } else { Given::IntegerLiteral };
            return Ok((Argument::Integer(number), given, span));
        }
        let Typed { operand, kind, span } = self.operand()?;
        let is_mapped = operand.is_mapped();
        Ok((Argument::Value(operand), Given::Value { kind, is_mapped }, span))
    }

    /// Reads what is inside a function. Within the outermost function all `[*]` follow the same
    /// array.
    fn mapping<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        let is_outermost = self.mapping == Mapping::Forbidden;
        if is_outermost {
            self.mapping = Mapping::Free;
        }
        let result = read(self)?;
        if is_outermost {
            self.mapping = Mapping::Forbidden;
        }
        Ok(result)
    }

    /// Reads something that is nested one level deeper; `span` is what opens it. Errors: more than
    /// [`DEPTH_MAX`] levels.
    fn nested<T>(
        &mut self,
        span: Span,
        read: impl FnOnce(&mut Self) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        if self.depth >= DEPTH_MAX {
            let message = format!("parentheses, not and functions nest at most {DEPTH_MAX} deep");
            return Err(Mistake::new(span, message));
        }
        self.depth += 1;
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Result<Span, Mistake> {
        let (token, span) = self.lexer.next();
        if token == Token::Symbol(symbol) {
            return Ok(span);
        }
        Err(Mistake::new(span, format!("{symbol} must stand here, not {}", shown(token))))
    }

    pub(super) fn peek(&self) -> (Token<'t>, Span) {
        self.lexer.peek()
    }

    pub(super) fn written(&self, span: Span) -> &'t str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }
}

/// Returns the name, in errors, of a token that is not allowed where it is.
pub(super) fn shown(token: Token<'_>) -> String {
    match token {
        Token::End => "the end".to_owned(),
        Token::Name(name) => format!("`{name}`"),
        Token::Other(character) => format!("`{character}`"),
        Token::Quote => "a quoted text".to_owned(),
        Token::Symbol(symbol) => format!("`{symbol}`"),
    }
}

fn unknown_field(name: &str, span: Span) -> Mistake {
    if let Some(reason) = field::reason_unavailable(name) {
        return Mistake::new(span, format!("the field {name} is not available here: {reason}"));
    }
    if function::find(name).is_some() {
        return Mistake::new(span, format!("{name} is a function: ( must follow"));
    }
    let advice = nearest(name, field::names())
        .map_or(String::new(), |name| format!("; did you mean {name}?"));
    Mistake::new(span, format!("there is no field of this name{advice}"))
}

fn unknown_function(name: &str, span: Span) -> Mistake {
    if function::is_of_other_products(name) {
        let message = format!("the function {name} is not available in bypass rules");
        return Mistake::new(span, message);
    }
    let advice = nearest(name, function::names())
        .map_or(String::new(), |name| format!("; did you mean {name}?"));
    Mistake::new(span, format!("there is no function of this name{advice}"))
}
