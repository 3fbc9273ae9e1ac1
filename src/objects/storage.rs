//! The parts of an object's storage that `worker` lacks: transactions, and values by key within
//! them.

use room_core::machines::global_aggregator::{PartChange, Save};
use serde::Deserialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::js_sys::{Array, try_iter};
use worker::{SqlStorage, console_error};

use super::{history, journal};
use crate::platform;

/// A row of a query with these column names.
#[derive(Deserialize)]
pub(super) struct KeyedRow {
    pub(super) key: String,
    pub(super) value: String,
}

#[wasm_bindgen]
extern "C" {
    /// The platform's storage of one object.
    pub type ObjectStorage;

    /// Does what `write` does, or nothing of it if it fails.
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    pub fn transaction_sync(
        this: &ObjectStorage,
        write: &mut dyn FnMut() -> Result<(), JsValue>,
    ) -> Result<(), JsValue>;

    #[wasm_bindgen(method, getter)]
    fn kv(this: &ObjectStorage) -> Values;

    /// The same values as those of the asynchronous methods of the storage.
    type Values;

    /// Returns an iterator of pairs.
    #[wasm_bindgen(method, catch)]
    fn list(this: &Values) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn put(this: &Values, key: &str, value: &str) -> Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn delete(this: &Values, key: &str) -> Result<JsValue, JsValue>;
}

/// The key of the row of a global aggregator.
const ROW: &str = "row";

/// All that a global aggregator has stored.
#[derive(Default)]
pub struct Stored {
    /// The row; `None` if there is none yet.
    pub row: Option<String>,
    /// The parts, with their keys.
    pub parts: Vec<(String, String)>,
}

/// Reads all that a global aggregator has stored. The error is the platform's reason, for the log.
pub fn read(storage: &ObjectStorage) -> Result<Stored, String> {
    let reason = |error: JsValue| format!("{error:?}");
    let pairs = storage.kv().list().map_err(reason)?;
    let mut stored = Stored::default();
    for pair in try_iter(&pairs).map_err(reason)?.into_iter().flatten() {
        let pair = Array::from(&pair.map_err(reason)?);
        // A value that is no text is as good as an unreadable one.
        let [key, value] =
            [pair.get(0), pair.get(1)].map(|one| one.as_string().unwrap_or_default());
        if key == ROW {
            stored.row = Some(value);
        } else {
            stored.parts.push((key, value));
        }
    }
    Ok(stored)
}

/// Writes the row of a global aggregator, its changed parts, the minutes of its history and the row
/// of its journal: all of it or nothing. The error is the platform's reason, for the log.
pub fn write(storage: &ObjectStorage, sql: &SqlStorage, save: &Save) -> Result<(), String> {
    let values = storage.kv();
    let write_part = |PartChange { key, value }: &PartChange| match value {
        Some(value) => values.put(key, value),
        None => values.delete(key).map(|_| ()),
    };
    let Save { row, parts, minutes, journal } = save;
    let mut write = || {
        if let Err(reason) = history::write(sql, minutes) {
            // It never stands in the way of what visitors depend on.
            console_error!("the history cannot be written: {reason}");
        }
        let journaled = journal.as_ref().map(|row| journal::write(sql, platform::now(), row));
        if let Some(Err(reason)) = journaled {
            console_error!("the journal cannot be written: {reason}");
        }
        parts.iter().try_for_each(write_part)?;
        values.put(ROW, row)
    };
    storage.transaction_sync(&mut write).map_err(|error| format!("{error:?}"))
}
