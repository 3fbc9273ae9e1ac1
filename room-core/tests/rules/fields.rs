//! Every field: what it is worth for the visitor, or that it can be asked for at all.

use room_core::rules::{BODY_BYTES_MAX, Body, End, RequestFields, first_match};

use super::request::{Request, check, evaluate, lists, parse, visitor};

#[test]
fn fields_of_the_url() {
    check(
        true,
        &[
            r#"http.host eq "shop.example.net""#,
            r#"http.request.full_uri contains "https://shop.example.net:8443/Sale/archive""#,
            r#"ends_with(http.request.full_uri, "GZ?filter=waf&filter=botm&x=a%20b+c&k")"#,
            r#"http.request.uri eq "/Sale/archive.tar.GZ?filter=waf&filter=botm&x=a%20b+c&k""#,
            r#"http.request.uri.path eq "/Sale/archive.tar.GZ""#,
            r#"http.request.uri.path.extension eq "gz""#,
            r#"http.request.uri.query eq "filter=waf&filter=botm&x=a%20b+c&k""#,
            r#"http.request.uri.args["x"][0] eq "a%20b+c""#,
            r#"http.request.uri.args["k"][0] eq """#,
            "len(http.request.uri.args.names) eq 4",
            r#"http.request.uri.args.names[3] eq "k""#,
            r#"http.request.uri.args.values[1] eq "botm""#,
            r#"raw.http.request.full_uri contains "?filter""#,
            r#"raw.http.request.uri contains "?filter""#,
            r#"raw.http.request.uri.path eq "/Sale/archive.tar.GZ""#,
            r#"raw.http.request.uri.path.extension eq "gz""#,
            r#"raw.http.request.uri.query contains "filter=waf""#,
            r#"raw.http.request.uri.args["filter"][0] eq "waf""#,
            r#"raw.http.request.uri.args.names[0] eq "filter""#,
            r#"raw.http.request.uri.args.values[0] eq "waf""#,
            "ssl",
            "cf.edge.server_port eq 8443",
        ],
    );
}

#[test]
fn fields_of_the_headers() {
    check(
        true,
        &[
            r#"http.cookie contains "theme = dark""#,
            r#"http.referer eq "https://search.example/?q=shop""#,
            r#"http.user_agent contains "Old""#,
            r#"http.x_forwarded_for eq "192.0.2.1, 192.0.2.2""#,
            r#"http.request.headers["x-forwarded-for"][0] contains "192.0.2.2""#,
            "len(http.request.headers.names) eq 7",
            "len(http.request.headers.values) eq 7",
            r#"any(http.request.headers.values[*] contains "MUC")"#,
            "not http.request.headers.truncated",
            r#"http.request.accepted_languages[0] eq "en-GB""#,
            r#"http.request.accepted_languages[1] eq "de""#,
            r#"http.request.accepted_languages[2] eq "fr""#,
            r#"http.request.accepted_languages[3] eq "*""#,
            r#"http.request.cookies["session"][0] eq "abc=1""#,
            r#"http.request.cookies["session"][1] eq "two""#,
            r#"http.request.cookies["theme"][0] eq "dark""#,
            r#"http.request.cookies["empty"][0] eq """#,
            r#"not len(http.request.cookies["flag"]) ge 0"#,
            r#"cf.ray_id eq "8d3f1a2b4c5d6e7f""#,
            r#"cf.worker.upstream_zone eq """#,
            // All headers are read here before one of them is.
            r#"any(http.request.headers.names[*] eq "referer")
                and http.request.headers["referer"][0] contains "search""#,
        ],
    );
}

#[test]
fn fields_of_the_platform() {
    check(
        true,
        &[
            r#"http.request.method eq "GET""#,
            r#"http.request.version eq "HTTP/2""#,
            "http.request.timestamp.sec eq 1795219200",
            "http.request.timestamp.msec eq 857",
            "ip.src eq 203.0.113.7",
            "ip.src.asnum eq 64496",
            r#"ip.src.city contains "nchen""#,
            r#"ip.src.continent eq "EU""#,
            r#"ip.src.country eq "DE""#,
            "ip.src.is_in_european_union",
            r#"ip.src.lat eq "48.13743""#,
            r#"not ip.src.lon eq """#,
            r#"ip.src.postal_code eq "80331""#,
            r#"ip.src.region eq "Bavaria""#,
            r#"ip.src.region_code eq "BY""#,
            r#"ip.src.subdivision_1_iso_code eq "DE-BY""#,
            r#"ip.src.timezone.name eq "Europe/Berlin""#,
            "ip.geoip.asnum eq 64496",
            r#"ip.geoip.continent eq "EU""#,
            r#"ip.geoip.country eq "DE""#,
            "ip.geoip.is_in_european_union",
            r#"ip.geoip.subdivision_1_iso_code eq "DE-BY""#,
            "cf.edge.client_tcp",
            "cf.timings.client_tcp_rtt_msec eq 23",
            r#"cf.tls_version eq "TLSv1.3""#,
            r#"cf.tls_cipher contains "AES128""#,
            "cf.tls_client_auth.cert_presented",
            "not cf.tls_client_auth.cert_revoked",
            "cf.tls_client_auth.cert_verified",
            "not cf.client.bot",
        ],
    );
}

