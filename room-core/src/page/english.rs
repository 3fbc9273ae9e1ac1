//! Writes times and numbers of people in English, for the variables called `...Formatted`.

use super::words::Words;

/// Writes a range of minutes as `3 minutes to 14 minutes`; as one time if both read the same.
pub(super) fn format_range((low, high): (u64, u64)) -> String {
    let (low, high) = (in_english(low), in_english(high));
    if low == high { low } else { format!("{low} to {high}") }
}

/// Writes minutes as `2 hours 5 minutes`.
pub(super) fn in_english(minutes: u64) -> String {
    Words::default().minutes(minutes)
}

/// Writes a number of people as `nobody`, `1 person` or `1,234 people`.
pub(super) fn format_people(people: u64) -> String {
    match people {
        0 => "nobody".to_owned(),
        1 => "1 person".to_owned(),
        _ => Words::default().number(people) + " people",
    }
}

#[cfg(test)]
mod tests {
    use super::format_people;

    #[test]
    fn crowds_read_naturally() {
        let check = |people: u64, want: &str| assert_eq!(format_people(people), want);
        check(0, "nobody");
        check(1, "1 person");
        check(999, "999 people");
        check(1_000, "1,000 people");
        check(1_234_567, "1,234,567 people");
    }
}
