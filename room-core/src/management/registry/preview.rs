//! A preview of a queue page: kept for an hour, and shown in any state that visitors may meet.

use serde::{Deserialize, Serialize};

use crate::base::time::{MINUTE_MS, Timestamp};
use crate::page::{Page, Variables, Waiting, Words};
use crate::room::branding::Branding;
use crate::room::event::{Phase, Stage};
use crate::room::language::Language;
use crate::room::settings::QueueingMethod;

/// How long a preview is kept. Ours: Cloudflare says "temporary".
const LIFETIME_MS: u64 = 60 * MINUTE_MS;
/// The default of the parameter `waitTime` in minutes, as at Cloudflare.
const DEFAULT_WAIT_MINUTES: u32 = 10;
/// The longest wait that is shown, in minutes: about two years. Beyond it the widest range would
/// not fit a number.
const WAIT_MINUTES_MAX: u32 = 1_000_000;
/// The host on a built-in page without a name. Ours: a preview belongs to no room.
const SAMPLE_HOST: &str = "shop.example";
/// Milliseconds until the event of a preview starts, if it is in its prequeue. Ours.
const SAMPLE_START_MS: u64 = 10 * MINUTE_MS;
/// The length of a preview's event in milliseconds. Ours.
const SAMPLE_LENGTH_MS: u64 = 60 * MINUTE_MS;

/// An owner's page to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// When the preview is forgotten.
    pub expires_at: Timestamp,
    /// The source of the owner's page, a valid template; empty for the built-in page.
    pub html: String,
    /// What the page shows of its site.
    #[serde(default)]
    pub branding: Branding,
}

impl Preview {
    /// Makes the preview of a valid template, kept for an hour from `now` on.
    pub fn of(html: String, branding: Branding, now: Timestamp) -> Self {
        Self { expires_at: now + LIFETIME_MS, html, branding }
    }

    /// Renders the page in the state and the language that `query` asks for. Errors: why that state
    /// makes no sense. `texts` returns the words of a language and the built-in page in it.
    pub fn rendered<'texts>(
        &self,
        now: Timestamp,
        query: &str,
        texts: impl FnOnce(Language) -> Option<&'texts (Words, Page)>,
    ) -> Result<String, String> {
        let language = value(query, "language").map_or(Ok(Language::default()), str::parse);
        let language = language.map_err(|problem| format!("language {problem}"))?;
        let Some(waiting) = waiting(now, query)? else {
            return Ok("<!doctype html><title>Welcome</title><h1>Welcome</h1>".to_owned());
        };
        let (words, built_in) = texts(language).ok_or("the language has no texts")?;
        let variables = Variables::in_language(&waiting, words);
        let variables = variables.with_branding(&self.branding, SAMPLE_HOST);
        let own = if self.html.is_empty() { None } else { Some(Page::compile(&self.html)) };
        let own = own.transpose().map_err(|_| "the page is no valid template".to_owned())?;
        let page = own.as_ref().unwrap_or(built_in).render(&variables);
        page.map_err(|_| "the page grows too large".to_owned())
    }
}

/// Returns the value of a parameter of a query.
fn value<'query>(query: &'query str, wanted: &str) -> Option<&'query str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

/// Makes the visitor whose page `query` asks for; `None` if the visitor enters at once.
fn waiting(now: Timestamp, query: &str) -> Result<Option<Waiting>, String> {
    let one_of = |name: &str, choices: &[&str]| {
        let given =
            value(query, name).unwrap_or_else(|| choices.first().copied().unwrap_or_default());
        let index = choices.iter().position(|choice| choice.eq_ignore_ascii_case(given));
        index.ok_or_else(|| format!("{name} must be one of: {}", choices.join(", ")))
    };
    let is_set = |name: &str| one_of(name, &["false", "true", "0", "1"]).map(|at| at % 2 == 1);
    let force_queue = is_set("force_queue")?;
    let queue_is_full = is_set("queue_is_full")?;
    let method = one_of("queueing_method", &["fifo", "random", "passthrough", "reject"])?;
    let event = one_of("event", &["none", "prequeueing", "started"])?;
    let shuffles = is_set("shuffle_at_event_start")?;
    if shuffles && event == 0 {
        return Err("shuffle_at_event_start needs event=prequeueing or event=started".to_owned());
    }
    let minutes: u32 = value(query, "waitTime").map_or(Ok(DEFAULT_WAIT_MINUTES), |minutes| {
        let minutes =
            minutes.parse().ok().filter(|minutes| (1..=WAIT_MINUTES_MAX).contains(minutes));
        minutes.ok_or_else(|| format!("waitTime must be minutes, from 1 to {WAIT_MINUTES_MAX}"))
    })?;
    let prequeueing = event == 1;
    let is_held = force_queue || prequeueing;
    let method = match method {
        1 => QueueingMethod::Random,
        2 => QueueingMethod::Passthrough,
        3 => QueueingMethod::Reject,
        _ => QueueingMethod::Fifo,
    };
    if method == QueueingMethod::Passthrough && !is_held {
        return Ok(None);
    }
    let is_rejected = method == QueueingMethod::Reject && !is_held;
    Ok(Some(Waiting {
        method,
        estimate_s: (!is_rejected).then(|| minutes.saturating_mul(60)),
        // As wide as the range of a lottery whose wait is two minutes or more.
        quartiles_s: Some((minutes.saturating_mul(25), minutes.saturating_mul(120))),
        last_updated: now,
        refresh_interval_s: if is_rejected { 0 } else { 20 },
        queue_all: force_queue,
        queue_is_full,
        event: stage(event, shuffles, now),
        ..Waiting::default()
    }))
}