#[test]
fn fields_that_the_visitor_has_not_are_known() {
    for field in [
        "cf.tls_ciphers_sha1",
        "cf.tls_client_auth.cert_fingerprint_sha1",
        "cf.tls_client_auth.cert_fingerprint_sha256",
        "cf.tls_client_auth.cert_issuer_dn",
        "cf.tls_client_auth.cert_issuer_dn_legacy",
        "cf.tls_client_auth.cert_issuer_dn_rfc2253",
        "cf.tls_client_auth.cert_issuer_serial",
        "cf.tls_client_auth.cert_issuer_ski",
        "cf.tls_client_auth.cert_not_after",
        "cf.tls_client_auth.cert_not_before",
        "cf.tls_client_auth.cert_serial",
        "cf.tls_client_auth.cert_ski",
        "cf.tls_client_auth.cert_subject_dn",
        "cf.tls_client_auth.cert_subject_dn_legacy",
        "cf.tls_client_auth.cert_subject_dn_rfc2253",
        "cf.tls_client_extensions_sha1",
        "cf.tls_client_extensions_sha1_le",
        "cf.tls_client_random",
        "cf.verified_bot_category",
    ] {
        check(false, &[&format!("{field} ne \"a\"")]);
    }
}

fn check_for(request: &Request, want: bool, text: &str) {
    assert_eq!(evaluate(&parse(text).expect(text), request).0, want, "{text}");
}

