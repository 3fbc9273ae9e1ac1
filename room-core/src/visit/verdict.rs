//! The verdict on a request, as one text: how the Worker's Rust answers its JavaScript.
//! `src/verdict.js` reads it, and `tests/golden/verdicts.json` pins every form for both.
//!
//! The first letter says what to do. If it is a small letter, work is left: `after` is to be called
//! once the answer is on its way.
//!
//! ```text
//! P                      fetch the origin with the untouched request
//! C<set-cookie>          the same, and append this cookie to the answer, which no cache may keep
//! S<cookies>\n<set-cookie>
//!                        P or, with a set-cookie, C; the origin gets these cookies instead
//! O<P, C or S>           the same, and the origin's answer may order the end of the session
//! U<url>\n<P, C, S or O> the same; the origin gets this address instead
//! T<text>\n<C, S, O, U>  the same; the answer tells this of the session in a header
//! G<status>\n<name: value lines>\n\n<body>
//!                        answer with this page
//! W<as G>                the same, and the body goes on with what `listen` says each second
//! D<as G>                the same, and the body is the description of the API
//! E<as G>                the same, and what the entry measures is added to the body, which is JSON
//! L<room>\n<host>\n<public or owner>\n<visitor>\n<path>
//!                        answer from the room's log of admissions
//! B<bytes>               ask `manage` or `handle` again with the body, or its first so many bytes
//! M                      a request of the management surface: ask `manage`
//! H                      (from `glance`) ask `handle`, which may wait for others
//! F                      no decision: the var `ON_FAILURE` says what to do
//! ```

use crate::base::id::{RoomId, VisitorId};
use crate::page::response::HttpResponse;

/// What the Worker's entry (`src/entry.js`) does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Fetches the answer from the origin.
    Forward(Forward),
    /// Answers with this response.
    Respond(HttpResponse),
    /// Answers with an event stream that begins with this response.
    Stream(HttpResponse),
    /// Answers with this head and the description of the API, which the entry holds. The body here
    /// is empty.
    Describe(HttpResponse),
    /// Answers with this response after the entry has measured what its body names, and has added
    /// it there.
    Examine(HttpResponse),
    /// Answers from the room's log of admissions (`visit::log`).
    Log {
        /// The room.
        room: RoomId,
        /// The first host that the room covers, for the name of the log.
        host: String,
        /// Whether everybody may read the log.
        is_public: bool,
        /// The visitor, if inside, and when admitted, in seconds since the Unix epoch.
        visitor: Option<(VisitorId, u64)>,
        /// Which file of the log, or `receipt`.
        path: String,
    },
    /// Asks again with the body of a management request, or of a request that a rule wants to see.
    ReadBody {
        /// The most bytes of the body to read.
        at_most_bytes: usize,
    },
    /// Asks `manage`: the request is one of the management API.
    Manage,
    /// Asks `handle`, which may wait for an object or for more of the request.
    Handle,
    /// There is no decision: the variable `ON_FAILURE` says what to do.
    Undecided,
}

/// How a request goes to the origin. Untouched by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forward {
    /// The URL that the origin gets instead of the visitor's; `None` keeps it.
    pub url: Option<String>,
    /// The `Cookie` header that the origin gets instead of the visitor's. "" removes it, `None`
    /// keeps it.
    pub cookies: Option<String>,
    /// The complete value of a `Set-Cookie` header for the visitor.
    pub set_cookie: Option<String>,
    /// The value of a header about the visitor's session, beside a cookie.
    pub session: Option<String>,
    /// Whether a header of the origin's answer may order the end of the visitor's session.
    pub heeds_commands: bool,
}

impl Verdict {
    /// Forwards the request as it came.
    pub const PASS: Self = Self::Forward(Forward {
        url: None,
        cookies: None,
        set_cookie: None,
        session: None,
        heeds_commands: false,
    });

