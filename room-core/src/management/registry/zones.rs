//! Shows the zones and the account as Cloudflare's API does, for clients that look up a zone's id
//! by its domain (Terraform, Pulumi).
//!
//! Known are the ids and the domains. Every other field is there since clients demand it, with the
//! same value for every zone (`docs/terraform.md` lists them).

use serde_json::{Value, json};

use super::change::Answer;
use super::context::{CallContext, no_zone};
use crate::base::id::ZoneId;
use crate::base::sorted::SortedMap;
use crate::management::api::{Failure, Paging, Reply, ZoneFilter};

/// When every zone was made: a moment that nobody takes for a real one.
const UNKNOWN_MOMENT: &str = "1970-01-01T00:00:00Z";
/// The id of the one account. Paths accept any other, too.
const ACCOUNT_ID: &str = "00000000000000000000000000000001";
/// The name of the one account.
const ACCOUNT_NAME: &str = "waiting-room";

/// Lists the zones that a query asks for.
pub fn list(context: CallContext<'_>, query: &str) -> Result<Answer, Failure> {
    let paging = Paging::parse_any(query)?;
    let filter = ZoneFilter::parse(query);
    let mut all: Vec<_> =
        known(context).into_iter().filter(|(_, name)| filter.passes(name)).collect();
    all.sort_unstable_by(|(_, one), (_, other)| one.cmp(other));
    if filter.is_descending() {
        all.reverse();
    }
    let all: Vec<_> = all.iter().map(|(id, name)| document(*id, name)).collect();
    Ok(Answer { reply: Reply::page(&all, paging), changes: Vec::new() })
}

/// Shows one zone.
pub fn show(context: CallContext<'_>, zone: ZoneId) -> Result<Answer, Failure> {
    let name = known(context).remove(&zone).ok_or_else(no_zone)?;
    Ok(Answer::of(document(zone, &name)))
}

/// Lists the one account.
pub fn list_accounts(query: &str) -> Result<Answer, Failure> {
    let all = [account()];
    Ok(Answer { reply: Reply::page(&all, Paging::parse_any(query)?), changes: Vec::new() })
}

/// Shows the one account.
pub fn show_account() -> Answer {
    Answer::of(account())
}

/// Finds the zones with their names: those of `ZONES`, or without any those of the rooms. Then a
/// zone is called by the shortest host of its rooms. A sender for some zones or rooms knows these.
fn known(context: CallContext<'_>) -> SortedMap<ZoneId, String> {
    let mut known = of_all(context);
    let is_seen = |zone: ZoneId| {
        let mut rooms = context.stored.rooms().values();
        context.grant.scope.has_zone(zone)
            || rooms.any(|room| room.zone_id == zone && context.grant.sees(room))
    };
    known.retain(|zone, _| is_seen(*zone));
    known
}

fn of_all(context: CallContext<'_>) -> SortedMap<ZoneId, String> {
    let configured = context.deployment.zones.all();
    let mut known: SortedMap<ZoneId, String> =
        configured.map(|(id, domain)| (id, domain.as_str().to_owned())).collect();
    if !known.is_empty() {
        return known;
    }
    for room in context.stored.rooms().values() {
        for host in room.routes.iter().map(|route| route.host.as_str()) {
            let rank = |name: &str| (name.len(), name.to_owned());
            if known.get(&room.zone_id).is_none_or(|name| rank(host) < rank(name)) {
                known.insert(room.zone_id, host.to_owned());
            }
        }
    }
    known
}

fn document(id: ZoneId, name: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "status": "active",
        "type": "full",
        "paused": false,
        "development_mode": 0,
        "created_on": UNKNOWN_MOMENT,
        "modified_on": UNKNOWN_MOMENT,
        "activated_on": null,
        "name_servers": [],
        "original_name_servers": null,
        "original_registrar": null,
        "original_dnshost": null,
        "account": { "id": ACCOUNT_ID, "name": ACCOUNT_NAME },
        "owner": {},
        "plan": {},
        "meta": {},
    })
}

fn account() -> Value {
    json!({ "id": ACCOUNT_ID, "name": ACCOUNT_NAME, "type": "standard" })
}