#[test]
fn other_requests_have_other_values() {
    let check = |url: &str, text: &str| {
        check_for(&Request { url: url.to_owned(), ..visitor() }, true, text);
    };
    check("http://shop.net/", "not ssl and cf.edge.server_port eq 80");
    check("https://shop.net/", "ssl and cf.edge.server_port eq 443");
    check("https://[::1]:81/", "cf.edge.server_port eq 81 and http.host eq \"[::1]\"");
    check("https://[::1]/a:99", "cf.edge.server_port eq 443");
    // Browsers send hosts in lower case, and others as they like.
    check("https://Shop.NET./A", r#"http.host eq "shop.net" and http.request.uri.path eq "/A""#);
    check("https://Shop.NET:81/A#b", r#"http.request.full_uri eq "https://shop.net:81/A""#);
    check("HTTPS://HTTPS/A", r#"http.request.full_uri eq "HTTPS://https/A""#);
    check("https://shop.net?a=b", r#"http.request.uri eq "/?a=b""#);
    check("https://shop.net/?&&a=1&", "len(http.request.uri.args.names) eq 1");
    check("https://shop.net/a?", r#"http.request.uri eq "/a?" and http.request.uri.query eq """#);
    check("", r#"http.host eq "" and http.request.uri.path eq "" and not ssl"#);
    for (path, extension) in [
        ("/foo", ""),
        ("/foo.mp3", "mp3"),
        ("/.mp3", ""),
        ("/.foo.mp3", "mp3"),
        ("/foo.tar.bz2", "bz2"),
        ("/foo.MP3", "mp3"),
        ("/a.b/foo", ""),
    ] {
        let text = format!("http.request.uri.path.extension eq \"{extension}\"");
        check(&format!("https://shop.net{path}?x.y"), &text);
    }
}

#[test]
fn crawlers_and_protocols_are_told_apart() {
    let mut crawler = visitor();
    crawler.properties.insert("verifiedBotCategory", "Search Engine Crawler");
    crawler.properties.insert("httpProtocol", "HTTP/3");
    crawler.properties.insert("tlsClientAuth.certVerified", "FAILED:self signed certificate");
    crawler.address = None;
    check_for(&crawler, true, "cf.client.bot");
    check_for(&crawler, true, r#"cf.verified_bot_category eq "Search Engine Crawler""#);
    check_for(&crawler, false, "cf.edge.client_tcp");
    check_for(&crawler, false, "cf.tls_client_auth.cert_verified");
    check_for(&crawler, false, "ip.src ne 203.0.113.7");
    check_for(&crawler, false, "ip.src in {0.0.0.0/0 ::/0}");
}

/// A request with this body and type.
fn with_body(body: &'static [u8], content_type: &str) -> Request {
    let mut request = Request { body: Body::Read(body), method: "POST", ..visitor() };
    request.headers.push(("content-type".to_owned(), content_type.to_owned()));
    request
}

const FORM: &str = "Application/x-www-form-urlencoded; charset=utf-8";

#[test]
fn the_body_tells_its_text_and_its_form() {
    let form = with_body(b"user=Eve+A&tag=a&tag=b%20c&&empty=&flag&x=a=b", FORM);
    for text in [
        r#"http.request.body.raw contains "tag=a""#,
        "http.request.body.size eq 45",
        "not http.request.body.truncated",
        r#"http.request.body.mime eq "text/plain""#,
        r#"http.request.body.form["user"][0] eq "Eve+A""#,
        r#"any(http.request.body.form["tag"][*] eq "b%20c")"#,
        r#"http.request.body.form["empty"][0] eq "" and http.request.body.form["flag"][0] eq """#,
        r#"http.request.body.form["x"][0] eq "a=b""#,
        "len(http.request.body.form.names) eq 6",
        r#"http.request.body.form.names[2] eq "tag""#,
        r#"http.request.body.form.values[1] eq "a""#,
        r#"not http.request.body.form["User"][0] ne "x""#,
    ] {
        check_for(&form, true, text);
    }
    // What a client does not call a form is none.
    let text = with_body(b"user=eve", "text/plain");
    check_for(&text, false, r#"http.request.body.form["user"][0] eq "eve""#);
    check_for(&text, true, "len(http.request.body.form.names) eq 0");
    let json = with_body(br#"{"user":{"name":"eve"}}"#, "application/json");
    let name = r#"lookup_json_string(http.request.body.raw, "user", "name") eq "eve""#;
    check_for(&json, true, name);
    check_for(&json, true, r#"http.request.body.mime eq "application/json""#);
    let empty = visitor();
    check_for(&empty, true, r#"http.request.body.raw eq "" and http.request.body.size eq 0"#);
    check_for(&empty, false, r#"http.request.body.mime ne "a""#);
}

#[test]
fn a_long_body_is_cut_and_its_size_told_by_its_header() {
    static LONG: [u8; BODY_BYTES_MAX + 1] = [b'x'; BODY_BYTES_MAX + 1];
    let mut long = with_body(&LONG, "text/plain");
    check_for(&long, true, "http.request.body.truncated");
    check_for(&long, true, "len(http.request.body.raw) eq 131072");
    // Nobody has told how much of it there is.
    check_for(&long, false, "http.request.body.size ge 0");
    long.headers.push(("content-length".to_owned(), "9000000".to_owned()));
    check_for(&long, true, "http.request.body.size eq 9000000");
}

#[test]
fn rules_wait_for_a_body_and_one_that_does_not_come_matches_none_of_them() {
    let check = |body: Body<'static>, expressions: &[&str], want: End| {
        let expressions: Vec<_> = expressions.iter().map(|text| parse(text).expect(text)).collect();
        let request = Request { body, ..visitor() };
        let found = first_match(&expressions, &RequestFields::new(&request), &lists());
        assert_eq!(found.end, want, "{body:?} {expressions:?}");
    };
    let raw = r#"not http.request.body.raw contains "a""#;
    check(Body::Unread, &[raw], End::Lacking);
    check(Body::Unread, &["ssl", raw], End::Match(0));
    check(Body::Unread, &[r#"http.request.method eq "POST" and http.request.body.size gt 1"#], {
        End::NoMatch
    });
    check(Body::Unreadable, &[raw], End::NoMatch);
    check(Body::Unreadable, &[raw, "ssl"], End::Match(1));
    check(Body::Read(b"b"), &[raw], End::Match(0));
}

#[test]
fn a_rule_that_asks_for_what_nobody_tells_matches_nobody() {
    let untold = &["asn", "country", "httpProtocol", "regionCode", "verifiedBotCategory"];
    let request = Request { untold, ..visitor() };
    check_for(&request, false, r#"ip.src.country ne "CH""#);
    check_for(&request, false, r#"not ip.src.country in {"CH" "DE"}"#);
    check_for(&request, false, "not ip.src.asnum in {64496}");
    check_for(&request, false, "not cf.client.bot");
    check_for(&request, false, "cf.edge.client_tcp");
    check_for(&request, false, r#"not ip.src.subdivision_1_iso_code eq "DE-BY""#);
    // What comes before it counts, and so does what is told.
    check_for(&request, true, r#"ssl or ip.src.country ne "CH""#);
    check_for(&request, true, r#"ip.src.city ne "Bern""#);
}