    /// Writes the verdict as the text that the entry reads.
    ///
    /// `work_is_left` asks the entry to call `after`. A verdict that asks again (`B`, `M`, `H`)
    /// drops it, since the next verdict says it.
    pub fn encode(&self, work_is_left: bool) -> String {
        let mut text = match self {
            Self::Forward(forward) => forward.encode(),
            Self::Respond(response) => response.encode('G'),
            Self::Stream(response) => response.encode('W'),
            Self::Describe(response) => response.encode('D'),
            Self::Examine(response) => response.encode('E'),
            Self::Log { room, host, is_public, visitor, path } => {
                let readers = if *is_public { "public" } else { "owner" };
                let visitor =
                    visitor.map(|(one, at)| format!("{:x} {at}", one.0)).unwrap_or_default();
                format!("L{room}\n{host}\n{readers}\n{visitor}\n{path}")
            }
            Self::ReadBody { at_most_bytes } => return format!("B{at_most_bytes}"),
            Self::Manage => return "M".to_owned(),
            Self::Handle => return "H".to_owned(),
            Self::Undecided => "F".to_owned(),
        };
        mark(&mut text, work_is_left);
        text
    }
}

impl Forward {
    fn encode(&self) -> String {
        let Self { url, cookies, set_cookie, session, heeds_commands } = self;
        let mut text = String::new();
        if let Some(session) = session {
            text.extend(["T", session, "\n"]);
        }
        if let Some(url) = url {
            text.extend(["U", url, "\n"]);
        }
        if *heeds_commands {
            text.push('O');
        }
        match (cookies, set_cookie) {
            (None, None) => text.push('P'),
            (None, Some(set_cookie)) => text.extend(["C", set_cookie]),
            (Some(cookies), set_cookie) => {
                // A header cannot hold line ends; here they would end the line.
                let cookies = cookies.replace(['\r', '\n'], "");
                text.extend(["S", &cookies, "\n", set_cookie.as_deref().unwrap_or_default()]);
            }
        }
        text
    }
}

impl HttpResponse {
    /// Writes the letter and the status, a line per header, an empty line and the body.
    fn encode(&self, letter: char) -> String {
        let head_bytes: usize =
            self.headers.iter().map(|(name, value)| name.len() + value.len() + 3).sum();
        let mut text = String::with_capacity(head_bytes + self.body.len() + 8);
        text.push(letter);
        text.push_str(&self.status.to_string());
        text.push('\n');
        for (name, value) in &self.headers {
            for part in [name, ": ", value, "\n"] {
                text.push_str(part);
            }
        }
        text.push('\n');
        text.push_str(&self.body);
        text
    }
}

/// Writes the next step of an open event stream: `W` and whole events if it goes on, `G` and whole
/// events if it ends. The letter is small if work is left.
pub fn encode_stream_step(events: &str, goes_on: bool, work_is_left: bool) -> String {
    let mut text = format!("{}{events}", if goes_on { 'W' } else { 'G' });
    mark(&mut text, work_is_left);
    text
}

