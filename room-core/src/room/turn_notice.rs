//! What visitors may type to get a message from the owner's own service before their turn (the
//! field `turn_notice`), and how it is read.

use crate::base::letter_case::folded;

/// The longest address or number, in bytes.
pub const CONTACT_BYTES_MAX: usize = 120;
/// The number of digits of a telephone number (E.164 has 15 at most).
const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;
/// The number of last digits that name a telephone: as many as a number has without codes.
const LAST_DIGITS: usize = 7;
/// The longest part before the `@`, in bytes (RFC 5321).
const LOCAL_BYTES_MAX: usize = 64;
/// The longest label of a domain, in bytes (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;
/// The top domains of machines outside the public network, or of none (RFC 6761 and the like).
const PRIVATE: [&str; 6] = ["internal", "invalid", "local", "localdomain", "localhost", "onion"];
/// The zeros, besides 0, of the scripts whose digits the languages of the page use.
const ZEROS: [char; 5] = ['\u{660}', '\u{6f0}', '\u{966}', '\u{e50}', '\u{ff10}'];

/// What the queue page asks from visitors who want a message before their turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnNotice {
    /// It does not ask.
    #[default]
    Off,
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// One of the two.
    EmailOrPhone,
}

impl TurnNotice {
    /// Whether an e-mail address is accepted.
    pub const fn takes_email(self) -> bool {
        matches!(self, Self::Email | Self::EmailOrPhone)
    }

    /// Whether a telephone number is accepted.
    pub const fn takes_phone(self) -> bool {
        matches!(self, Self::Phone | Self::EmailOrPhone)
    }

    /// Reads what a visitor has typed: one address or one number. `None` for anything else. A
    /// number becomes its digits, with `+` before them if it has a country code. The domain of an
    /// address becomes small letters.
    pub fn read(self, typed: &str) -> Option<String> {
        let typed = typed.trim();
        if typed.len() > CONTACT_BYTES_MAX {
            None
        } else if typed.contains('@') {
            self.takes_email().then(|| email(typed)).flatten()
        } else if self.takes_phone() {
            phone(typed)
        } else {
            None
        }
    }
}

/// Names the mailbox or telephone that was read, in one form, to limit the messages to it. Nothing
/// is sent to that name, since two people may share one.
///
/// The local part of an address loses its tag (`+tag`), its dots and its letter case. The domain
/// gets its ASCII form: `domain_in_ascii` makes `xn--bcher-kva.example` of `bücher.example`. If a
/// large provider keeps the same mailbox under several domains, one of them counts. Of a number the
/// last digits count, since it can be written with and without its country code.
pub fn mailbox(contact: &str, domain_in_ascii: impl FnOnce(&str) -> String) -> String {
    let Some((local, domain)) = contact.split_once('@') else {
        let digits = contact.trim_start_matches('+');
        let start = digits.len().saturating_sub(LAST_DIGITS);
        return digits.get(start..).unwrap_or(digits).to_owned();
    };
    let local = local.split('+').next().unwrap_or_default().replace('.', "");
    let domain = match domain {
        "googlemail.com" => "gmail.com".to_owned(),
        "mac.com" | "me.com" => "icloud.com".to_owned(),
        "pm.me" | "protonmail.ch" | "protonmail.com" => "proton.me".to_owned(),
        "ya.ru" | "yandex.by" | "yandex.com" | "yandex.kz" => "yandex.ru".to_owned(),
        domain if domain.is_ascii() => domain.to_owned(),
        domain => domain_in_ascii(domain),
    };
    folded(&format!("{local}@{domain}")).into_owned()
}

/// Reads one address of a public mail server. Nothing in it can begin a second address, a name, a
/// header line, an option or a command. The domain becomes small letters.
fn email(text: &str) -> Option<String> {
    let (local, domain) = text.split_once('@')?;
    let domain = domain.to_ascii_lowercase();
    let (_, top) = domain.rsplit_once('.')?;
    // What ends in a number is an address of a machine.
    let is_name = top.starts_with("xn--") || !top.contains(|one: char| one.is_ascii_digit());
    let is_public = is_name && top.len() > 1 && !PRIVATE.contains(&top);
    let is_valid = is_public && is_local_part(local) && domain.split('.').all(is_label);
    is_valid.then(|| format!("{local}@{domain}"))
}

/// Whether this is the part before the `@`: words with dots between them.
fn is_local_part(text: &str) -> bool {
    let is_word = |one: char| is_letter(one) || matches!(one, '+' | '-' | '_' | '\'');
    text.len() <= LOCAL_BYTES_MAX
        && text.starts_with(|first| is_letter(first) || first == '_')
        && text.split('.').all(|word| !word.is_empty() && word.chars().all(is_word))
}

fn is_label(text: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&text.len())
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.chars().all(|one| is_letter(one) || one == '-')
}

/// Whether the character is a letter or digit, of any script. Excluded are marks and forms with
/// which one letter can be written in several ways, invisible characters and all punctuation.
fn is_letter(one: char) -> bool {
    let is_left_out = matches!(
        one,
        '\u{80}'..='\u{bf}' | '×' | '÷' | '\u{2b0}'..='\u{36f}' | '\u{37e}'
            | '\u{55a}'..='\u{55f}' | '\u{589}'..='\u{58f}' | '\u{600}'..='\u{61f}'
            | '\u{66a}'..='\u{66d}' | '\u{6d4}' | '\u{700}'..='\u{70f}'
            | '\u{964}'..='\u{965}' | '\u{e3f}' | '\u{e5a}'..='\u{e5b}'
            | '\u{1680}' | '\u{1800}'..='\u{180f}' | '\u{1d2c}'..='\u{1d6a}'
            | '\u{2000}'..='\u{2bff}' | '\u{2e00}'..='\u{3004}' | '\u{3008}'..='\u{303f}'
            | '\u{3200}'..='\u{33ff}' | '\u{a4fe}'..='\u{a4ff}'
            | '\u{e000}'..='\u{1ffff}' | '\u{e0000}'..
    );
    if one.is_ascii() { one.is_ascii_alphanumeric() } else { !is_left_out }
}

