//! The operations on the settings of a zone: show and change.

use serde_json::Value;

use super::change::{Answer, Change, Effect};
use super::context::CallContext;
use super::document::Meaning;
use crate::base::id::ZoneId;
use crate::management::api::{Failure, Method};
use crate::management::config::{read_zone_settings, zone_settings, zone_settings_document};
use crate::room::zone_settings::ZoneSettings;

const MEANING: Meaning = Meaning(&[zone_settings::MARKS]);

/// Shows the settings of a zone.
pub fn show(context: CallContext<'_>, zone: ZoneId) -> Result<Answer, Failure> {
    context.check_zone(zone)?;
    Ok(Answer::of(shown(settings_of(context, zone))))
}

/// Changes the settings that the body has. `PUT` does the same as `PATCH`, as at Cloudflare.
pub fn change(context: CallContext<'_>, zone: ZoneId, body: &Value) -> Result<Answer, Failure> {
    context.check_zone(zone)?;
    let before = zone_settings_document(settings_of(context, zone));
    let document = Value::Object(MEANING.merged(before, Method::Patch, body)?);
    let settings = read_zone_settings(&document).map_err(Failure::invalid)?;
    let changes = change_to(context, zone, settings).into_iter().collect();
    Ok(Answer { changes, ..Answer::of(shown(settings)) })
}

/// Makes the change to these settings; `None` if the zone has them already.
pub(super) fn change_to(
    context: CallContext<'_>,
    zone: ZoneId,
    settings: ZoneSettings,
) -> Option<Change> {
    let current = settings_of(context, zone);
    let change = Change {
        target: format!("zones/{zone}/waiting_rooms/settings"),
        before: Some(zone_settings_document(current)),
        after: Some(zone_settings_document(settings)),
        effect: Effect::Settings(zone, settings),
    };
    (settings != current).then_some(change)
}

fn settings_of(context: CallContext<'_>, zone: ZoneId) -> ZoneSettings {
    context.stored.zone_settings().get(&zone).copied().unwrap_or_default()
}

fn shown(settings: ZoneSettings) -> Value {
    Value::Object(zone_settings_document(settings))
}