fn mark(text: &mut str, work_is_left: bool) {
    if work_is_left && let Some(letter) = text.get_mut(..1) {
        letter.make_ascii_lowercase();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Forward, Verdict, encode_stream_step};
    use crate::base::id::VisitorId;
    use crate::page::response::HttpResponse;

    /// Every form with and without work that is left, in the order of the golden file.
    fn every_form() -> Vec<(Verdict, bool)> {
        let forward = |url: bool, cookies: Option<&str>, set_cookie: bool, heeds_commands: bool| {
            Verdict::Forward(Forward {
                url: url.then(|| "https://shop.example/a?b=1".to_owned()),
                cookies: cookies.map(str::to_owned),
                set_cookie: set_cookie.then(|| "ticket=1; Path=/".to_owned()),
                session: (set_cookie && cookies.is_none()).then(|| "300;renews".to_owned()),
                heeds_commands,
            })
        };
        let response = |status: u16, body: &str| HttpResponse {
            status,
            headers: vec![
                ("content-type", "text/plain".to_owned()),
                ("set-cookie", "a=1: 2".into()),
            ],
            body: body.to_owned(),
        };
        let mut forms = Vec::new();
        for url in [false, true] {
            for cookies in [None, Some(""), Some("x=1; y=2")] {
                for set_cookie in [false, true] {
                    for heeds_commands in [false, true] {
                        forms.push(forward(url, cookies, set_cookie, heeds_commands));
                    }
                }
            }
        }
        forms.extend([
            Verdict::Respond(response(200, "one\n\ntwo\n")),
            Verdict::Respond(response(503, "")),
            Verdict::Stream(response(200, "event: turn\ndata: {}\n\n")),
            Verdict::Describe(response(200, "")),
            Verdict::Examine(response(200, "{}")),
            log(true, Some((VisitorId(7), 1_800_000_000))),
            log(false, None),
            Verdict::ReadBody { at_most_bytes: 4_096 },
            Verdict::Manage,
            Verdict::Handle,
            Verdict::Undecided,
        ]);
        forms.into_iter().flat_map(|form| [(form.clone(), false), (form, true)]).collect()
    }

    fn log(is_public: bool, visitor: Option<(VisitorId, u64)>) -> Verdict {
        let room = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let [host, path] = ["shop.example", "tile/0/000"].map(str::to_owned);
        Verdict::Log { room, host, is_public, visitor, path }
    }

    /// What JavaScript has to read out of a form.
    fn meaning(verdict: &Verdict, work_is_left: bool) -> Value {
        let respond = |kind: &str, response: &HttpResponse| {
            let HttpResponse { status, headers, body } = response;
            let is_cookie = |(name, _): &(&str, String)| *name == "set-cookie";
            let first = headers.iter().position(is_cookie).unwrap_or(headers.len());
            let (headers, cookies) = headers.split_at(first);
            json!({ "kind": kind, "after": work_is_left, "status": status,
                    "headers": headers, "cookies": cookies, "body": body })
        };
        match verdict {
            Verdict::Forward(Forward { url, cookies, set_cookie, session, heeds_commands }) => {
                json!({
                    "kind": "forward", "after": work_is_left, "url": url, "cookies": cookies,
                    "setCookie": set_cookie, "session": session, "heedsCommands": heeds_commands,
                })
            }
            Verdict::Respond(response) => respond("respond", response),
            Verdict::Stream(response) => respond("stream", response),
            Verdict::Describe(response) => respond("describe", response),
            Verdict::Examine(response) => respond("examine", response),
            Verdict::Log { room, host, is_public, visitor, path } => json!({
                "kind": "log", "after": work_is_left, "room": room.to_string(), "host": host,
                "isPublic": is_public, "path": path,
                "visitor": visitor.map(|(one, at)| format!("{:x} {at}", one.0)).unwrap_or_default(),
            }),
            Verdict::ReadBody { at_most_bytes } => {
                json!({ "kind": "read-body", "after": false, "atMostBytes": at_most_bytes })
            }
            Verdict::Manage => json!({ "kind": "manage", "after": false }),
            Verdict::Handle => json!({ "kind": "handle", "after": false }),
            Verdict::Undecided => json!({ "kind": "undecided", "after": work_is_left }),
        }
    }

    /// `UPDATE=1 cargo test -p room-core verdict` writes the file anew.
    #[test]
    fn every_form_is_as_javascript_reads_it() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/verdicts.json");
        let verdicts = every_form().into_iter().map(|(verdict, work_is_left)| {
            let meaning = meaning(&verdict, work_is_left);
            json!({ "text": verdict.encode(work_is_left), "meaning": meaning })
        });
        let steps = [(true, false), (true, true), (false, false), (false, true)];
        let steps = steps.map(|(goes_on, work_is_left)| {
            let events = "event: estimate\ndata: {}\n\n";
            let text = encode_stream_step(events, goes_on, work_is_left);
            let meaning = json!({ "events": events, "goesOn": goes_on, "after": work_is_left });
            json!({ "text": text, "meaning": meaning })
        });
        let pinned = json!({ "verdicts": verdicts.collect::<Vec<_>>(), "streamSteps": steps });
        let text = serde_json::to_string_pretty(&pinned).unwrap() + "\n";
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn names_and_values_of_any_length_are_written() {
        let headers = vec![("a", "long ".repeat(9)), ("a-long-name", String::new())];
        let answer = HttpResponse { status: 200, headers, body: "body".to_owned() };
        let text = Verdict::Respond(answer).encode(false);
        assert_eq!(text, format!("G200\na: {}\na-long-name: \n\nbody", "long ".repeat(9)));
    }

    #[test]
    fn a_cookie_cannot_end_its_line() {
        let cookies = Some("a=1\r\nSb=2".to_owned());
        let forward = Forward { cookies, set_cookie: Some("c=3".to_owned()), ..Forward::default() };
        assert_eq!(Verdict::Forward(forward).encode(false), "Sa=1Sb=2\nc=3");
    }
}
