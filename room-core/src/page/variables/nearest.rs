//! Finds the variable that the author of a template meant by an unknown name.

use crate::base::edits::edits;

/// The most differences between an unknown name and the meant one.
const DIFFERENCES_MAX: usize = 3;

/// Returns the one of `names` that differs least from `name`: by at most three letters and less
/// than half of them. Letter case does not count.
pub(super) fn nearest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = DIFFERENCES_MAX.min(name.len().saturating_sub(1) / 2);
    let name = name.to_ascii_lowercase();
    let distance = |one: &str| edits(&name, &one.to_ascii_lowercase());
    let best = names.map(|one| (distance(one), one)).min_by_key(|(distance, _)| *distance);
    best.filter(|(distance, _)| *distance <= most).map(|(_, one)| one)
}

#[cfg(test)]
mod tests {
    use super::nearest;

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
