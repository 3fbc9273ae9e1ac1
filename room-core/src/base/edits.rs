//! How much two names differ, to guess which known name was meant by an unknown one.

/// Counts the characters that must be inserted, removed or replaced to get from one name to the
/// other (Levenshtein, one row at a time).
pub(crate) fn edits(left: &str, right: &str) -> usize {
    let mut row = (0..=right.chars().count()).collect::<Vec<_>>();
    for (removed, from) in left.chars().enumerate() {
        let mut diagonal = removed;
        let mut before = removed + 1;
        if let Some(first) = row.first_mut() {
            *first = before;
        }
        for (cell, to) in row.iter_mut().skip(1).zip(right.chars()) {
            let replaced = diagonal + usize::from(from != to);
            diagonal = *cell;
            before = replaced.min(diagonal + 1).min(before + 1);
            *cell = before;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_are_counted() {
        let check = |left: &str, right: &str, want: usize| {
            assert_eq!(edits(left, right), want, "{left} {right}");
            assert_eq!(edits(right, left), want, "{right} {left}");
        };
        check("", "", 0);
        check("", "abc", 3);
        check("abc", "abc", 0);
        check("ab", "ba", 2);
        check("kitten", "sitting", 3);
        check("käse", "kase", 1);
    }
}
