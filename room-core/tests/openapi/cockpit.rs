//! The fields of a room for the forms of the cockpit, as the core describes them.

use std::fmt::Write;

use room_core::management::config::{Field, Shape, branding, room_table};

use crate::fields::grouped;

/// The longest line of the file, in characters.
const LINE_MAX: usize = 100;

/// Returns the text of `cockpit/room_table.js`.
pub fn room_table_file() -> String {
    let fields = [room_table::described(), branding::described()].into_iter().flatten();
    let written = fields.filter(|field| !field.mark.read_only).map(|field| entry(&field));
    format!(
        "// The fields of a room for forms: made of the core's table of fields by\n\
         // UPDATE=1 cargo test -p room-core --test openapi\n\n\
         export const ROOM_TABLE = [\n{}];\n",
        written.collect::<String>()
    )
}

fn entry(field: &Field) -> String {
    let (kind, words) = match &field.shape {
        Shape::Flag => ("checkbox", Vec::new()),
        Shape::Number(..) => ("number", Vec::new()),
        Shape::Numbers(all) => ("select", all.iter().map(u16::to_string).collect()),
        Shape::Words(all) => ("select", all.iter().map(|word| (*word).to_owned()).collect()),
        Shape::Text(_) | Shape::Id | Shape::Moment | Shape::Special => ("text", Vec::new()),
    };
    let range = match field.shape {
        Shape::Number(least, most) => format!("{} to {}. ", grouped(least), grouped(most)),
        _ => String::new(),
    };
    let is_number = if matches!(field.shape, Shape::Numbers(_)) { " isNumber: true," } else { "" };
    let mut lines = format!(
        "  {{\n    name: \"{}\", group: \"{:?}\", type: \"{kind}\",{is_number}\n",
        field.mark.name, field.group
    );
    if !words.is_empty() {
        let words: Vec<_> = words.iter().map(|word| format!("\"{word}\",")).collect();
        // Writing into a text does not fail.
        let _ = write!(lines, "    values: [\n{}    ],\n", filled(6, &words));
    }
    let help = format!("{range}{}", field.says);
    let one = format!("    help: {help:?},\n");
    if one.chars().count() <= LINE_MAX {
        lines.push_str(&one);
    } else {
        let words: Vec<_> = help.split(' ').map(str::to_owned).collect();
        let parts = filled(0, &words);
        let parts: Vec<_> = parts.lines().map(|part| format!("      {part:?}")).collect();
        let _ = write!(lines, "    help:\n{},\n", parts.join(" + \" \" +\n"));
    }
    lines + "  },\n"
}

/// Puts the pieces into lines that are not too long and begin with so many blanks.
fn filled(blanks: usize, pieces: &[String]) -> String {
    let indent = " ".repeat(blanks);
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            // So much is left for what a line of a text begins and ends with.
            Some(line) if line.len() + piece.len() + 20 < LINE_MAX => {
                line.push(' ');
                line.push_str(piece);
            }
            _ => lines.push(format!("{indent}{piece}")),
        }
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
