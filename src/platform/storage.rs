//! The storage of one object: its SQL tables, its values by key, and transactions over both.

use serde::Deserialize;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::js_sys::{Array, try_iter};
use worker::{SqlStorage, SqlStorageValue};

/// A value in an SQL query.
pub type Value = SqlStorageValue;
/// The error is the platform's reason, for the log.
pub type Result<T> = std::result::Result<T, String>;

/// The SQL tables of an object.
pub struct Sql(SqlStorage);

impl From<SqlStorage> for Sql {
    fn from(sql: SqlStorage) -> Self {
        Self(sql)
    }
}

impl Sql {
    /// Runs a query that returns nothing.
    pub fn run(&self, query: &str, values: Vec<Value>) -> Result<()> {
        self.0.exec(query, values).map(|_| ()).map_err(|error| error.to_string())
    }

    /// Returns the rows of a query.
    pub fn rows<T: for<'row> Deserialize<'row>>(
        &self,
        query: &str,
        values: Vec<Value>,
    ) -> Result<Vec<T>> {
        let rows = self.0.exec(query, values).and_then(|cursor| cursor.to_array());
        rows.map_err(|error| error.to_string())
    }
}

/// Converts a whole number below 2^53, as all numbers that are stored are.
pub fn number(number: u64) -> Value {
    Value::Float(number as f64)
}

#[wasm_bindgen]
extern "C" {
    /// The platform's storage of one object.
    pub type ObjectStorage;

    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &ObjectStorage,
        write: &mut dyn FnMut() -> std::result::Result<(), JsValue>,
    ) -> std::result::Result<(), JsValue>;

    #[wasm_bindgen(method, getter)]
    fn kv(this: &ObjectStorage) -> Values;

    /// The same values as those of the asynchronous methods of the storage.
    type Values;

    /// Returns an iterator of pairs.
    #[wasm_bindgen(method, catch)]
    fn list(this: &Values) -> std::result::Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn put(this: &Values, key: &str, value: &str) -> std::result::Result<(), JsValue>;

    #[wasm_bindgen(method, catch)]
    fn delete(this: &Values, key: &str) -> std::result::Result<JsValue, JsValue>;
}

impl ObjectStorage {
    /// Does what `write` does, or nothing of it if it fails.
    pub fn transaction(&self, mut write: impl FnMut() -> Result<()>) -> Result<()> {
        let mut write = || write().map_err(|reason| JsValue::from_str(&reason));
        self.transaction_sync(&mut write).map_err(|error| reason(&error))
    }

    /// Returns all values, with their keys. A value that is no text comes as an empty one.
    pub fn pairs(&self) -> Result<Vec<(String, String)>> {
        let stored = self.kv().list().map_err(|error| reason(&error))?;
        let text = |value: JsValue| value.as_string().unwrap_or_default();
        let mut pairs = Vec::new();
        for pair in try_iter(&stored).map_err(|error| reason(&error))?.into_iter().flatten() {
            let pair = Array::from(&pair.map_err(|error| reason(&error))?);
            pairs.push((text(pair.get(0)), text(pair.get(1))));
        }
        Ok(pairs)
    }

    /// Stores a value.
    pub fn put_value(&self, key: &str, value: &str) -> Result<()> {
        self.kv().put(key, value).map_err(|error| reason(&error))
    }

    /// Deletes a value, if there is one.
    pub fn delete_value(&self, key: &str) -> Result<()> {
        self.kv().delete(key).map(|_| ()).map_err(|error| reason(&error))
    }
}

fn reason(error: &JsValue) -> String {
    error.as_string().unwrap_or_else(|| format!("{error:?}"))
}
