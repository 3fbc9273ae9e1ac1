//! Operators, literals, sets, precedence, arrays and what is missing.

use super::request::check;

#[test]
fn texts_are_compared_byte_by_byte() {
    check(
        true,
        &[
            r#"http.host eq "shop.example.net""#,
            r#"http.host=="shop.example.net""#,
            r#"http.host ne "shop.example.com""#,
            r#"http.host != "Shop.example.net""#,
            r#"http.host lt "t""#,
            r#"http.host < "shop.example.nez""#,
            r#"http.host le "shop.example.net""#,
            r#"http.host <= "shop.example.net""#,
            r#"http.host gt "shop.example.ne""#,
            r#"http.host > "S""#,
            r#"http.host ge "shop.example.net""#,
            r#"http.host >= "a""#,
            r#"http.host contains "example""#,
            r#"http.host contains """#,
            r#"http.host eq "\x73hop\056example.net""#,
            r#"http.host eq r"shop.example.net""#,
            "http.user_agent contains r#\"\"Old\"\"#",
            r#"http.user_agent contains "\"Old\"""#,
            "ip.src.city eq \"M\u{fc}nchen\"",
            r#"ip.src.city eq "M\xc3\xbcnchen""#,
            r#"ip.src.city gt "M\x80""#,
        ],
    );
    check(
        false,
        &[
            r#"http.host eq "SHOP.example.net""#,
            r#"http.host ne "shop.example.net""#,
            r#"http.host lt "shop.example.net""#,
            r#"http.host gt "shop.example.net""#,
            r#"http.host le "shop.example.ne""#,
            r#"http.host ge "shop.example.nett""#,
            r#"http.host contains "Example""#,
            r#"http.host contains "shop.example.net.""#,
        ],
    );
}

#[test]
fn patterns_match() {
    check(
        true,
        &[
            r#"http.host wildcard "*.EXAMPLE.net""#,
            r#"http.host strict wildcard "*.example.net""#,
            r#"http.request.full_uri wildcard "https://*/sale/*""#,
            r#"http.request.uri.path wildcard r"*.tar.gz""#,
            r#"http.host matches "^shop\.[a-z]+\.net$""#,
            r#"http.host ~ "example""#,
            r#"http.user_agent matches r"X1{2}\)""#,
            r#"http.user_agent matches "[\"]Old\"""#,
            r#"http.user_agent ~ "(?i)mozilla|googlebot""#,
            r#"http.host ~ """#,
        ],
    );
    check(
        false,
        &[
            r#"http.host wildcard "example.net""#,
            r#"http.host strict wildcard "*.EXAMPLE.net""#,
            r#"http.host wildcard "shop?example.net""#,
            r#"http.host matches "^example""#,
            r#"http.host matches "SHOP""#,
        ],
    );
}

#[test]
fn integers_are_compared() {
    check(
        true,
        &[
            "cf.edge.server_port eq 8443",
            "cf.edge.server_port == 0x20fb",
            "cf.edge.server_port ne 443",
            "cf.edge.server_port gt -1",
            "cf.edge.server_port ge 8443",
            "cf.edge.server_port lt 8444",
            "cf.edge.server_port le 8443",
            "cf.edge.server_port in {80 443 8443}",
            "cf.edge.server_port in {8000..8999}",
            "cf.edge.server_port in {1..2 8443..8443}",
            "cf.edge.server_port in {-5..-1 0..9223372036854775807}",
            "cf.edge.server_port & 1",
            "cf.edge.server_port bitwise_and 0x2000",
            "ip.src.asnum in $carriers",
        ],
    );
    check(
        false,
        &[
            "cf.edge.server_port eq 443",
            "cf.edge.server_port ne 8443",
            "cf.edge.server_port gt 8443",
            "cf.edge.server_port ge 8444",
            "cf.edge.server_port lt 8443",
            "cf.edge.server_port le 8442",
            "cf.edge.server_port in {}",
            "cf.edge.server_port in {80 8444..8999}",
            "cf.edge.server_port & 4",
            "cf.edge.server_port in $carriers",
        ],
    );
}

#[test]
fn addresses_are_compared() {
    check(
        true,
        &[
            "ip.src eq 203.0.113.7",
            "ip.src ne 203.0.113.8",
            "ip.src != ::ffff:203.0.113.7",
            "ip.src in {203.0.113.0/24}",
            "ip.src in {::/0 10.0.0.0/8 203.0.113.7}",
            "ip.src in {203.0.113.7..203.0.113.7}",
            "ip.src in {0.0.0.0/0}",
            "ip.src in $office",
        ],
    );
    check(
        false,
        &[
            "ip.src eq 203.0.113.8",
            "ip.src ne 203.0.113.7",
            "ip.src in {}",
            "ip.src in {::/0}",
            "ip.src in {203.0.113.8..203.0.113.9 203.0.113.0..203.0.113.6}",
            "ip.src in $others",
            "ip.src in $gone",
        ],
    );
}

