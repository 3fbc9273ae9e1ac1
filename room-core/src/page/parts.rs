//! Finds what an owner's page loads besides itself: pictures, style sheets, scripts.

/// The tags that load a part, each with the attribute that names its address.
const LOADING: [(&str, &str); 10] = [
    ("audio", "src"),
    ("embed", "src"),
    ("img", "src"),
    ("input", "src"),
    ("link", "href"),
    ("script", "src"),
    ("source", "src"),
    ("track", "src"),
    ("video", "src"),
    ("video", "poster"),
];
/// The kinds of `<link>` that load a part.
const LOADED_LINKS: [&str; 4] = ["stylesheet", "icon", "preload", "manifest"];

/// Returns the addresses of the parts that a page loads, as they are written. Leaves out `srcset`
/// and what scripts load.
pub fn addresses(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for tag in source.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        let end = tag.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag.get(..end).unwrap_or_default();
        let is_this = |known: &str| name.eq_ignore_ascii_case(known);
        if is_this("link") && !is_loaded(attribute(tag, "rel").unwrap_or_default()) {
            continue;
        }
        let attributes = LOADING.iter().filter(|(known, _)| is_this(known));
        found.extend(attributes.filter_map(|(_, of)| attribute(tag, of)));
    }
    for part in source.split("url(").skip(1) {
        let address = part.split(')').next().unwrap_or_default();
        found.push(address.trim().trim_matches(['"', '\'']));
    }
    found
}

fn is_loaded(kinds: &str) -> bool {
    kinds.split_ascii_whitespace().any(|kind| LOADED_LINKS.contains(&kind))
}

/// Returns the value of an attribute, with or without quotes; `None` if the tag has none.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    // The letters of ASCII stay where they are.
    let small = tag.to_ascii_lowercase();
    small.match_indices(name).find_map(|(at, _)| {
        let before = tag.get(..at)?;
        if !before.ends_with(|one: char| one.is_ascii_whitespace() || "\"'/".contains(one)) {
            return None;
        }
        let value = tag.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        match value.chars().next()? {
            quote @ ('"' | '\'') => value.get(1..)?.split(quote).next(),
            _ => value.split_ascii_whitespace().next(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::addresses;

    #[test]
    fn pictures_style_sheets_and_scripts_are_found_however_they_are_written() {
        let check = |source: &str, want: &[&str]| assert_eq!(addresses(source), want, "{source}");
        check("<img src=\"/a.png\" alt=\"\"><p>/b.png</p>", &["/a.png"]);
        check("<IMG alt='x' SRC = '/a.png'/>", &["/a.png"]);
        check("<img\nsrc=/a.png>", &["/a.png"]);
        check("<img data-src=\"/a.png\">", &[]);
        check(
            "<link rel=\"stylesheet\" href=\"/a.css\"><link rel=canonical href=\"/\">",
            &["/a.css"],
        );
        check("<script src=\"/a.js\"></script><a href=\"/b\">b</a>", &["/a.js"]);
        check("<video poster=\"/a.png\" src=\"/a.mp4\"></video>", &["/a.mp4", "/a.png"]);
        check("<style>p { background: url( '/a.png' ) }</style>", &["/a.png"]);
        check("", &[]);
        check("<", &[]);
        check("<img src", &[]);
        check("<img src=", &[]);
        check("<img src=\"", &[""]);
        check("url(", &[""]);
    }
}
