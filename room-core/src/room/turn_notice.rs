//! What visitors may type so that the owner's own service tells them before their turn (the field
//! `turn_notice`), and how it is read.

/// The longest address or number, in bytes.
pub const CONTACT_BYTES_MAX: usize = 120;
/// How many digits a telephone number has (E.164 has 15 at most).
const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;
/// The zeros of the scripts whose digits the languages of the page use, beside 0.
const ZEROS: [char; 5] = ['\u{660}', '\u{6f0}', '\u{966}', '\u{e50}', '\u{ff10}'];

/// What the queue page asks visitors for who want to be told before their turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnNotice {
    /// It does not ask.
    #[default]
    Off,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// One of both.
    EmailOrPhone,
}

impl TurnNotice {
    /// Whether an e-mail address is taken.
    pub const fn takes_email(self) -> bool {
        matches!(self, Self::Email | Self::EmailOrPhone)
    }

    /// Whether a telephone number is taken.
    pub const fn takes_phone(self) -> bool {
        matches!(self, Self::Phone | Self::EmailOrPhone)
    }

    /// Reads what a visitor has typed: one address or one number. A number becomes its digits, with
    /// `+` before them if there was one; an address stays as it is. `None` for anything else.
    pub fn read(self, typed: &str) -> Option<String> {
        let typed = typed.trim();
        if typed.len() > CONTACT_BYTES_MAX {
            None
        } else if typed.contains('@') {
            (self.takes_email() && is_email(typed)).then(|| typed.to_owned())
        } else if self.takes_phone() {
            phone(typed)
        } else {
            None
        }
    }
}

/// Whether this is one address: nothing in it can begin a second one, a name or a header line.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let labels = || domain.split('.');
    !local.is_empty()
        && labels().count() > 1
        && labels().all(|label| !label.is_empty())
        && !domain.contains('@')
        && text.chars().all(|one| !one.is_control() && !one.is_whitespace() && !is_special(one))
}

/// Whether a character could separate addresses, or is not seen.
fn is_special(one: char) -> bool {
    matches!(one, ',' | ';' | ':' | '<' | '>' | '(' | ')' | '[' | ']' | '"' | '\\' | '%' | '!')
        || matches!(one, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(one, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

fn phone(text: &str) -> Option<String> {
    let (plus, rest) = text.strip_prefix('+').map_or(("", text), |rest| ("+", rest));
    let mut number = plus.to_owned();
    for one in rest.chars() {
        match one {
            ' ' | '\u{a0}' | '-' | '\u{2011}' | '\u{2013}' | '(' | ')' | '.' | '/' => {}
            _ => number.push(digit(one)?),
        }
    }
    DIGITS.contains(&number.len().saturating_sub(plus.len())).then_some(number)
}

fn digit(one: char) -> Option<char> {
    if one.is_ascii_digit() {
        return Some(one);
    }
    let value = |zero: char| u32::from(one).checked_sub(u32::from(zero));
    ZEROS.into_iter().filter_map(value).find_map(|value| char::from_digit(value, 10))
}

#[cfg(test)]
mod tests {
    use super::{CONTACT_BYTES_MAX, TurnNotice};

    #[test]
    fn one_address_is_taken_as_it_is_typed() {
        let check = |typed: &str, want: bool| {
            let read = TurnNotice::Email.read(typed);
            assert_eq!(read.as_deref(), want.then_some(typed.trim()), "{typed:?}");
            assert_eq!(TurnNotice::EmailOrPhone.read(typed), read, "{typed:?}");
            assert_eq!(TurnNotice::Phone.read(typed), None, "{typed:?}");
            assert_eq!(TurnNotice::Off.read(typed), None, "{typed:?}");
        };
        check("a@b.example", true);
        check(" ann.o'neil+queue@mail.example ", true);
        check("jörg@bücher.example", true);
        for none in ["@", "a@", "@b.example", "a@b", "a@b.", "a@.b", "a@b..c", "a@b@c.example", ""]
        {
            check(none, false);
        }
        // One message goes to one address.
        for many in [
            "a@b.example,c@d.example",
            "a@b.example;c@d.example",
            "a@b.example c@d.example",
            "Ann <a@b.example>",
            "mailto:a@b.example",
            "a%c.example@b.example",
            "c.example!a@b.example",
            "a@b.example\r\nBcc: c",
            "a@b.example\0",
            "a@b.exa\u{202e}mple",
            "a@b.\u{200b}example",
        ] {
            check(many, false);
        }
        let of_length = |bytes: usize| format!("a@{}.example", "b".repeat(bytes - 10));
        check(&of_length(CONTACT_BYTES_MAX), true);
        check(&of_length(CONTACT_BYTES_MAX + 1), false);
    }

    #[test]
    fn of_a_number_the_digits_stay() {
        let check = |typed: &str, want: Option<&str>| {
            assert_eq!(TurnNotice::Phone.read(typed).as_deref(), want, "{typed:?}");
            assert_eq!(TurnNotice::EmailOrPhone.read(typed).as_deref(), want, "{typed:?}");
            assert_eq!(TurnNotice::Email.read(typed), None, "{typed:?}");
        };
        check("+49 (151) 123-45.67", Some("+491511234567"));
        check(" 0151/1234567 ", Some("01511234567"));
        check("٠١٢٣٤٥٦", Some("0123456"));
        check("۰۱۲۳۴۵۶", Some("0123456"));
        check("०१२३४", Some("01234"));
        check("01234", Some("01234"));
        check("+123456789012345", Some("+123456789012345"));
        for none in
            ["", "+", "1234", "+1234567890123456", "12345a", "12+345", "12345,67890", "12345;1"]
        {
            check(none, None);
        }
    }
}
