//! The operations on previews: make one, under an address that cannot be guessed, and show it.

use serde_json::{Value, json};

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::preview::Preview;
use super::rooms::unknown_variables;
use super::stored::Stored;
use crate::base::id::{RoomId, ZoneId};
use crate::base::sorted;
use crate::base::time::Timestamp;
use crate::management::api::{Failure, Reply};
use crate::management::config::read_preview;

/// The most previews that are kept. A new one replaces the oldest. The number is ours.
const MAX_PREVIEWS: usize = 20;

/// Keeps the page of `body`, and answers with the preview's address below `base_url`.
pub fn create(
    context: CallContext<'_>,
    zone: ZoneId,
    base_url: &str,
    body: &Value,
) -> Result<Answer, Failure> {
    context.check_zone(zone)?;
    let (html, branding) = read_preview(body).map_err(Failure::invalid)?;
    // As it was drawn: by it isolates tell a preview from an address that somebody made up.
    let id = RoomId::from_bytes(context.draw).to_string();
    let result = json!({
        "preview_url": format!("{base_url}/_waiting-room/preview/{id}"),
    });
    let unknown = unknown_variables("custom_html", Some(&html));
    let mut changes: Vec<_> = spent(context).into_iter().map(|spent| change(spent, None)).collect();
    changes.push(change(id, Some(Preview::of(html, branding, context.now))));
    Ok(Answer { reply: Reply::success(result, &unknown), changes })
}

/// Returns the preview `id`; `None` if there is none, or if it has expired.
pub fn find<'stored>(
    stored: &'stored Stored,
    now: Timestamp,
    id: &str,
) -> Option<&'stored Preview> {
    stored.previews().get(id).filter(|preview| preview.expires_at > now)
}

/// Finds the previews to forget before one more is kept: expired ones, and the oldest of too many.
fn spent(context: CallContext<'_>) -> Vec<String> {
    let ids: Vec<_> = context.stored.previews().iter().collect();
    let ids = sorted::stably_by_number(ids, |(_, preview)| preview.expires_at.0);
    let too_many = ids.len().saturating_sub(MAX_PREVIEWS - 1);
    let is_spent = |(place, (_, preview)): &(usize, (&String, &Preview))| {
        *place < too_many || preview.expires_at <= context.now
    };
    ids.into_iter().enumerate().filter(is_spent).map(|(_, (id, _))| id.clone()).collect()
}

fn change(id: String, preview: Option<Preview>) -> Change {
    let effect = Effect::Preview(id, preview.map(Box::new));
    Change { target: String::new(), before: None, after: None, effect }
}
