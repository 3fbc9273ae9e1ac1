//! The fields of the rules language: the name and type of each, and where its value comes from.

use super::tree::{Scalar, Type};

/// A field of the rules language.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub name: &'static str,
    pub kind: Type,
    pub source: Source,
}

/// Where the value of a field comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The client's IP address.
    Address,
    /// The names of all query arguments, in their order.
    ArgumentNames,
    /// The values of all query arguments, in their order.
    ArgumentValues,
    /// The query arguments by name.
    Arguments,
    /// The fields of a form in the body, by name.
    BodyForm,
    /// The names of the fields of a form in the body, in their order.
    BodyFormNames,
    /// The values of the fields of a form in the body, in their order.
    BodyFormValues,
    /// The media type that the first bytes of the body announce.
    BodyMime,
    /// The beginning of the body.
    BodyRaw,
    /// The bytes of the whole body. Missing if only a beginning was read and no header gives it.
    BodySize,
    /// Whether there is more of the body than rules see.
    BodyTruncated,
    /// Whether the client's certificate was verified.
    CertificateVerified,
    /// The cookies by name.
    Cookies,
    /// The part behind the last dot of the path, in lower case.
    Extension,
    /// The absolute URL without the fragment.
    FullUri,
    /// The request header of this name; an absent one is empty.
    Header(&'static str),
    /// The names of all headers, in their order.
    HeaderNames,
    /// The values of all headers, in their order.
    HeaderValues,
    /// The headers by name.
    Headers,
    /// Whether headers were cut off: always false, since a Worker gets every header.
    HeadersTruncated,
    /// The host without the port.
    Host,
    /// The tags of `Accept-Language`, the preferred ones first.
    Languages,
    /// The HTTP method.
    Method,
    /// The milliseconds of the time of the request, 0 to 999.
    Milliseconds,
    /// Whether the request came over TCP: false with HTTP/3.
    OverTcp,
    /// The path of the URL.
    Path,
    /// The text of this name in `request.cf`.
    Property(&'static str),
    /// The flag of this name in `request.cf`: true for `1` and `true`.
    PropertyFlag(&'static str),
    /// The whole number of this name in `request.cf`.
    PropertyNumber(&'static str),
    /// The part behind the `?` of the URL.
    Query,
    /// The id that Cloudflare gave the request.
    RayId,
    /// The time of the request in seconds since the epoch.
    Seconds,
    /// Whether the request came by HTTPS.
    Secure,
    /// The port of the URL, or the usual one of its scheme.
    ServerPort,
    /// The client's country and region, like `US-CA`.
    Subdivision,
    /// Path and query of the URL.
    Uri,
    /// Whether the platform names a category of verified crawlers.
    VerifiedBot,
}

impl Source {
    /// Returns the map whose names or values these are; `None` for all other sources.
    pub fn map(self) -> Option<Self> {
        match self {
            Self::ArgumentNames | Self::ArgumentValues => Some(Self::Arguments),
            Self::BodyFormNames | Self::BodyFormValues => Some(Self::BodyForm),
            Self::HeaderNames | Self::HeaderValues => Some(Self::Headers),
            _ => None,
        }
    }

    /// Whether it is made from the body of the request.
    pub fn is_of_body(self) -> bool {
        matches!(
            self,
            Self::BodyForm
                | Self::BodyFormNames
                | Self::BodyFormValues
                | Self::BodyMime
                | Self::BodyRaw
                | Self::BodySize
                | Self::BodyTruncated
        )
    }

    /// Returns the property of `request.cf` without which the field has no meaning, if there is
    /// one.
    pub fn property(self) -> Option<&'static str> {
        match self {
            Self::CertificateVerified => Some("tlsClientAuth.certVerified"),
            Self::OverTcp => Some("httpProtocol"),
            Self::Property(path) | Self::PropertyFlag(path) | Self::PropertyNumber(path) => {
                Some(path)
            }
            Self::Subdivision => Some("regionCode"),
            Self::VerifiedBot => Some("verifiedBotCategory"),
            _ => None,
        }
    }

    /// Whether it contains the path of the URL.
    pub fn has_path(self) -> bool {
        matches!(self, Self::Extension | Self::FullUri | Self::Path | Self::Uri)
    }

    /// Whether URL, method, cookies and time are enough for it, so that an incomplete source has it
    /// too.
    pub fn is_at_hand(self) -> bool {
        match self {
            Self::ArgumentNames
            | Self::ArgumentValues
            | Self::Arguments
            | Self::Cookies
            | Self::Extension
            | Self::FullUri
            | Self::HeadersTruncated
            | Self::Host
            | Self::Method
            | Self::Milliseconds
            | Self::Path
            | Self::Query
            | Self::Seconds
            | Self::Secure
            | Self::ServerPort
            | Self::Uri => true,
            Self::Header(name) => name == "cookie",
            Self::Address
            | Self::BodyForm
            | Self::BodyFormNames
            | Self::BodyFormValues
            | Self::BodyMime
            | Self::BodyRaw
            | Self::BodySize
            | Self::BodyTruncated
            | Self::CertificateVerified
            | Self::HeaderNames
            | Self::HeaderValues
            | Self::Headers
            | Self::Languages
            | Self::OverTcp
            | Self::Property(_)
            | Self::PropertyFlag(_)
            | Self::PropertyNumber(_)
            | Self::RayId
            | Self::Subdivision
            | Self::VerifiedBot => false,
        }
    }
}

/// Finds the field of this name.
pub(super) fn find(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}

/// Iterates over the names of all fields, to find a meant one.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|field| field.name)
}

/// Returns why a field of the language cannot be used here; `None` if the language has no such
/// field.
pub(super) fn reason_unavailable(name: &str) -> Option<&'static str> {
    let has_prefix = |prefix: &str| match prefix.strip_suffix('.') {
        Some(whole) => name == whole || name.starts_with(prefix),
        None => name == prefix,
    };
    UNAVAILABLE.iter().find(|(prefix, _)| has_prefix(prefix)).map(|(_, reason)| *reason)
}