/// Makes the event of a preview by `choice`: 0 for none, 1 for one in its prequeue, otherwise a
/// running one.
fn stage(choice: usize, shuffles: bool, now: Timestamp) -> Option<Stage> {
    let phase = match choice {
        0 => return None,
        1 => Phase::Prequeueing,
        _ => Phase::Running,
    };
    let starts_in_ms = if phase == Phase::Prequeueing { SAMPLE_START_MS } else { 0 };
    let ends_in_ms = starts_in_ms + SAMPLE_LENGTH_MS;
    Some(Stage { phase, starts_at: now + starts_in_ms, starts_in_ms, ends_in_ms, shuffles })
}

#[cfg(test)]
mod tests {
    use super::Preview;
    use crate::base::time::Timestamp;
    use crate::page::{Page, Words};
    use crate::room::branding::Branding;
    use crate::room::language::Language;

    fn texts(language: Language) -> (Words, Page) {
        let english = include_str!("../../../../templates/languages/en-US.json");
        let french = include_str!("../../../../templates/languages/fr-FR.json");
        let json = if language == Language::default() { english } else { french };
        let words = Words::parse(language, json).unwrap();
        let page = Page::built_in(&words).unwrap();
        (words, page)
    }

    fn rendered(html: &str, branding: Branding, query: &str) -> Result<String, String> {
        let preview = Preview::of(html.to_owned(), branding, Timestamp(0));
        let known = ["en-US", "fr-FR"].map(|tag| tag.parse().unwrap());
        let known = known.map(|language| (language, texts(language)));
        let of = |language| known.iter().find(|(one, _)| *one == language).map(|(_, texts)| texts);
        preview.rendered(Timestamp(0), query, of)
    }

    #[test]
    fn the_built_in_page_is_shown_as_visitors_of_a_language_see_it() {
        let branding = Branding { name: "Arts & Co".to_owned(), ..Branding::default() };
        let seen = rendered("", branding, "language=fr-FR&waitTime=12").unwrap();
        assert!(seen.contains("lang=\"fr-FR\"") && seen.contains("Arts &amp; Co"));
        assert!(seen.contains("12 minutes"), "{seen}");
        let seen = rendered("", Branding::default(), "").unwrap();
        assert!(seen.contains("lang=\"en-US\"") && seen.contains("shop.example"));
        let own = rendered("{{waitTimeLocalized}}, {{pageName}}", Branding::default(), "").unwrap();
        assert_eq!(own, "10 minutes, shop.example");
        let refused = rendered("", Branding::default(), "language=xx").unwrap_err();
        assert!(refused.starts_with("language must be one of"), "{refused}");
    }

    #[test]
    fn the_query_says_which_state_to_show() {
        let html = "{{waitTime}} {{queueAll}} {{queueIsFull}}";
        let check = |query: &str, want: Option<&str>| {
            let seen = rendered(html, Branding::default(), query).ok();
            assert_eq!(seen.as_deref(), want, "{query}");
        };
        check("", Some("10 false false"));
        check("waitTime=3", Some("3 false false"));
        check("waitTime=1441", Some("1441 false false"));
        check("waitTime=1000000", Some("1000000 false false"));
        check("waitTime=1000001", None);
        check("waitTime=0", None);
        check("waitTime=soon", None);
        check("queue_is_full=true", Some("0 false true"));
        check("force_queue=true", Some("0 true false"));
        check("event=prequeueing&shuffle_at_event_start=true", Some("0 false false"));
        check("event=started", Some("10 false false"));
        check("shuffle_at_event_start=true", None);
        check("event=over", None);
        check("force_queue=maybe", None);
        let welcome = "<!doctype html><title>Welcome</title><h1>Welcome</h1>";
        check("queueing_method=passthrough", Some(welcome));
        check("queueing_method=passthrough&force_queue=true", Some("0 true false"));
        check("queueing_method=passthrough&event=prequeueing", Some("0 false false"));
        check("queueing_method=reject", Some("0 false false"));
        check("queueing_method=reject&force_queue=true", Some("0 true false"));
        check("queueing_method=lifo", None);
        check("queueing_method=Reject", Some("0 false false"));
        check("event=Prequeueing&force_queue=1", Some("0 true false"));
        check("force_queue=True&queue_is_full=0", Some("0 true false"));
        check("force_queue=2", None);
    }

    #[test]
    fn the_query_says_where_the_event_stands() {
        let html = "{{isEventActive}} {{isEventPrequeueing}} {{timeUntilEventStart}} \
                    {{timeUntilEventEnd}}";
        let check = |query: &str, want: &str| {
            let seen = rendered(html, Branding::default(), query);
            assert_eq!(seen.as_deref(), Ok(want), "{query}");
        };
        check("event=none", "false false 0 0");
        check("event=prequeueing", "true true 10 70");
        check("event=started", "true false 0 60");
    }
}
