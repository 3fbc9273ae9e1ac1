//! Refuses a `rooms.json` that the Worker could not use, before anything is built or deployed.

use std::error::Error;
use std::fs;
use std::path::Path;

use room_core::management::config::{FieldError, parse_rooms};

/// Reads the file as the Worker does. An error names every wrong field and what is allowed.
pub(crate) fn check(file: &Path) -> Result<(), Box<dyn Error>> {
    let json = fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    match parse_rooms(&json) {
        Ok(_) => Ok(()),
        Err(errors) => Err(refusal(&errors).into()),
    }
}

fn refusal(errors: &[FieldError]) -> String {
    let lines: Vec<String> = errors.iter().map(|error| format!("  {error}")).collect();
    format!("rooms.json cannot be used, so nothing is built:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use room_core::management::config::parse_rooms;

    use super::{check, refusal};

    #[test]
    fn every_wrong_field_is_named() {
        let json = r#"[{ "id": "de30de30de30de30de30de30de30de30", "name": "demo",
            "zone_id": "0123456789abcdef0123456789abcdef", "host": "shop.example",
            "total_active_users": 0, "new_users_per_minute": 1, "sesion_duration": 1 }]"#;
        let refusal = refusal(&parse_rooms(json).unwrap_err());
        let lines: Vec<&str> = refusal.lines().collect();
        assert_eq!(lines.len(), 3, "{refusal}");
        assert!(lines[1].starts_with("  /0/total_active_users: must be "), "{refusal}");
        assert!(lines[2].starts_with("  /0/sesion_duration: "), "{refusal}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = check(Path::new("no/rooms.json")).unwrap_err().to_string();
        assert!(error.starts_with("no/rooms.json cannot be read: "), "{error}");
    }

    #[test]
    fn the_file_of_the_checkout_can_be_used() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../rooms.json")).unwrap();
    }
}
