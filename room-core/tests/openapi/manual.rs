//! The table of fields in `docs/rooms.md`: each field of the core has its row, with its range, its
//! words and its default. What the row says besides is the manual's own.

use room_core::management::config::{Field, Shape, branding, room_document, room_table};
use serde_json::Value;

use crate::fields::{grouped, plain_room};

/// How the table of fields begins.
const HEAD: &str = "| field | unit, range | default | ";

/// Returns the page with a row for each field that had none.
pub fn completed(page: &str) -> String {
    let missing = fields().filter(|field| row_of(page, field).is_none());
    let missing: String = missing.map(|field| row(&field)).collect();
    let end = page.find(HEAD).and_then(|start| Some(start + page.get(start..)?.find("\n\n")? + 1));
    let (before, after) = page.split_at(end.unwrap_or(page.len()));
    format!("{before}{missing}{after}")
}

/// Says which rows lack what the core says of their fields.
pub fn contradictions(page: &str) -> Vec<String> {
    let wrong = |field: Field| {
        let mut cells = row_of(page, &field)?.split('|').map(str::trim).skip(2);
        let (in_range, in_default) = (cells.next()?, cells.next()?);
        let (range, default) = (range(&field), default(&field));
        // A cell may say the unit before the range, and be of several fields.
        let has_range = in_range == range || in_range.ends_with(&format!(", {range}"));
        let has_default = in_default.split(", ").any(|one| one == default);
        let is_right = (range.is_empty() || has_range) && (default.is_empty() || has_default);
        (!is_right).then(|| format!("{}: {range} | {default}", field.mark.name))
    };
    fields().filter_map(wrong).collect()
}

fn fields() -> impl Iterator<Item = Field> {
    let all = [room_table::described(), branding::described()].into_iter().flatten();
    all.filter(|field| !field.mark.read_only || field.mark.required)
}

fn row_of<'page>(page: &'page str, field: &Field) -> Option<&'page str> {
    let rows = page.get(page.find(HEAD)?..)?.lines().take_while(|line| line.starts_with('|'));
    let name = format!("`{}`", field.mark.name);
    rows.into_iter().find(|row| row.split('|').nth(1).is_some_and(|cell| cell.contains(&name)))
}

fn row(field: &Field) -> String {
    let (range, default) = (range(field), default(field));
    format!("| `{}` | {range} | {default} | {} |\n", field.mark.name, field.says)
}

/// The values of a field, as the manual writes them; empty where it says so in its own words.
fn range(field: &Field) -> String {
    match &field.shape {
        // Bounds that nobody meets, or that the manual names by another field.
        Shape::Number(least, most) if *most < 1_000_000 => {
            format!("{} to {}", grouped(*least), grouped(*most))
        }
        Shape::Numbers(all) => all.iter().map(u16::to_string).collect::<Vec<_>>().join(", "),
        Shape::Words(all) if all.len() < 10 => {
            let words: Vec<_> = all.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        _ => String::new(),
    }
}

fn default(field: &Field) -> String {
    if field.mark.required {
        return "required".to_owned();
    }
    match room_document(&plain_room()).get(field.mark.name) {
        Some(Value::Bool(value)) => format!("`{value}`"),
        Some(Value::Number(value)) => value.to_string(),
        Some(Value::String(text)) if !text.is_empty() => format!("`{text}`"),
        _ => String::new(),
    }
}