const fn text(name: &'static str, source: Source) -> Field {
    Field { name, kind: Type::One(Scalar::Text), source }
}

const fn integer(name: &'static str, source: Source) -> Field {
    Field { name, kind: Type::One(Scalar::Integer), source }
}

const fn boolean(name: &'static str, source: Source) -> Field {
    Field { name, kind: Type::One(Scalar::Boolean), source }
}

const fn texts(name: &'static str, source: Source) -> Field {
    Field { name, kind: Type::Array(Scalar::Text), source }
}

const fn map(name: &'static str, source: Source) -> Field {
    Field { name, kind: Type::Map, source }
}

const fn certificate(name: &'static str, property: &'static str) -> Field {
    text(name, Source::Property(property))
}

/// Every request field of Cloudflare's that a Worker can know, with its deprecated names.
static FIELDS: &[Field] = &[
    boolean("cf.client.bot", Source::VerifiedBot),
    boolean("cf.edge.client_tcp", Source::OverTcp),
    integer("cf.edge.server_port", Source::ServerPort),
    text("cf.ray_id", Source::RayId),
    integer("cf.timings.client_tcp_rtt_msec", Source::PropertyNumber("clientTcpRtt")),
    text("cf.tls_cipher", Source::Property("tlsCipher")),
    text("cf.tls_ciphers_sha1", Source::Property("tlsClientCiphersSha1")),
    certificate("cf.tls_client_auth.cert_fingerprint_sha1", "tlsClientAuth.certFingerprintSHA1"),
    certificate(
        "cf.tls_client_auth.cert_fingerprint_sha256",
        "tlsClientAuth.certFingerprintSHA256",
    ),
    certificate("cf.tls_client_auth.cert_issuer_dn", "tlsClientAuth.certIssuerDN"),
    certificate("cf.tls_client_auth.cert_issuer_dn_legacy", "tlsClientAuth.certIssuerDNLegacy"),
    certificate("cf.tls_client_auth.cert_issuer_dn_rfc2253", "tlsClientAuth.certIssuerDNRFC2253"),
    certificate("cf.tls_client_auth.cert_issuer_serial", "tlsClientAuth.certIssuerSerial"),
    certificate("cf.tls_client_auth.cert_issuer_ski", "tlsClientAuth.certIssuerSKI"),
    certificate("cf.tls_client_auth.cert_not_after", "tlsClientAuth.certNotAfter"),
    certificate("cf.tls_client_auth.cert_not_before", "tlsClientAuth.certNotBefore"),
    boolean(
        "cf.tls_client_auth.cert_presented",
        Source::PropertyFlag("tlsClientAuth.certPresented"),
    ),
    boolean("cf.tls_client_auth.cert_revoked", Source::PropertyFlag("tlsClientAuth.certRevoked")),
    certificate("cf.tls_client_auth.cert_serial", "tlsClientAuth.certSerial"),
    certificate("cf.tls_client_auth.cert_ski", "tlsClientAuth.certSKI"),
    certificate("cf.tls_client_auth.cert_subject_dn", "tlsClientAuth.certSubjectDN"),
    certificate("cf.tls_client_auth.cert_subject_dn_legacy", "tlsClientAuth.certSubjectDNLegacy"),
    certificate("cf.tls_client_auth.cert_subject_dn_rfc2253", "tlsClientAuth.certSubjectDNRFC2253"),
    boolean("cf.tls_client_auth.cert_verified", Source::CertificateVerified),
    text("cf.tls_client_extensions_sha1", Source::Property("tlsClientExtensionsSha1")),
    text("cf.tls_client_extensions_sha1_le", Source::Property("tlsClientExtensionsSha1Le")),
    integer("cf.tls_client_hello_length", Source::PropertyNumber("tlsClientHelloLength")),
    text("cf.tls_client_random", Source::Property("tlsClientRandom")),
    text("cf.tls_version", Source::Property("tlsVersion")),
    text("cf.verified_bot_category", Source::Property("verifiedBotCategory")),
    text("cf.worker.upstream_zone", Source::Header("cf-worker")),
    text("http.cookie", Source::Header("cookie")),
    text("http.host", Source::Host),
    text("http.referer", Source::Header("referer")),
    texts("http.request.accepted_languages", Source::Languages),
    map("http.request.body.form", Source::BodyForm),
    texts("http.request.body.form.names", Source::BodyFormNames),
    texts("http.request.body.form.values", Source::BodyFormValues),
    text("http.request.body.mime", Source::BodyMime),
    text("http.request.body.raw", Source::BodyRaw),
    integer("http.request.body.size", Source::BodySize),
    boolean("http.request.body.truncated", Source::BodyTruncated),
    map("http.request.cookies", Source::Cookies),
    text("http.request.full_uri", Source::FullUri),
    map("http.request.headers", Source::Headers),
    texts("http.request.headers.names", Source::HeaderNames),
    boolean("http.request.headers.truncated", Source::HeadersTruncated),
    texts("http.request.headers.values", Source::HeaderValues),
    text("http.request.method", Source::Method),
    integer("http.request.timestamp.msec", Source::Milliseconds),
    integer("http.request.timestamp.sec", Source::Seconds),
    text("http.request.uri", Source::Uri),
    map("http.request.uri.args", Source::Arguments),
    texts("http.request.uri.args.names", Source::ArgumentNames),
    texts("http.request.uri.args.values", Source::ArgumentValues),
    text("http.request.uri.path", Source::Path),
    text("http.request.uri.path.extension", Source::Extension),
    text("http.request.uri.query", Source::Query),
    text("http.request.version", Source::Property("httpProtocol")),
    text("http.user_agent", Source::Header("user-agent")),
    text("http.x_forwarded_for", Source::Header("x-forwarded-for")),
    integer("ip.geoip.asnum", Source::PropertyNumber("asn")),
    text("ip.geoip.continent", Source::Property("continent")),
    text("ip.geoip.country", Source::Property("country")),
    boolean("ip.geoip.is_in_european_union", Source::PropertyFlag("isEUCountry")),
    text("ip.geoip.subdivision_1_iso_code", Source::Subdivision),
    Field { name: "ip.src", kind: Type::One(Scalar::Ip), source: Source::Address },
    integer("ip.src.asnum", Source::PropertyNumber("asn")),
    text("ip.src.city", Source::Property("city")),
    text("ip.src.continent", Source::Property("continent")),
    text("ip.src.country", Source::Property("country")),
    boolean("ip.src.is_in_european_union", Source::PropertyFlag("isEUCountry")),
    text("ip.src.lat", Source::Property("latitude")),
    text("ip.src.lon", Source::Property("longitude")),
    text("ip.src.metro_code", Source::Property("metroCode")),
    text("ip.src.postal_code", Source::Property("postalCode")),
    text("ip.src.region", Source::Property("region")),
    text("ip.src.region_code", Source::Property("regionCode")),
    text("ip.src.subdivision_1_iso_code", Source::Subdivision),
    text("ip.src.timezone.name", Source::Property("timezone")),
    text("raw.http.request.full_uri", Source::FullUri),
    text("raw.http.request.uri", Source::Uri),
    map("raw.http.request.uri.args", Source::Arguments),
    texts("raw.http.request.uri.args.names", Source::ArgumentNames),
    texts("raw.http.request.uri.args.values", Source::ArgumentValues),
    text("raw.http.request.uri.path", Source::Path),
    text("raw.http.request.uri.path.extension", Source::Extension),
    text("raw.http.request.uri.query", Source::Query),
    boolean("ssl", Source::Secure),
];

