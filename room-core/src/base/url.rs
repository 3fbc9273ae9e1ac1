//! Splits an absolute URL. The parts are borrowed as written: none is decoded or checked.

use std::borrow::Cow;

/// The parts of an absolute URL, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlParts<'url> {
    /// The part before `://`, like `https`.
    pub scheme: &'url str,
    /// The host without user, port and final dots, in the letter case of the URL.
    pub host: &'url str,
    /// The port as written. `None` if there is none, so that the scheme's own port counts, or if it
    /// is not a number from 0 to 65,535.
    pub port: Option<u16>,
    /// The path, from the first slash to the query; `/` if the URL has none.
    pub path: &'url str,
    /// The part behind the first `?`, without the fragment; `None` if there is no `?`.
    pub query: Option<&'url str>,
}

/// Splits `url`; `None` if it has no scheme or no host.
///
/// A backslash ends the host like a slash, as in the URL standard of the browsers.
pub fn split_url(url: &str) -> Option<UrlParts<'_>> {
    // To look for one byte is many times faster than to look for a text.
    let (scheme, rest) = url.split_once(':')?;
    let rest = rest.strip_prefix("//")?;
    let authority_end = rest.bytes().position(|byte| matches!(byte, b'/' | b'\\' | b'?' | b'#'));
    let (authority, rest) = rest.split_at_checked(authority_end.unwrap_or(rest.len()))?;
    let target_end = rest.bytes().position(|byte| byte == b'#').unwrap_or(rest.len());
    let (target, _fragment) = rest.split_at_checked(target_end)?;
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let (host, port) = host_and_port(authority);
    (!host.is_empty()).then_some(UrlParts {
        scheme,
        host,
        port,
        path: if path.is_empty() { "/" } else { path },
        query,
    })
}

/// Splits an authority into the host without final dots, and the port if one is written.
fn host_and_port(authority: &str) -> (&str, Option<u16>) {
    let host_and_port = authority.rsplit_once('@').map_or(authority, |(_user, rest)| rest);
    // The colons of an IPv6 address stand inside its brackets.
    let address_end = host_and_port.rfind(']').unwrap_or(0);
    let (address, rest) = host_and_port.split_at_checked(address_end).unwrap_or_default();
    let Some((rest, port)) = rest.split_once(':') else {
        return (host_and_port.trim_end_matches('.'), None);
    };
    let host = host_and_port.get(..address.len() + rest.len()).unwrap_or_default();
    (host.trim_end_matches('.'), port.parse().ok())
}

/// Returns a host in lower case, the form in which hosts are compared.
pub fn lower_case(host: &str) -> Cow<'_, str> {
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

/// Whether `named`, a header `Origin` or `Referer`, is of the origin of `url`: of its scheme, host
/// and port. Letter case and a written usual port make no difference (RFC 6454 section 4).
///
/// HTTPS may stand where `url` has HTTP, as it has behind a proxy that does not tell the scheme.
/// The page with that origin came over the safer of the two.
pub fn is_same_origin(named: &str, url: &str) -> bool {
    let (Some(named_parts), Some(own)) = (split_url(named), split_url(url)) else { return false };
    let is = |scheme: &str, of: &str| of.eq_ignore_ascii_case(scheme);
    let same_scheme = is(own.scheme, named_parts.scheme);
    let is_safer = is("http", own.scheme) && is("https", named_parts.scheme);
    let usual = if is("https", named_parts.scheme) { 443 } else { 80 };
    let port = |parts: &UrlParts<'_>| parts.port.unwrap_or(usual);
    let has_user = |url: &str| authority(url).is_some_and(|authority| authority.contains('@'));
    (same_scheme || is_safer)
        && own.host.eq_ignore_ascii_case(named_parts.host)
        && (port(&own) == port(&named_parts)
            || is_safer && own.port == Some(80) && port(&named_parts) == usual)
        && !has_user(named)
        && !has_user(url)
}

/// Returns the part of `url` from `://` to the path: user, host and port as written.
pub fn authority(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '\\', '?', '#']).next()
}

#[cfg(test)]
mod tests {
    use super::{is_same_origin, split_url};

    #[test]
    fn an_origin_is_the_same_in_each_spelling() {
        let check = |named: &str, url: &str, want: bool| {
            assert_eq!(is_same_origin(named, url), want, "{named} {url}");
        };
        let shop = "https://shop.example/a?b";
        check("https://shop.example", shop, true);
        check("https://shop.example/form", shop, true);
        check("https://shop.example:443", shop, true);
        check("HTTPS://Shop.example", shop, true);
        check("https://shop.example", "https://shop.example:443/", true);
        check("http://shop.example", "http://shop.example:80/", true);
        check("https://shop.example:8443", "https://shop.example:8443/", true);
        // Behind a proxy that does not tell the scheme, with and without the port of its own.
        for url in ["http://shop.example/", "http://shop.example:443/", "http://shop.example:80/"] {
            check("https://shop.example", url, true);
        }
        for other in ["http://shop.example", "https://shop.example:80", "https://shop.example.evil"]
        {
            check(other, shop, false);
        }
        check("https://a.shop.example", shop, false);
        check("https://shop.example@evil.example", shop, false);
        check("https://user@shop.example", shop, false);
        check("null", shop, false);
        check("", shop, false);
        check("http://shop.example:443", "https://shop.example/", false);
        for url in ["http://shop.example/", "http://shop.example:80/", "http://shop.example:443/"] {
            check("https://shop.example:8443", url, false);
        }
    }

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
        check("a:b://shop/", None);
        check("http://:80/a", None);
        check("/a", None);
        check("", None);
    }

    #[test]
    fn ports_stand_behind_the_host() {
        let check = |url: &str, want: Option<u16>| {
            assert_eq!(split_url(url).and_then(|url| url.port), want, "{url}");
        };
        check("http://shop:8080/a", Some(8_080));
        check("http://shop.:80", Some(80));
        check("http://u:81@shop:82/a:83?b:84", Some(82));
        check("http://[::1]:81/", Some(81));
        check("http://[::1]/a:99", None);
        check("http://u:81@shop", None);
        check("http://shop:/", None);
        check("http://shop:65536/", None);
        check("http://shop:8o/", None);
    }
}
