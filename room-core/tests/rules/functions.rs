//! Every function, with the examples of Cloudflare's documentation where it gives any.

use super::request::{Request, check, evaluate, parse, visitor};

#[test]
fn texts_are_changed() {
    check(
        true,
        &[
            r#"lower(http.request.uri.path) eq "/sale/archive.tar.gz""#,
            r#"upper(http.host) eq "SHOP.EXAMPLE.NET""#,
            r#"upper("a") eq "A""#,
            "lower(ip.src.city) eq \"m\u{fc}nchen\"",
            "upper(ip.src.city) eq \"M\u{fc}NCHEN\"",
            r#"concat("a", " ", http.host, "!") eq "a shop.example.net!""#,
            r#"concat(http.host) eq "shop.example.net""#,
            "len(concat(http.request.uri.args.names, http.request.headers.names)) eq 11",
            r#"concat(http.request.uri.args.names, http.request.uri.args.values)[4] eq "waf""#,
            "len(http.host) eq 16",
            "len(ip.src.city) eq 8",
            r#"remove_bytes(http.host, "\x2ep") eq "shoexamlenet""#,
            r#"remove_bytes(http.host, "") eq "shop.example.net""#,
            r#"remove_bytes(http.host, "0") eq "shop.example.net""#,
            r#"remove_bytes(lower(http.user_agent), " ") contains "mozilla/5.0(x11)""#,
        ],
    );
    check(
        false,
        &[
            r#"lower(http.request.uri.path) eq "/Sale/archive.tar.GZ""#,
            "len(http.host) eq 15",
            r#"remove_bytes(http.host, ".p") contains "p""#,
        ],
    );
}