/// Fields that cannot be used, each with the reason. A prefix that ends with a dot stands for all
/// names below it.
static UNAVAILABLE: &[(&str, &str)] = &[
    ("cf.api_gateway.", UNKNOWN_TO_WORKERS),
    ("cf.bot_management.", NOT_IN_BYPASS_RULES),
    ("cf.edge.server_ip", UNKNOWN_TO_WORKERS),
    ("cf.hostname.metadata", UNKNOWN_TO_WORKERS),
    ("cf.llm.", UNKNOWN_TO_WORKERS),
    ("cf.random_seed", "a rule must give the same answer for the same request"),
    ("cf.response.", NO_RESPONSE),
    ("cf.threat_score", NOT_IN_BYPASS_RULES),
    ("cf.timings.", UNKNOWN_TO_WORKERS),
    ("cf.waf.", UNKNOWN_TO_WORKERS),
    ("http.request.body.multipart.", "of bodies in parts, rules know only http.request.body.raw"),
    (
        "http.request.jwt.",
        "nothing here verifies tokens, and a claim that anybody can make up opens nothing",
    ),
    ("http.response.", NO_RESPONSE),
    ("ip.geoip.subdivision_2_iso_code", UNKNOWN_TO_WORKERS),
    ("ip.src.subdivision_2_iso_code", UNKNOWN_TO_WORKERS),
    ("raw.http.response.", NO_RESPONSE),
    ("src.ip", "the field is called `ip.src`"),
];

