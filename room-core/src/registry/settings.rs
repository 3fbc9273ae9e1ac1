//! Settings of a zone.

use serde_json::Value;

use super::change::{Change, Effect};
use super::document::Meaning;
use super::{Answer, Registry};
use crate::api::{Failure, Method};
use crate::config::{ZoneSettings, read_zone_settings, zone_settings_document};
use crate::id::ZoneId;

const MEANING: Meaning =
    Meaning { read_only: &[], extensions: &["always_use_https"], defaults: &[] };

impl Registry {
    pub(super) fn settings_answer(&self, zone: ZoneId) -> Result<Answer, Failure> {
        self.check_zone(zone)?;
        Ok(Answer::of(shown(self.settings_of(zone))))
    }

    /// `PUT` and `PATCH` are the same, as in the original.
    pub(super) fn change_settings(&self, zone: ZoneId, body: &Value) -> Result<Answer, Failure> {
        self.check_zone(zone)?;
        let current = self.settings_of(zone);
        let before = zone_settings_document(current);
        let document = Value::Object(MEANING.merged(before.clone(), Method::Patch, body)?);
        let settings = read_zone_settings(&document).map_err(Failure::invalid)?;
        let change = Change {
            target: format!("zones/{zone}/waiting_rooms/settings"),
            before: Some(before),
            after: Some(zone_settings_document(settings)),
            effect: Effect::Settings(zone, settings),
        };
        let changes = (settings != current).then_some(change).into_iter().collect();
        Ok(Answer { changes, ..Answer::of(shown(settings)) })
    }

    fn settings_of(&self, zone: ZoneId) -> ZoneSettings {
        self.zone_settings.get(&zone).copied().unwrap_or_default()
    }
}

fn shown(settings: ZoneSettings) -> Value {
    Value::Object(zone_settings_document(settings))
}
