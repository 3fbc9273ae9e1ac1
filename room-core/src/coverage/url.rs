//! An absolute URL taken apart where it stands. Borrows only; changes and checks no part.

/// The parts of an absolute URL, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'url> {
    /// Before `://`.
    pub scheme: &'url str,
    /// Without user, port and final dots, in the letter case of the URL.
    pub host: &'url str,
    /// From the first slash to the query; `/` when the URL has none.
    pub path: &'url str,
    /// After `?`, without the fragment; `None` without a `?`.
    pub query: Option<&'url str>,
}

/// The parts of `url`; `None` when it has no scheme or no host.
///
/// A backslash ends the host like a slash, as in the URL standard of the browsers.
pub fn split_url(url: &str) -> Option<UrlParts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let authority_end = rest.bytes().position(|byte| matches!(byte, b'/' | b'\\' | b'?' | b'#'));
    let (authority, rest) = rest.split_at_checked(authority_end.unwrap_or(rest.len()))?;
    let target_end = rest.bytes().position(|byte| byte == b'#').unwrap_or(rest.len());
    let (target, _fragment) = rest.split_at_checked(target_end)?;
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let host = host_of(authority);
    (!host.is_empty()).then_some(UrlParts {
        scheme,
        host,
        path: if path.is_empty() { "/" } else { path },
        query,
    })
}

fn host_of(authority: &str) -> &str {
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_user, rest)| rest);
    // The colons of an IPv6 address stand inside its brackets.
    let port_search_from = host_and_port.rfind(']').unwrap_or(0);
    let host = host_and_port
        .get(port_search_from..)
        .and_then(|rest| rest.find(':'))
        .and_then(|colon| host_and_port.get(..port_search_from + colon))
        .unwrap_or(host_and_port);
    host.trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::split_url;

    #[test]
    fn urls_fall_apart_at_the_right_places() {
        let check = |url: &str, want: Option<(&str, &str, &str, Option<&str>)>| {
            let parts = split_url(url).map(|url| (url.scheme, url.host, url.path, url.query));
            assert_eq!(parts, want, "{url}");
        };
        check("http://shop", Some(("http", "shop", "/", None)));
        check("http://shop/", Some(("http", "shop", "/", None)));
        check("https://Shop.Net:8443/a/b?c=/d?e#f", {
            Some(("https", "Shop.Net", "/a/b", Some("c=/d?e")))
        });
        check("http://shop?q", Some(("http", "shop", "/", Some("q"))));
        check("http://shop#/a?b", Some(("http", "shop", "/", None)));
        check("http://shop/a#b?c", Some(("http", "shop", "/a", None)));
        check("http://shop./a", Some(("http", "shop", "/a", None)));
        check("http://shop.:80/a", Some(("http", "shop", "/a", None)));
        check("http://u:p@shop:1/a@b", Some(("http", "shop", "/a@b", None)));
        check("http://shop\\a", Some(("http", "shop", "\\a", None)));
        check("http://[::1]:80/a", Some(("http", "[::1]", "/a", None)));
        check("http://[::1]/a", Some(("http", "[::1]", "/a", None)));
        check("http://", None);
        check("http:///a", None);
        check("http://:80/a", None);
        check("/a", None);
        check("", None);
    }
}