const UNKNOWN_TO_WORKERS: &str = "the platform does not tell it to this product";
const NOT_IN_BYPASS_RULES: &str = "bypass rules exclude it, as Cloudflare's do";
const NO_RESPONSE: &str = "there is no response yet when rules are evaluated";

#[cfg(test)]
mod tests {
    use super::{FIELDS, UNAVAILABLE, find, reason_unavailable};

    #[test]
    fn names_are_sorted_so_that_none_stands_twice() {
        assert!(FIELDS.is_sorted_by(|one, next| one.name < next.name));
        assert!(UNAVAILABLE.is_sorted_by(|(one, _), (next, _)| one < next));
    }

    #[test]
    fn a_field_is_available_or_not_but_never_both() {
        for field in FIELDS {
            let reason = reason_unavailable(field.name);
            let is_exception = field.name == "cf.timings.client_tcp_rtt_msec";
            assert_eq!(reason.is_some(), is_exception, "{}", field.name);
        }
        for (name, _) in UNAVAILABLE {
            assert!(find(name.trim_end_matches('.')).is_none(), "{name}");
        }
        assert!(reason_unavailable("cf.wafer").is_none());
        assert!(reason_unavailable("cf.waf").is_some());
        assert!(reason_unavailable("cf.waf.score.sqli").is_some());
        assert!(reason_unavailable("cf.threat_score2").is_none());
    }
}
