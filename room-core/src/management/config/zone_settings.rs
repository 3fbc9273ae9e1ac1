//! Reads and writes the settings of a zone, which all its rooms share.

use serde_json::{Map, Value};

use super::field_error::FieldError;
use super::fields::Fields;
use super::form::{Flag, Form};
use super::table::field_table;
use crate::room::zone_settings::ZoneSettings;

field_table! {
    ZoneSettings, ();
    "search_engine_crawler_bypass" at search_engine_crawler_bypass: Flag, []
        "Verified crawlers of search engines skip all rooms of the zone.";
    "always_use_https" at always_use_https: Flag, [ours nullable]
        "Whether the zone redirects plain HTTP; null goes by each request.";
}

/// Reads the settings from a JSON object. Pointers of errors begin at the object.
pub fn read_zone_settings(value: &Value) -> Result<ZoneSettings, Vec<FieldError>> {
    let mut fields = Fields::of(value, String::new()).map_err(|error| vec![error])?;
    let mut settings = ZoneSettings::default();
    read(&mut fields, &mut settings, &mut ());
    let errors = fields.finish();
    if errors.is_empty() { Ok(settings) } else { Err(errors) }
}

/// Writes the settings as a JSON object.
pub fn zone_settings_document(settings: ZoneSettings) -> Map<String, Value> {
    let mut document = Map::new();
    write(&settings, &mut document);
    document
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ZoneSettings, read_zone_settings, zone_settings_document};

    #[test]
    fn settings_read_back_as_themselves() {
        let check = |value: Value, bypass: bool, https: Option<bool>| {
            let want =
                ZoneSettings { search_engine_crawler_bypass: bypass, always_use_https: https };
            assert_eq!(read_zone_settings(&value), Ok(want), "{value}");
            let written = Value::Object(zone_settings_document(want));
            assert_eq!(read_zone_settings(&written), Ok(want), "{written}");
        };
        check(json!({}), false, None);
        check(json!({ "search_engine_crawler_bypass": null }), false, None);
        check(json!({ "search_engine_crawler_bypass": true }), true, None);
        check(json!({ "always_use_https": false }), false, Some(false));
        for (value, pointer) in [
            (json!({ "search_engine_crawler_bypass": 1 }), "/search_engine_crawler_bypass"),
            (json!({ "always_use_http": true }), "/always_use_http"),
            (json!([]), ""),
        ] {
            assert_eq!(read_zone_settings(&value).unwrap_err()[0].pointer, pointer);
        }
    }

    #[test]
    fn https_goes_by_the_request_unless_the_owner_says_how_it_is() {
        let check = |always: Option<bool>, url: &str, want: bool| {
            let settings = ZoneSettings { always_use_https: always, ..ZoneSettings::default() };
            assert_eq!(settings.uses_https_alone(url), want, "{always:?} {url}");
        };
        check(None, "https://shop.example/", true);
        check(None, "http://localhost:8787/", false);
        check(Some(true), "http://shop.example/", true);
        check(Some(false), "https://shop.example/", false);
    }
}
