//! Splits the text of an expression into names, symbols and literals, as the parser asks for them.

use std::slice;

use super::error::{Mistake, Span};

/// The most `#` on each side of a raw text (`r#"..."#`), as with Cloudflare.
pub(super) const HASHES_MAX: usize = 255;

/// One name or symbol, or whatever else is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// The end of the text.
    End,
    /// Words of letters, digits and `_`, joined by dots.
    Name(&'t str),
    /// A quotation mark, where a text begins.
    Quote,
    Symbol(&'static str),
    /// A character with which no token begins.
    Other(char),
}

/// A place in the text of an expression. Reading moves it on. A copy of it can read ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    /// Returns the next token without moving on.
    pub fn peek(&self) -> (Token<'t>, Span) {
        let mut ahead = *self;
        ahead.next()
    }

    pub fn next(&mut self) -> (Token<'t>, Span) {
        self.skip_white_space();
        let rest = self.rest();
        let token = match rest.chars().next() {
            None => Token::End,
            Some('"') => Token::Quote,
            Some('r') if raw_hashes(rest).is_some() => Token::Quote,
            Some(character) if is_word(character) => Token::Name(name_at(rest)),
            Some(character) => SYMBOLS
                .iter()
                .find(|symbol| rest.starts_with(**symbol))
                .map_or(Token::Other(character), |symbol| Token::Symbol(symbol)),
        };
        let length = match token {
            Token::End => 0,
            Token::Name(name) => name.len(),
            Token::Quote => rest.find('"').map_or(1, |quote| quote.saturating_add(1)),
            Token::Symbol(symbol) => symbol.len(),
            Token::Other(character) => character.len_utf8(),
        };
        (token, self.advance(length))
    }

    /// Reads an unquoted literal, after white space. It ends before a character that cannot be part
    /// of a number, an address or a range.
    pub fn run(&mut self) -> (&'t str, Span) {
        self.skip_white_space();
        let rest = self.rest();
        let is_part = |character: char| is_word(character) || ".:/-%+".contains(character);
        let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
        (rest.get(..length).unwrap_or_default(), self.advance(length))
    }

    /// Reads a quoted or raw text; `None` if none begins here.
    pub fn text(&mut self) -> Result<Option<(Vec<u8>, Span)>, Mistake> {
        if let Some(raw) = self.raw_text()? {
            let (text, span) = raw;
            return Ok(Some((text.as_bytes().to_vec(), span)));
        }
        let rest = self.rest();
        let Some(mut inside) = rest.strip_prefix('"') else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        loop {
            let place = rest.len().saturating_sub(inside.len());
            let mut characters = inside.chars();
            match characters.next() {
                None => return Err(self.never_closed(1)),
                Some('"') => {
                    return Ok(Some((bytes, self.advance(place.saturating_add(1)))));
                }
                Some('\\') => {
                    let Some((byte, length)) = escape(characters.as_str()) else {
                        return Err(self.bad_escape(place, characters.next()));
                    };
                    bytes.push(byte);
                    inside = characters.as_str().get(length..).unwrap_or_default();
                }
                Some(character) => {
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    inside = characters.as_str();
                }
            }
        }
    }

    /// Reads a regular expression, quoted or raw; `None` if none begins here.
    ///
    /// In the quoted form a backslash belongs to the expression, except before a `"`. A `"` in a
    /// class like `["]` does not end it.
    pub fn regular_expression(&mut self) -> Result<Option<(String, Span)>, Mistake> {
        if let Some((text, span)) = self.raw_text()? {
            return Ok(Some((text.to_owned(), span)));
        }
        let Some(inside) = self.rest().strip_prefix('"') else {
            return Ok(None);
        };
        let mut pattern = String::new();
        let mut classes = Classes::default();
        let mut characters = inside.char_indices();
        while let Some((place, character)) = characters.next() {
            match character {
                '"' if !classes.is_inside() => {
                    return Ok(Some((pattern, self.advance(place.saturating_add(2)))));
                }
                '\\' => {
                    let Some((_, escaped)) = characters.next() else { break };
                    if escaped != '"' || classes.is_inside() {
                        pattern.push('\\');
                    }
                    pattern.push(escaped);
                    classes.escaped();
                }
                _ => {
                    pattern.push(character);
                    classes.read(character);
                }
            }
        }
        Err(self.never_closed(1))
    }

    fn raw_text(&mut self) -> Result<Option<(&'t str, Span)>, Mistake> {
        self.skip_white_space();
        let rest = self.rest();
        let Some(hashes) = raw_hashes(rest) else {
            return Ok(None);
        };
        let opening = hashes.saturating_add(2);
        if hashes > HASHES_MAX {
            let message = format!("a raw text has at most {HASHES_MAX} # on each side");
            return Err(Mistake::new(self.advance(opening), message));
        }
        let closing = format!("\"{}", "#".repeat(hashes));
        let inside = rest.get(opening..).unwrap_or_default();
        let Some(length) = inside.find(&closing) else {
            return Err(self.never_closed(opening));
        };
        let text = inside.get(..length).unwrap_or_default();
        let length = opening.saturating_add(length).saturating_add(closing.len());
        Ok(Some((text, self.advance(length))))
    }

    fn never_closed(&self, length: usize) -> Mistake {
        let span = Span { start: self.position, end: self.position.saturating_add(length) };
        Mistake::new(span, "this text is never closed: its last quotation mark is missing")
    }

    /// Makes the error for a wrong escape whose backslash stands `place` bytes from here.
    fn bad_escape(&self, place: usize, escaped: Option<char>) -> Mistake {
        let start = self.position.saturating_add(place);
        let length = 1 + escaped.map_or(0, char::len_utf8);
        let span = Span { start, end: start.saturating_add(length) };
        let message = "behind a backslash stands \", \\, x with two hexadecimal digits, or three \
                       octal digits up to 377; a raw text like r\"\\d\" needs no escapes";
        Mistake::new(span, message)
    }

    fn skip_white_space(&mut self) {
        let rest = self.rest();
        let is_white_space = |character| matches!(character, ' ' | '\t' | '\r' | '\n');
        let length = rest.len() - rest.trim_start_matches(is_white_space).len();
        self.position = self.position.saturating_add(length);
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn advance(&mut self, length: usize) -> Span {
        let start = self.position;
        self.position = start.saturating_add(length);
        Span { start, end: self.position }
    }
}

/// Tracks where the classes of a regular expression (`[...]`) begin and end. Inside one a `"` is a
/// character like others.
#[derive(Debug, Default)]
pub(super) struct Classes {
    depth: usize,
    /// Whether this is the start of a class, where a `]` is a member of the class and not its end.
    at_start: bool,
}

impl Classes {
    pub fn is_inside(&self) -> bool {
        self.depth > 0
    }

    pub fn read(&mut self, character: char) {
        match character {
            '[' => {
                self.depth = self.depth.saturating_add(1);
                self.at_start = true;
            }
            ']' if self.depth > 0 && !self.at_start => self.depth -= 1,
            '^' if self.at_start => {}
            _ => self.at_start = false,
        }
    }

    /// Reads the character behind a backslash.
    pub fn escaped(&mut self) {
        self.at_start = false;
    }
}

/// Counts the `#` between `r` and `"` at the start of `text`; `None` if it is no raw text.
fn raw_hashes(text: &str) -> Option<usize> {
    let behind = text.strip_prefix('r')?;
    let quote = behind.trim_start_matches('#');
    quote.starts_with('"').then_some(behind.len() - quote.len())
}

/// Returns the byte that an escape stands for, and the length of the escape in bytes. `text` begins
/// behind the backslash. `None` if this is no escape.
fn escape(text: &str) -> Option<(u8, usize)> {
    match *text.as_bytes() {
        [byte @ (b'"' | b'\\'), ..] => Some((byte, 1)),
        [b'x', high, low, ..] => {
            let mut byte = 0;
            base16ct::mixed::decode([high, low], slice::from_mut(&mut byte)).ok()?;
            Some((byte, 3))
        }
        [high, middle, low, ..] => {
            let digit = |byte: u8| char::from(byte).to_digit(8);
            let byte = digit(high)? * 64 + digit(middle)? * 8 + digit(low)?;
            Some((u8::try_from(byte).ok()?, 3))
        }
        _ => None,
    }
}

fn name_at(text: &str) -> &str {
    let mut length = 0;
    let mut rest = text;
    loop {
        let word = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
        length += word;
        rest = text.get(length..).unwrap_or_default();
        // A dot belongs to the name only if a word follows, so that `a..b` is a range.
        match rest.strip_prefix('.') {
            Some(after) if after.starts_with(is_word) => {
                length += 1;
                rest = after;
            }
            _ => return text.get(..length).unwrap_or_default(),
        }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// All symbols. A longer one precedes its own beginnings.
const SYMBOLS: [&str; 22] = [
    "&&", "||", "^^", "==", "!=", "<=", ">=", "<", ">", "!", "~", "&", "(", ")", "[", "]", "{",
    "}", ",", "$", "*", "-",
];

#[cfg(test)]
mod tests {
    use super::{Lexer, Token};

    #[test]
    fn names_and_symbols_come_one_after_the_other() {
        let mut lexer = Lexer::new("a.b_1 <=\t(!=!!x..2)||r r\"");
        let want = [
            (Token::Name("a.b_1"), 0),
            (Token::Symbol("<="), 6),
            (Token::Symbol("("), 9),
            (Token::Symbol("!="), 10),
            (Token::Symbol("!"), 12),
            (Token::Symbol("!"), 13),
            (Token::Name("x"), 14),
            (Token::Other('.'), 15),
            (Token::Other('.'), 16),
            (Token::Name("2"), 17),
            (Token::Symbol(")"), 18),
            (Token::Symbol("||"), 19),
            (Token::Name("r"), 21),
            (Token::Quote, 23),
            (Token::End, 25),
        ];
        for (token, start) in want {
            assert_eq!(lexer.peek(), lexer.clone().next());
            let (found, span) = lexer.next();
            assert_eq!((found, span.start), (token, start));
        }
    }

    #[test]
    fn texts_are_unescaped() {
        let check = |text: &str, want: Result<&[u8], usize>| {
            let found = Lexer::new(text).text().map(|found| found.map(|(bytes, _)| bytes));
            let found = found.map_err(|fault| fault.span.start);
            assert_eq!(found, want.map(|bytes| Some(bytes.to_vec())), "{text}");
        };
        check(r#""""#, Ok(b""));
        check(r#"  "a b""#, Ok(b"a b"));
        check(r#""\"\\\x41\x0a\101\000\377""#, Ok(b"\"\\A\nA\0\xff"));
        check("\"\u{e4}\"", Ok("\u{e4}".as_bytes()));
        check(r#"r"\d""#, Ok(br"\d"));
        check(r##"r#"a"b"#"##, Ok(b"a\"b"));
        check("r##\"a\"#b\"##", Ok(b"a\"#b"));
        check(r#""\n""#, Err(1));
        check(r#""ab\x4""#, Err(3));
        check(r#""\400""#, Err(1));
        check(r#""\18""#, Err(1));
        check("\"\\\u{e4}\"", Err(1));
        check(r#"  "abc"#, Err(2));
        check(r#""abc\""#, Err(0));
        check("r#\"abc\"", Err(0));
        let raw = |hashes: usize| format!("r{0}\"a\"{0}", "#".repeat(hashes));
        check(&raw(255), Ok(b"a"));
        check(&raw(256), Err(0));
        assert_eq!(Lexer::new("abc").text().unwrap(), None);
        assert_eq!(Lexer::new("r#abc").text().unwrap(), None);
    }

    #[test]
    fn regular_expressions_keep_their_backslashes() {
        let check = |text: &str, want: Result<&str, usize>| {
            let found = Lexer::new(text).regular_expression();
            let found = found.map(|found| found.map(|(pattern, _)| pattern));
            let found = found.map_err(|fault| fault.span.start);
            assert_eq!(found, want.map(|pattern| Some(pattern.to_owned())), "{text}");
        };
        check(r#""\.css$""#, Ok(r"\.css$"));
        check(r#""a\"b""#, Ok("a\"b"));
        check(r#""\\" x"#, Ok(r"\\"));
        check(r#""[a"b]" x"#, Ok("[a\"b]"));
        check(r#""[]"]" x"#, Ok("[]\"]"));
        check(r#""[^]"]" x"#, Ok("[^]\"]"));
        check(r#""[a\]"\"]" x"#, Ok(r#"[a\]"\"]"#));
        check(r#""[[a]"]" x"#, Ok("[[a]\"]"));
        check(r#""a]" x"#, Ok("a]"));
        check(r#"r"a\"b"#, Ok(r"a\"));
        check(r#""[" x"#, Err(0));
        check(r#""a\""#, Err(0));
        check(r#""a\"#, Err(0));
    }

    #[test]
    fn a_run_ends_at_white_space_or_a_symbol() {
        let check = |text: &str, want: &str| {
            assert_eq!(Lexer::new(text).run().0, want, "{text}");
        };
        check(" 2001:db8::/32 ::1", "2001:db8::/32");
        check("-5..+7)", "-5..+7");
        check("10.0.0.1..10.0.0.9}", "10.0.0.1..10.0.0.9");
        check("0x1F&&ssl", "0x1F");
        check("\"a\"", "");
    }
}
