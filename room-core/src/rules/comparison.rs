//! The part of the grammar on the right of a comparison: operators, literals and sets.

use super::address::{IpRange, RangeError, address};
use super::check::Operator;
use super::error::{Mistake, Span, nearest};
use super::lex::Token;
use super::list::ListKind;
use super::parse::{Parser, shown};
use super::pattern::{Needle, Pattern, Wildcard};
use super::tree::{IntegerRange, Relation, Scalar, Test};

/// The most bytes of all compiled regular expressions of one expression. A hundred rules so fit
/// into an isolate beside everything else.
pub(super) const REGEX_BYTES_MAX: usize = 4 * Pattern::SIZE_BYTES_MAX;

impl Parser<'_> {
    /// Reads the operator if one stands here.
    pub(super) fn operator(&mut self) -> Result<Option<(Operator, Span)>, Mistake> {
        use Operator::{BitwiseAnd, Contains, In, Matches, Wildcard};
        let (token, span) = self.peek();
        let operator = match token {
            Token::Name("bitwise_and") | Token::Symbol("&") => BitwiseAnd,
            Token::Name("contains") => Contains,
            Token::Name("eq") | Token::Symbol("==") => Operator::Relation(Relation::Equal),
            Token::Name("ge") | Token::Symbol(">=") => Operator::Relation(Relation::GreaterOrEqual),
            Token::Name("gt") | Token::Symbol(">") => Operator::Relation(Relation::Greater),
            Token::Name("in") => In,
            Token::Name("le") | Token::Symbol("<=") => Operator::Relation(Relation::LessOrEqual),
            Token::Name("lt") | Token::Symbol("<") => Operator::Relation(Relation::Less),
            Token::Name("matches") | Token::Symbol("~") => Matches,
            Token::Name("ne") | Token::Symbol("!=") => Operator::Relation(Relation::NotEqual),
            Token::Name("strict") => return self.strict_wildcard(span).map(Some),
            Token::Name("wildcard") => Wildcard { is_strict: false },
            _ => return Ok(None),
        };
        self.lexer.next();
        Ok(Some((operator, span)))
    }

    fn strict_wildcard(&mut self, strict: Span) -> Result<(Operator, Span), Mistake> {
        self.lexer.next();
        let (token, span) = self.lexer.next();
        if token == Token::Name("wildcard") {
            return Ok((Operator::Wildcard { is_strict: true }, strict.to(span)));
        }
        Err(Mistake::new(span, format!("wildcard must follow strict, not {}", shown(token))))
    }

    /// Reads what follows the operator, and returns its place too. The operator fits `scalar`, the
    /// type on its left.
    pub(super) fn test(
        &mut self,
        operator: Operator,
        scalar: Scalar,
    ) -> Result<(Test, Span), Mistake> {
        match operator {
            Operator::BitwiseAnd => {
                self.integer().map(|(number, span)| (Test::BitwiseAnd(number), span))
            }
            Operator::Contains => self
                .quoted()
                .map(|(text, span)| (Test::Contains(Box::new(Needle::new(&text))), span)),
            Operator::In if self.peek().0 == Token::Symbol("$") => self.list(scalar),
            Operator::In => self.set(scalar),
            Operator::Matches => self.pattern(),
            Operator::Relation(relation) => match scalar {
                Scalar::Boolean | Scalar::Text => {
                    self.quoted().map(|(text, span)| (Test::Text(relation, text.into()), span))
                }
                Scalar::Integer => {
                    self.integer().map(|(number, span)| (Test::Integer(relation, number), span))
                }
                Scalar::Ip => self.ip(relation == Relation::Equal),
            },
            Operator::Wildcard { is_strict } => {
                let (text, span) = self.quoted()?;
                let pattern = Wildcard::parse(&text, is_strict)
                    .map_err(|error| Mistake::new(span, error.to_string()))?;
                Ok((Test::Wildcard(pattern), span))
            }
        }
    }

    fn quoted(&mut self) -> Result<(Vec<u8>, Span), Mistake> {
        let text = self.lexer.text()?;
        text.ok_or_else(|| self.wrong_literal("a quoted text"))
    }

    pub(super) fn integer(&mut self) -> Result<(i64, Span), Mistake> {
        let fault = self.wrong_literal("an integer without quotation marks");
        let (text, span) = self.lexer.run();
        if text.is_empty() {
            return Err(fault);
        }
        integer(text).map(|number| (number, span)).map_err(|message| Mistake::new(span, message))
    }

    fn ip(&mut self, is_equal: bool) -> Result<(Test, Span), Mistake> {
        let fault = self.wrong_literal("an IP address without quotation marks");
        let (text, span) = self.lexer.run();
        if text.is_empty() {
            return Err(fault);
        }
        let message = |error: RangeError| match IpRange::parse(text) {
            Ok(_) => format!("a range is tested by in, like ip.src in {{{text}}}"),
            Err(_) => error.to_string(),
        };
        match address(text) {
            Ok(address) => Ok((Test::Ip(is_equal, address), span)),
            Err(error) => Err(Mistake::new(span, message(error))),
        }
    }

    fn pattern(&mut self) -> Result<(Test, Span), Mistake> {
        let Some((text, span)) = self.lexer.regular_expression()? else {
            return Err(self.wrong_literal("a quoted regular expression"));
        };
        let pattern = Pattern::compile(&text).map_err(|error| {
            Mistake::new(span, format!("this is not a regular expression of this product: {error}"))
        })?;
        self.regex_bytes = self.regex_bytes.saturating_add(pattern.size_bytes());
        if self.regex_bytes > REGEX_BYTES_MAX {
            let message = format!(
                "the regular expressions up to here compile to more than {REGEX_BYTES_MAX} bytes; \
                 simplify them or make several rules"
            );
            return Err(Mistake::new(span, message));
        }
        Ok((Test::Matches(pattern), span))
    }

    fn set(&mut self, scalar: Scalar) -> Result<(Test, Span), Mistake> {
        let (token, opening) = self.lexer.next();
        if token != Token::Symbol("{") {
            let message = format!("{{ or $ must follow in, not {}", shown(token));
            return Err(Mistake::new(opening, message));
        }
        let (mut integers, mut ips, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        while self.peek().0 != Token::Symbol("}") {
            if self.peek().0 == Token::Symbol(",") {
                let message = "the items of a set are separated by spaces";
                return Err(Mistake::new(self.peek().1, message));
            }
            match scalar {
                Scalar::Integer => integers.push(self.integer_range()?),
                Scalar::Ip => ips.push(self.ip_range()?),
                Scalar::Boolean | Scalar::Text => texts.push(self.quoted()?.0.into()),
            }
        }
        let span = opening.to(self.expect("}")?);
        Ok(match scalar {
            Scalar::Integer => (Test::InIntegers(integers), span),
            Scalar::Ip => (Test::InIps(ips), span),
            Scalar::Boolean | Scalar::Text => (Test::InTexts(texts), span),
        })
    }

    fn integer_range(&mut self) -> Result<IntegerRange, Mistake> {
        let fault = self.wrong_literal("an integer or a range like 8000..8009");
        let (text, span) = self.lexer.run();
        if text.is_empty() {
            return Err(fault);
        }
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let number = |text| integer(text).map_err(|message| Mistake::new(span, message));
        let range = IntegerRange { first: number(first)?, last: number(last)? };
        if range.first > range.last {
            return Err(Mistake::new(span, RangeError::Backwards.to_string()));
        }
        Ok(range)
    }

    fn ip_range(&mut self) -> Result<IpRange, Mistake> {
        let fault = self.wrong_literal("an IP address, a network or a range, without quotes");
        let (text, span) = self.lexer.run();
        if text.is_empty() {
            return Err(fault);
        }
        IpRange::parse(text).map_err(|error| Mistake::new(span, error.to_string()))
    }

    fn list(&mut self, scalar: Scalar) -> Result<(Test, Span), Mistake> {
        let (_, dollar) = self.lexer.next();
        let (token, span) = self.lexer.next();
        let Token::Name(name) = token else {
            return Err(Mistake::new(span, "the name of a list must follow $, like $office"));
        };
        let span = dollar.to(span);
        let Some(kind) = self.lists.get(name) else {
            let known = self.lists.keys().map(String::as_str);
            let advice = match nearest(name, known) {
                Some(name) => format!("; did you mean ${name}?"),
                None if self.lists.is_empty() => "; there are no lists yet".to_owned(),
                None => String::new(),
            };
            return Err(Mistake::new(span, format!("there is no list of this name{advice}")));
        };
        let wanted = match scalar {
            Scalar::Integer => ListKind::Asn,
            Scalar::Ip => ListKind::Ip,
            Scalar::Boolean | Scalar::Text => ListKind::Hostname,
        };
        if *kind != wanted {
            let message = format!(
                "${name} is a list of {}, but a list of {} must stand here",
                kind.description(),
                wanted.description()
            );
            return Err(Mistake::new(span, message));
        }
        Ok((Test::InList(name.into()), span))
    }

    fn wrong_literal(&self, wanted: &str) -> Mistake {
        let (token, span) = self.peek();
        let is_field = matches!(token, Token::Name(name) if super::field::find(name).is_some());
        let advice = if is_field { "; a field cannot be compared with another field" } else { "" };
        let message = format!("{wanted} must stand here, not {}{advice}", shown(token));
        Mistake::new(span, message)
    }
}

fn integer(text: &str) -> Result<i64, &'static str> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (digits, radix) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err("must be a whole number, like 443 or 0x1bb");
    }
    if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
        return Err("must not begin with 0: elsewhere that means an octal number");
    }
    let number = i64::from_str_radix(&format!("{sign}{digits}"), radix);
    number.map_err(|_| "must be from -9223372036854775808 to 9223372036854775807")
}