/// Reads a number: its digits, behind `+` if it begins with a country code, which `00` announces
/// too.
fn phone(text: &str) -> Option<String> {
    let is_whole = text.starts_with('+') || text.starts_with("00");
    // A zero in brackets is dialled within the country alone.
    let text = if is_whole { text.replacen("(0)", "", 1) } else { text.to_owned() };
    let mut digits = String::new();
    for one in text.strip_prefix('+').unwrap_or(&text).chars() {
        match one {
            ' ' | '\u{a0}' | '-' | '\u{2011}' | '\u{2013}' | '(' | ')' | '.' | '/' => {}
            _ => digits.push(digit(one)?),
        }
    }
    let has_plus = text.starts_with('+');
    let whole = if has_plus { Some(&*digits) } else { digits.strip_prefix("00") };
    let Some(whole) = whole else {
        return DIGITS.contains(&digits.len()).then_some(digits);
    };
    // No country has a code that begins with 0.
    (DIGITS.contains(&whole.len()) && !whole.starts_with('0')).then(|| format!("+{whole}"))
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
    use super::{CONTACT_BYTES_MAX, TurnNotice, mailbox};

    #[test]
    fn one_address_is_taken_and_nothing_else() {
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
        check("_a-b'c@x-1.b.example", true);
        check("a@xn--bcher-kva.xn--p1ai", true);
        check("用户@例子.广告", true);
        check("अजय@डाटा.भारत", true);
        assert_eq!(TurnNotice::Email.read("Ann@B.EXAMPLE").as_deref(), Some("Ann@b.example"));
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
            "a@b.example，c@d.example",
            "a@b.example،c@d.example",
            "a@b.example、c@d.example",
            "a@b.example?bcc=c",
            "a?bcc=c@b.example",
            "a&cc=c@b.example",
        ] {
            check(many, false);
        }
        for command in ["`id`@b.example", "$(id)@b.example", "a|b@b.example", "-oQ@b.example"] {
            check(command, false);
        }
        for wrong in
            ["+a@b.example", ".a@b.example", "a.@b.example", "a..b@c.example", "=1@b.example"]
        {
            check(wrong, false);
        }
        for machine in
            ["a@127.0.0.1", "a@127.1", "a@b.0x7f", "a@x.localhost", "a@db.internal", "a@b.c"]
        {
            check(machine, false);
        }
        for form in [
            "ａ@b.example",
            "a@ｂ.example",
            "a@b。example",
            "jo\u{308}rg@b.example",
            "a@b\u{ad}c.de",
        ] {
            check(form, false);
        }
        check(&format!("{}@b.example", "a".repeat(65)), false);
        check(&format!("a@{}.example", "b".repeat(64)), false);
        check("a@-b.example", false);
        check("a@b-.example", false);
        let of_length =
            |bytes: usize| format!("a@{}.{}.de", "b".repeat(63), "c".repeat(bytes - 69));
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
        check("0049 151 1234567", Some("+491511234567"));
        check("+49 (0) 151 1234567", Some("+491511234567"));
        check("0049 (0)151 1234567", Some("+491511234567"));
        for none in
            ["", "+", "1234", "+1234567890123456", "12345a", "12+345", "12345,67890", "12345;1"]
        {
            check(none, None);
        }
        for none in ["+0151123", "000151123", "001234", "12345，67890", "++4915112345"] {
            check(none, None);
        }
    }

    #[test]
    fn all_spellings_of_a_mailbox_are_one() {
        let check = |typed: &str, want: &str| {
            let read = TurnNotice::EmailOrPhone.read(typed);
            let in_ascii = |domain: &str| {
                assert!(domain.to_lowercase() == "bücher.example", "{domain}");
                "xn--bcher-kva.example".to_owned()
            };
            let named = read.map(|read| mailbox(&read, in_ascii));
            assert_eq!(named.as_deref(), Some(want), "{typed}");
        };
        for typed in [
            "ann@mail.example",
            "ANN@Mail.Example",
            " Ann+a@mail.example",
            "a.n.n+b+c@mail.example",
        ] {
            check(typed, "ann@mail.example");
        }
        check("bob@googlemail.com", "bob@gmail.com");
        for domain in ["mac.com", "Me.com", "icloud.com"] {
            check(&format!("bob@{domain}"), "bob@icloud.com");
        }
        for domain in ["pm.me", "protonmail.ch", "protonmail.com", "proton.me"] {
            check(&format!("bob@{domain}"), "bob@proton.me");
        }
        for domain in ["ya.ru", "yandex.by", "yandex.com", "yandex.kz", "yandex.ru"] {
            check(&format!("bob@{domain}"), "bob@yandex.ru");
        }
        for typed in ["JÖRG@BÜCHER.example", "jörg@bücher.example", "jörg@XN--bcher-kva.example"]
        {
            check(typed, "jörg@xn--bcher-kva.example");
        }
        check("ann-lee@mail.example", "ann-lee@mail.example");
        for typed in ["+491511234567", "0049 151 123 45 67", "01511234567", "+49 (0) 151/1234567"] {
            check(typed, "1234567");
        }
        check("+12345", "12345");
    }
}
