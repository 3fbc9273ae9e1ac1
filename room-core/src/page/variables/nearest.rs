//! Finds the variable that the author of a template meant by an unknown name.

/// The most differences between an unknown name and the meant one.
const DIFFERENCES_MAX: usize = 3;

/// Returns the one of `names` that differs least from `name`: by at most three letters and less
/// than half of them. Letter case does not count.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = DIFFERENCES_MAX.min(name.len().saturating_sub(1) / 2);
    let distance = |one: &str| differences(name.as_bytes(), one.as_bytes());
    let best = names.map(|one| (distance(one), one)).min_by_key(|(distance, _)| *distance);
    best.filter(|(distance, _)| *distance <= most).map(|(_, one)| one)
}

/// Counts how many letters have to be added, left out or replaced (Levenshtein's distance).
fn differences(one: &[u8], other: &[u8]) -> usize {
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut diagonal = row;
        let mut left = row + 1;
        for (cell, beside) in above.iter_mut().skip(1).zip(other) {
            let replaced = diagonal + usize::from(!letter.eq_ignore_ascii_case(beside));
            diagonal = *cell;
            left = replaced.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
        if let Some(first) = above.first_mut() {
            *first = row + 1;
        }
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{differences, nearest};

    #[test]
    fn differences_are_counted() {
        let check = |one: &str, other: &str, want: usize| {
            assert_eq!(differences(one.as_bytes(), other.as_bytes()), want, "{one} {other}");
        };
        check("", "", 0);
        check("abc", "", 3);
        check("", "abc", 3);
        check("kitten", "sitting", 3);
        check("waitTime", "waittime", 0);
        check("ab", "ba", 2);
    }

    #[test]
    fn the_nearest_name_is_meant_if_it_is_near() {
        let names = ["waitTime", "waitTimeKnown", "queueAll"];
        let check = |name: &str, want: Option<&str>| {
            assert_eq!(nearest(name, names.into_iter()), want, "{name}");
        };
        check("waittime", Some("waitTime"));
        check("waitTimeKnow", Some("waitTimeKnown"));
        check("queue_all", Some("queueAll"));
        check("wait", None);
        check("x", None);
        check("", None);
    }
}