#[test]
fn names_and_values_are_there_or_not() {
    check(
        true,
        &[
            r#"has_key(http.request.headers, "user-agent")"#,
            r#"not has_key(http.request.headers, "x-none")"#,
            r#"not has_key(http.request.headers, "User-Agent")"#,
            r#"has_value(http.request.headers.names, "user-agent")"#,
            r#"has_value(http.request.headers["user-agent"], http.user_agent)"#,
            "any(has_value(http.request.headers[*], http.user_agent))",
            r#"not has_value(http.request.headers["x-none"], "")"#,
        ],
    );
    check(
        false,
        &[
            r#"has_value(http.request.headers.names, "user")"#,
            r#"has_key(http.request.uri.args, "none")"#,
        ],
    );
    for wrong in [
        r#"has_key(http.host, "a")"#,
        r#"has_key(http.request.headers["a"], "a")"#,
        r#"has_key(http.request.headers[*], "a")"#,
        "has_key(http.request.headers, http.host)",
        r#"has_value(http.request.headers, "a")"#,
        "has_value(http.request.headers.names, 1)",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn ends_of_texts() {
    check(
        true,
        &[
            r#"starts_with(http.request.uri.path, "/Sale")"#,
            r#"starts_with(http.request.uri.path, "")"#,
            r#"ends_with(http.request.uri.path, ".GZ")"#,
            r#"starts_with(http.request.full_uri, concat("https://", http.host))"#,
            r#"starts_with(lower(http.request.uri.path), "/sale") and ssl"#,
        ],
    );
    check(
        false,
        &[
            r#"starts_with(http.request.uri.path, "/sale")"#,
            r#"ends_with(http.request.uri.path, ".gz")"#,
            r#"ends_with(http.host, "a.shop.example.net")"#,
        ],
    );
}

#[test]
fn parts_of_texts() {
    check(
        true,
        &[
            r#"substring(http.host, 2, 5) eq "op.""#,
            r#"substring(http.host, 5) eq "example.net""#,
            r#"substring(http.host, -3) eq "net""#,
            r#"substring(http.host, 0, -4) eq "shop.example""#,
            r#"substring(http.host, -99, 4) eq "shop""#,
            r#"substring(http.host, 5, 99) eq "example.net""#,
            r#"substring(http.host, 5, 4) eq """#,
            r#"substring(http.host, 99) eq """#,
            r#"substring(lower(http.request.method), 1) eq "et""#,
            r#"substring(http.host, 0, len(http.request.method)) eq "sho""#,
            r#"substring(http.host, 0, -9223372036854775808) eq """#,
            r#"substring(ip.src.city, 1, 2) eq "\xc3""#,
        ],
    );
}

#[test]
fn urls_are_decoded() {
    check(
        true,
        &[
            r#"url_decode(http.request.uri.args["x"][0]) eq "a b c""#,
            r#"any(url_decode(http.request.uri.args["x"][*])[*] contains "a b")"#,
            r#"url_decode(concat(http.request.method, "%2520")) eq "GET%20""#,
            r#"url_decode(concat(http.request.method, "%2520"), "r") eq "GET ""#,
            r#"url_decode(concat(http.request.method, "%252525%32%30"), "r") eq "GET ""#,
            r#"url_decode(concat(http.request.method, "%u2601")) eq "GET%u2601""#,
            r#"url_decode(concat(http.request.method, "%u2601"), "u") eq "GET\xe2\x98\x81""#,
            r#"url_decode(concat(http.request.method, "%25u2601"), "ur") eq "GET\xe2\x98\x81""#,
            r#"url_decode(concat(http.request.method, "%ud83d%u26"), "u") eq "GET%ud83d%u26""#,
            r#"url_decode(concat(http.request.method, "%E4%zz%")) eq "GET\xe4%zz%""#,
            r#"url_decode(concat(http.request.method, "%%37%2%2B%+1%F")) eq "GET%7%2+% 1%F""#,
            r#"url_decode(concat(http.request.method, "%U0041%u004%"), "u") eq "GET%U0041%u004%""#,
            r#"url_decode(concat(http.request.method, "%u002541%%u0041"), "u") eq "GET%41%A""#,
            r#"url_decode(concat(http.request.method, "%u0025%34%31"), "ur") eq "GETA""#,
            r#"url_decode(http.host, "") eq "shop.example.net""#,
        ],
    );
}

#[test]
fn json_is_looked_up() {
    check(
        true,
        &[
            r#"lookup_json_integer(http.request.headers["x-data"][0], "user", "id") eq 7"#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "user", "name") eq "eve""#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "user", "tags", 1) eq "b""#,
            r#"any(lookup_json_integer(http.request.headers["x-data"][*], "user", "id")[*] eq 7)"#,
        ],
    );
    let integer = |json: &str, condition: &str| {
        let json = format!("concat(remove_bytes(http.request.method, \"GET\"), \"{json}\")");
        format!("lookup_json_integer(concat({json}, \"]\"), 0) {condition}")
    };
    check(
        true,
        &[
            &integer("[9223372036854775807", "eq 9223372036854775807"),
            &integer("[-9223372036854775808", "eq -9223372036854775808"),
        ],
    );
    let others = ["9223372036854775808", "1.0", "1e2", "-0", "true", "null", "[]", "{}"];
    for other in others {
        check(false, &[&integer(&format!("[{other}"), "ge -9223372036854775808")]);
    }
    check(
        false,
        &[
            r#"lookup_json_integer(http.request.headers["x-data"][0], "f") ne 0"#,
            r#"lookup_json_integer(http.request.headers["x-data"][0], "user") ne 0"#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "ok") ne """#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "user", "id") ne """#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "user", "tags", 2) ne """#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "user", 0) ne """#,
            r#"lookup_json_string(http.request.headers["x-data"][0], "\xff") ne """#,
            r#"lookup_json_string(http.host, "a") ne """#,
        ],
    );
}

/// Messages signed with `mysecretkey` by another implementation, at 1795219100; now is 100 s later.
#[test]
fn signatures_are_checked() {
    const SAFE: &str = "u-syf_97KWi1ldv3A5beYB5oCO5FjWlkAUu2xdOs-1Y";
    const ENCODED: &str = "u%2Bsyf%2F97KWi1ldv3A5beYB5oCO5FjWlkAUu2xdOs%2B1Y%3D";
    const DASHES: &str = "GGBUKPGLv4BSKtGJCX4_uGI1kqx4-NbjER_6rBUWFSY";
    let check = |target: &str, arguments: &str, want: bool| {
        let url = format!("https://shop.net{target}");
        let text = arguments.replace("NOW", "http.request.timestamp.sec");
        let text = text.replace("URI", "http.request.uri");
        let expression = parse(&format!("is_timed_hmac_valid_v0({text})")).expect(&text);
        let request = Request { url, ..visitor() };
        assert_eq!(evaluate(&expression, &request).0, want, "{target} {arguments}");
    };
    let signed = format!("/download/cat.jpg?verify=1795219100-{ENCODED}");
    check(&signed, r#""mysecretkey", URI, 101, NOW, 8"#, true);
    check(&signed, r#""mysecretkey", URI, 100, NOW, 8"#, false);
    check(&signed, r#""mysecretkey", URI, 0, 1795219000, 8"#, true);
    check(&signed, r#""mysecretkey", URI, 101, NOW, 7"#, false);
    check(&signed, r#""mysecretkey", URI, 101, NOW, 8, "s""#, false);
    check(&signed, r#""mysecretkeY", URI, 101, NOW, 8"#, false);
    check(&signed, r#""mysecretkey", URI, 101, NOW"#, false);
    check(&signed, r#""mysecretkey", URI, 9223372036854775807, NOW, 8"#, true);
    let other = signed.replace("cat", "dog");
    check(&other, r#""mysecretkey", URI, 101, NOW, 8"#, false);
    let later = signed.replace("1795219100", "1795219101");
    check(&later, r#""mysecretkey", URI, 101, NOW, 8"#, false);
    let safe = format!("/download/cat.jpg?verify=1795219100-{SAFE}");
    check(&safe, r#""mysecretkey", URI, 101, NOW, 8, "s""#, true);
    check(&safe, r#""mysecretkey", URI, 101, NOW, 8"#, false);
    let dashes = format!("/t11795219100-{DASHES}");
    check(&dashes, r#""mysecretkey", URI, 101, NOW, 0, "s""#, true);
    check("/", r#""mysecretkey", URI, 101, NOW, 0, "s""#, false);
    check("/a1795219100-", r#""mysecretkey", URI, 101, NOW, 0, "s""#, false);
}
