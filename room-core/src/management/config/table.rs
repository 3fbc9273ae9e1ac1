//! The macro that makes reader, writer and description of a kind of object from one list of its
//! fields.

use serde_json::{Map, Value};

use super::form::Shape;

/// How a field is treated besides its form. The words stand in brackets in a table.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent marks, most of which few fields have"
)]
pub struct Mark {
    /// The name of the field, as in Cloudflare's API where that has it.
    pub name: &'static str,
    /// The field must be there.
    pub required: bool,
    /// Only the server sets the field. In the body of a request it is ignored.
    pub read_only: bool,
    /// Cloudflare's clients do not know the field and so do not send it. A `PUT` without it keeps
    /// it.
    pub ours: bool,
    /// The version before does not know the field. It is left out of what is stored if it has its
    /// default.
    ///
    /// While a deployment replaces that version, its isolates would refuse a configuration with the
    /// field. After a rollback its registry could not read the row of a room with it.
    pub new: bool,
    /// `null` is a value of its own: the room's value counts, or there is none.
    pub nullable: bool,
    /// In the body of a request `0` stands for the default, as old clients send it.
    pub zero_is_default: bool,
    /// In the body of a request `""` stands for the default, as old clients send it.
    pub empty_is_default: bool,
}

impl Mark {
    /// A field with this name and no mark.
    pub const fn named(name: &'static str) -> Self {
        Self {
            name,
            required: false,
            read_only: false,
            ours: false,
            new: false,
            nullable: false,
            zero_is_default: false,
            empty_is_default: false,
        }
    }

    /// A field that only the server sets.
    pub const fn read_only(name: &'static str) -> Self {
        Self { read_only: true, ..Self::named(name) }
    }

    /// A field that Cloudflare's product does not have.
    pub const fn ours(name: &'static str) -> Self {
        Self { ours: true, ..Self::named(name) }
    }
}

/// Where owners find a field in the cockpit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// In no form of a room's settings: the server sets the field, buttons and forms of their own
    /// do, or it is no field of a room.
    NoForm,
    /// What the room covers.
    Coverage,
    /// Who enters next.
    Order,
    /// What happens while people wait.
    Waiting,
    /// Sessions and the cookie.
    Sessions,
    /// Bots and failures.
    Failures,
    /// The queue page.
    Page,
}

/// What is said of a field in the API's description, the cockpit and the manual.
#[derive(Debug)]
pub struct Field {
    /// The name and how the field is treated.
    pub mark: Mark,
    /// Where the cockpit has it.
    pub group: Group,
    /// Which values it takes.
    pub shape: Shape,
    /// What it is for, in one sentence.
    pub says: &'static str,
}

/// A JSON object as the API shows it and the registry stores it.
pub(super) type Document = Map<String, Value>;

/// Makes four items from a list of fields: `MARKS`, `read`, `write` and `described`.
///
/// The list begins with the type that holds the fields and the type of what the checks need to
/// know, perhaps with a parameter of the first for the type of its texts.
///
/// An entry has the field's name, the place of its value (without one it is read and written by
/// hand), its [`Form`](super::form::Form), its [`Group`] if a form of the cockpit shows it, its
/// marks (see [`Mark`]), one sentence, and perhaps a check that runs once the field has been read:
///
/// ```ignore
/// "show_position" at show_position: Flag, Waiting [ours] "Tell visitors how many stand before.";
/// ```
///
/// `read` reads the fields in this order. A missing field leaves its place as it is. A wrong one
/// does too, and leaves its error in `fields`.
macro_rules! field_table {
    (@group) => {
        $crate::management::config::table::Group::NoForm
    };
    (@group $group:ident) => {
        $crate::management::config::table::Group::$group
    };
    (
        $record:ty, $context:ty $(, $text:ident)?;
        $(
            $name:literal $(at $($place:ident).+)? : $form:expr,
            $($group:ident)? [$($mark:ident)*] $says:literal $(then $check:path)?;
        )*
    ) => {
        /// The fields, in the order in which they are read.
        pub const MARKS: &[$crate::management::config::table::Mark] = {
            use $crate::management::config::table::Mark;
            &[$(Mark { $($mark: true,)* ..Mark::named($name) }),*]
        };

        /// Reads the fields into `record`, which holds their defaults.
        pub(super) fn read $(<$text: $crate::management::config::form::Held<String>>)? (
            fields: &mut $crate::management::config::fields::Fields<'_>,
            record: &mut $record,
            context: &mut $context,
        ) {
            use $crate::management::config::table::Mark;
            $(
                let mark = Mark { $($mark: true,)* ..Mark::named($name) };
                $(fields.take(mark.name, mark.required, &$form, &mut record.$($place).+);)?
                $($check(fields, record, context);)?
                let _ = (mark, &context);
            )*
        }

        /// Writes the fields of `record` into `document`.
        pub(super) fn write $(<$text: $crate::management::config::form::Held<String>>)? (
            record: &$record,
            document: &mut $crate::management::config::table::Document,
        ) {
            use $crate::management::config::form::Held;
            $($(
                let value = Held::written(&record.$($place).+, &$form);
                document.insert($name.to_owned(), value);
            )?)*
        }

        /// Describes the fields. No part of the Worker calls it, so that it has no sentences.
        pub fn described() -> Vec<$crate::management::config::table::Field> {
            use $crate::management::config::table::Field;
            let shapes = [$($form.shape()),*];
            let texts = [$((field_table!(@group $($group)?), $says)),*];
            let marked = MARKS.iter().zip(shapes);
            marked.zip(texts).map(|((mark, shape), (group, says))| {
                Field { mark: *mark, group, shape, says }
            }).collect()
        }
    };
}
pub(super) use field_table;
