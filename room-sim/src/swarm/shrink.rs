//! Shrinks a list that breaks something, by removing what is not needed for that. It knows no
//! story.

/// Returns the numbers that suffice to break it, and how it then breaks; `breaks` tries some of
/// them.
///
/// First half of them are removed at once, then fewer and fewer, and at last one after another. The
/// last numbers go first, since they are the faults of a story.
pub fn shrink<Broken>(
    all: &[usize],
    first: Broken,
    breaks: impl Fn(&[usize]) -> Option<Broken>,
) -> (Vec<usize>, Broken) {
    let (mut kept, mut found) = (all.to_vec(), first);
    let mut width = kept.len().div_ceil(2).max(1);
    loop {
        let before = kept.len();
        let mut end = kept.len();
        while end > 0 {
            let start = end.saturating_sub(width);
            let mut fewer = kept.clone();
            fewer.drain(start..end);
            if let Some(same) = breaks(&fewer) {
                (kept, found) = (fewer, same);
            }
            end = start;
        }
        if width == 1 && kept.len() == before {
            return (kept, found);
        }
        width = width.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use super::shrink;

    #[test]
    fn what_it_breaks_without_is_left_out() {
        let check = |count: usize, needed: &[usize]| {
            let all: Vec<usize> = (0..count).collect();
            let breaks = |some: &[usize]| {
                needed.iter().all(|number| some.contains(number)).then_some(some.len())
            };
            assert_eq!(shrink(&all, count, breaks), (needed.to_vec(), needed.len()), "{count}");
        };
        check(0, &[]);
        check(1, &[]);
        check(9, &[]);
        check(9, &[0, 4, 8]);
        check(20, &[3]);
        check(3, &[0, 1, 2]);
    }

    /// Whatever of two is enough, one of them is left.
    #[test]
    fn nothing_is_left_that_can_be_left_out() {
        let breaks = |some: &[usize]| (some.contains(&2) || some.contains(&7)).then_some(());
        assert_eq!(shrink(&[0, 1, 2, 3, 7], (), breaks).0, [2]);
    }
}