#[test]
fn sets_of_texts_hold_equal_ones() {
    check(
        true,
        &[
            r#"ip.src.country in {"AT" "DE" "CH" "DE"}"#,
            r#"ip.src.country in {"AT""DE"}"#,
            r#"ip.src.country in {r"DE"}"#,
            "http.host in $hosts",
            r#"not ip.src.country in {"AT" "CH"}"#,
        ],
    );
    check(
        false,
        &[
            r#"ip.src.country in {"AT" "CH"}"#,
            r#"ip.src.country in {"D" "E" "DEU"}"#,
            "ip.src.country in {}",
            "ip.src.country in $hosts",
        ],
    );
}

#[test]
fn not_is_stronger_than_and_than_xor_than_or() {
    check(
        true,
        &[
            "true",
            "not false",
            "not not true",
            "!false",
            "!!ssl",
            "true or true and false",
            "true || false && false",
            "true or true xor true",
            "false and false xor true",
            "true ^^ false and false",
            "not false and true",
            r#"not http.host eq "x""#,
            "not (true and false)",
            "(true or true) xor false",
            "(((ssl)))",
            "true xor true xor true",
            "ssl\n\tand\r\nssl",
            "ssl and(ssl)and ssl",
            "  ssl  ",
            "true or any(http.request.headers.names[*] == \"none\")",
        ],
    );
    check(
        false,
        &[
            "false",
            "not true",
            "(true or true) and false",
            "true and true xor true",
            "(true or true) xor true",
            "not (true or false)",
            "not true or false",
            "true xor true",
            "true xor true and true or false",
        ],
    );
}

#[test]
fn what_is_missing_matches_nothing() {
    check(
        true,
        &[
            r#"not http.request.headers["none"][0] eq "a""#,
            r#"not len(http.request.uri.args["none"]) ge 0"#,
            r#"len(http.request.uri.args["filter"]) ge 0"#,
            r#"all(http.request.headers["none"][*] eq "a")"#,
            r#"not ip.src.metro_code ne "1""#,
            r#"concat("a", http.request.headers["none"][0], "b") eq "ab""#,
            "not cf.tls_client_hello_length gt 0",
        ],
    );
    check(
        false,
        &[
            r#"http.request.headers["none"][0] eq "a""#,
            r#"http.request.headers["none"][0] ne "a""#,
            r#"http.request.headers["referer"][1] ne "a""#,
            r#"http.request.headers["Referer"][0] ne "a""#,
            r#"http.request.uri.args["filter"][2] ne "a""#,
            r#"lower(http.request.headers["none"][0]) ne "a""#,
            r#"starts_with(http.request.headers["none"][0], "a")"#,
            r#"any(http.request.headers["none"][*] ne "a")"#,
            r#"ip.src.metro_code ne "1""#,
            r#"ip.src.metro_code in {""}"#,
            "cf.tls_client_hello_length ne 5",
        ],
    );
}

#[test]
fn arrays_are_asked_element_by_element() {
    check(
        true,
        &[
            r#"http.request.uri.args["filter"][0] == "waf""#,
            r#"http.request.uri.args["filter"][1] == "botm""#,
            r#"any(http.request.uri.args["filter"][*] == "botm")"#,
            r#"all(len(http.request.uri.args["filter"][*])[*] in {3 4})"#,
            r#"all(not http.request.uri.args["filter"][*] == "cdn")"#,
            r#"any(lower(http.request.headers.names[*])[*] == "cookie")"#,
            r#"any(starts_with(http.request.headers.names[*], "x-"))"#,
            r#"any(starts_with(http.request.headers.names[*], "x-")[*])"#,
            r#"any(http.request.uri.args.names[*] == "x"
                or http.request.uri.args.names[*] == "y")"#,
            r#"any(http.request.uri.args.names[*] contains "fil"
                and http.request.uri.args.names[*] contains "ter")"#,
            r#"any(http.request.uri.args.names[*] == "x"
                xor http.request.uri.args.names[*] == "k")"#,
            r#"any(http.request.headers[*][*] contains "Mozilla")"#,
            r#"any(http.request.headers[*][0] contains "Mozilla")"#,
            "any(len(http.request.uri.args[*])[*] == 2)",
            "len(http.request.uri.args.values) == 4",
            r#"any(upper(lower(http.request.uri.args.names[*])[*])[*] == "FILTER")"#,
            r#"lower(http.request.uri.args.names[*])[2] == "x""#,
            r#"any((http.request.uri.args.names[*] == "x"))"#,
            r#"any(concat(http.request.uri.args.names[*], "=")[*] == "k=")"#,
        ],
    );
    check(
        false,
        &[
            r#"any(http.request.uri.args["filter"][*] == "cdn")"#,
            r#"all(http.request.uri.args["filter"][*] == "waf")"#,
            r#"all(not len(http.request.uri.args["filter"][*])[*] in {3 4})"#,
            r#"any(http.request.uri.args.names[*] == "x"
                and http.request.uri.args.names[*] == "k")"#,
            r#"all(http.request.uri.args.names[*] == "x"
                xor http.request.uri.args.names[*] == "k")"#,
            r#"any(http.request.headers[*][1] contains "")"#,
        ],
    );
}
