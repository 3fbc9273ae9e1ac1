//! Previews of a queue page: kept for an hour under an address that cannot be guessed, and shown
//! in every state that visitors may meet.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::change::{Change, Effect};
use super::document::drawn_id;
use super::{Answer, Registry};
use crate::api::{Call, Failure, Reply};
use crate::config::read_preview;
use crate::event::Phase;
use crate::id::{RoomId, ZoneId};
use crate::page::{Page, Stage, Variables, Waiting};
use crate::settings::QueueingMethod;
use crate::sorted;
use crate::time::{MINUTE_MS, Timestamp};

/// How long a preview is kept. Ours: the original says "temporary".
const LIFETIME_MS: u64 = 60 * MINUTE_MS;
/// Most previews at a time; the oldest makes room. Ours.
const MAX_PREVIEWS: usize = 20;
/// Minutes of `waitTime`, as in the original.
const DEFAULT_WAIT_MINUTES: u32 = 10;
/// The event of a preview begins in so long, or runs for so long. Ours.
const SAMPLE_START_MS: u64 = 10 * MINUTE_MS;
const SAMPLE_LENGTH_MS: u64 = 60 * MINUTE_MS;

/// A page to look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// When it is forgotten.
    pub expires_at: Timestamp,
    /// The owner's page, a valid template.
    pub html: String,
}

impl Registry {
    pub(super) fn make_preview(
        &self,
        now: Timestamp,
        draw: [u8; 16],
        zone: ZoneId,
        call: &Call,
        body: &Value,
    ) -> Result<Answer, Failure> {
        self.check_zone(zone)?;
        let html = read_preview(body).map_err(Failure::invalid)?;
        let id = RoomId::from_bytes(drawn_id(draw, 0)).to_string();
        let result = json!({
            "preview_url": format!("{}/_waiting-room/preview/{id}", call.base_url),
        });
        let preview = Preview { expires_at: now + LIFETIME_MS, html };
        let change = Change {
            target: String::new(),
            before: None,
            after: None,
            effect: Effect::Preview(id, Some(preview)),
        };
        let mut changes: Vec<_> = self.spent(now).into_iter().map(forgotten).collect();
        changes.push(change);
        Ok(Answer { reply: Reply::success(result, &[]), changes })
    }

    /// The page of a preview in the state that `query` asks for, or `None` if there is no such
    /// preview; or why the state makes no sense.
    pub fn preview(&self, now: Timestamp, id: &str, query: &str) -> Option<Result<String, String>> {
        let preview = self.previews.get(id).filter(|preview| preview.expires_at > now)?;
        Some(rendered(now, &preview.html, query))
    }

    /// Previews that make room for one more.
    fn spent(&self, now: Timestamp) -> Vec<String> {
        let ids: Vec<_> = self.previews.iter().collect();
        let ids = sorted::stably_by_number(ids, |(_, preview)| preview.expires_at.0);
        let too_many = ids.len().saturating_sub(MAX_PREVIEWS - 1);
        let is_spent = |(place, (_, preview)): &(usize, (&String, &Preview))| {
            *place < too_many || preview.expires_at <= now
        };
        ids.into_iter().enumerate().filter(is_spent).map(|(_, (id, _))| id.clone()).collect()
    }
}

fn forgotten(id: String) -> Change {
    let effect = Effect::Preview(id, None);
    Change { target: String::new(), before: None, after: None, effect }
}

fn rendered(now: Timestamp, html: &str, query: &str) -> Result<String, String> {
    let value = |wanted: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| *name == wanted).map(|(_, value)| value)
    };
    let one_of = |name: &str, choices: &[&str]| {
        let given = value(name).unwrap_or_else(|| choices.first().copied().unwrap_or_default());
        let index = choices.iter().position(|choice| *choice == given);
        index.ok_or_else(|| format!("{name} must be one of: {}", choices.join(", ")))
    };
    let is_set = |name: &str| one_of(name, &["false", "true"]).map(|index| index == 1);
    let force_queue = is_set("force_queue")?;
    let queue_is_full = is_set("queue_is_full")?;
    let method = one_of("queueing_method", &["fifo", "random", "passthrough", "reject"])?;
    let event = one_of("event", &["none", "prequeueing", "started"])?;
    let shuffles = is_set("shuffle_at_event_start")?;
    if shuffles && event == 0 {
        return Err("shuffle_at_event_start needs event=prequeueing or event=started".to_owned());
    }
    let minutes: u32 = value("waitTime").map_or(Ok(DEFAULT_WAIT_MINUTES), |minutes| {
        let minutes = minutes.parse().ok().filter(|minutes| (1..=1_440).contains(minutes));
        minutes.ok_or_else(|| "waitTime must be minutes, from 1 to 1440".to_owned())
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
        return Ok("<!doctype html><title>Welcome</title><h1>Welcome</h1>".to_owned());
    }
    let is_rejected = method == QueueingMethod::Reject && !is_held;
    let waiting = Waiting {
        method,
        estimate_s: (!is_rejected).then(|| minutes.saturating_mul(60)),
        // As wide as a lottery's of two minutes and more.
        quartiles_s: Some((minutes.saturating_mul(25), minutes.saturating_mul(120))),
        last_updated: now,
        refresh_interval_s: if is_rejected { 0 } else { 20 },
        queue_all: force_queue,
        queue_is_full,
        event: stage(event, shuffles, now),
        ..Waiting::default()
    };
    let page = Page::compile(html).map_err(|_| "the page is no valid template".to_owned())?;
    let page = page.render(&Variables::of(&waiting));
    page.map_err(|_| "the page grows too large".to_owned())
}

/// The event of a preview: none, one that starts soon, or one that runs.
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
    use super::rendered;
    use crate::time::Timestamp;

    #[test]
    fn the_query_says_which_state_to_show() {
        let html = "{{waitTime}} {{queueAll}} {{queueIsFull}}";
        let check = |query: &str, want: Option<&str>| {
            let seen = rendered(Timestamp(0), html, query).ok();
            assert_eq!(seen.as_deref(), want, "{query}");
        };
        check("", Some("10 false false"));
        check("waitTime=3", Some("3 false false"));
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
    }

    #[test]
    fn the_query_says_where_the_event_stands() {
        let html = "{{isEventActive}} {{isEventPrequeueing}} {{timeUntilEventStart}} \
                    {{timeUntilEventEnd}}";
        let check = |query: &str, want: &str| {
            assert_eq!(rendered(Timestamp(0), html, query).as_deref(), Ok(want), "{query}");
        };
        check("event=none", "false false 0 0");
        check("event=prequeueing", "true true 10 70");
        check("event=started", "true false 0 60");
    }
}
