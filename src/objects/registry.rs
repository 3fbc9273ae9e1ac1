//! The object around the registry. A deployment has one for all rooms.
//!
//! It stores the machine's rows in the SQL tables of `Row::TABLES`, before the reply leaves.
//! Those of one call are stored all or none. It waits for nothing, so calls are answered one after
//! the other.

use std::cell::RefCell;

use room_core::machines::wire::{self};
use room_core::management::api::{Call, Target};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::registry::{Preview, Registry as Machine, Row};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::worker_sys::DurableObjectState;
use worker::{Env, SqlStorage, State, console_error, console_warn};

use super::storage::{KeyedRow, ObjectStorage};
use crate::memory::{self, Memory};
use crate::platform;

/// The object that holds all that owners have configured.
#[wasm_bindgen]
pub struct Registry {
    storage: Option<ObjectStorage>,
    sql: SqlStorage,
    machine: RefCell<Option<Machine>>,
}

#[wasm_bindgen]
impl Registry {
    /// Makes the object, after each restart of the object or of the wasm instance.
    #[wasm_bindgen(constructor)]
    pub fn new(state: DurableObjectState, _env: Env) -> Self {
        let storage = state.storage().ok().map(JsCast::unchecked_into);
        let sql = State::from(state).storage().sql();
        Self { storage, sql, machine: RefCell::new(None) }
    }

    /// Answers one message; "" means no answer.
    #[cfg_attr(
        not(feature = "panic-hook-tests"),
        expect(clippy::unused_async, reason = "the entry calls every object in the same way")
    )]
    pub async fn call(&self, message: String) -> String {
        #[cfg(feature = "panic-hook-tests")]
        crate::panic_hooks::object(&message).await;
        let Some(request) = wire::decode(&message) else { return String::new() };
        match self.answer(request) {
            Ok(reply) => wire::encode(&reply),
            Err(problem) => {
                console_error!("the registry: {problem}");
                // What was not stored must not be told: start again from what is stored.
                *self.machine.borrow_mut() = None;
                String::new()
            }
        }
    }
}

/// Draws the random bytes from which a call makes ids. From the id of a preview isolates can see
/// that it was drawn here.
fn drawn(call: &Call) -> [u8; 16] {
    let of_preview = |memory: &mut Memory| memory.keys.preview_id(platform::random());
    let is_preview = matches!(call.target, Target::Preview(_));
    let drawn = if is_preview { memory::with(of_preview) } else { None };
    drawn.unwrap_or_else(platform::random)
}

fn unconfigured() -> String {
    "there is no configuration".to_owned()
}

impl Registry {
    fn answer(&self, request: RegistryRequest) -> Result<RegistryReply, String> {
        let mut held = self.machine.borrow_mut();
        let machine = match &mut *held {
            Some(machine) => machine,
            None => held.insert(self.load()?),
        };
        Ok(match request {
            RegistryRequest::Perform(call) => {
                let (now, drawn) = (platform::now(), drawn(&call));
                let perform =
                    |memory: &mut Memory| machine.perform(now, drawn, Some(&memory.keys), &call);
                let turn = memory::with(perform).ok_or_else(unconfigured)?;
                self.store(&turn.rows)?;
                RegistryReply::Performed(turn.reply)
            }
            RegistryRequest::Configuration { known } if known == Some(machine.version()) => {
                RegistryReply::Unchanged
            }
            RegistryRequest::Configuration { .. } => RegistryReply::Configuration {
                version: machine.version(),
                text: machine.configuration(),
            },
            RegistryRequest::Tokens => RegistryReply::Tokens(machine.tokens()),
            RegistryRequest::Destinations(room) => {
                RegistryReply::Destinations(machine.destinations(room))
            }
            RegistryRequest::Preview { id, query } => {
                let now = platform::now();
                let preview = machine.preview(now, &id);
                let show = |preview: &Preview| {
                    memory::with(|memory| {
                        preview.rendered(now, &query, |language| memory.texts(language))
                    })
                };
                RegistryReply::Preview(preview.and_then(show))
            }
        })
    }

    fn load(&self) -> Result<Machine, String> {
        let exec = |query: &str| self.sql.exec(query, None).map_err(|error| error.to_string());
        for table in Row::TABLES {
            let columns = "(key TEXT PRIMARY KEY, value TEXT NOT NULL)";
            exec(&format!("CREATE TABLE IF NOT EXISTS {table} {columns}"))?;
        }
        let all = Row::TABLES.map(|table| format!("SELECT key, value FROM {table}"));
        let stored = exec(&all.join(" UNION ALL "))?.to_array::<KeyedRow>();
        let stored = stored.map_err(|error| error.to_string())?;
        let rows = stored.into_iter().map(|KeyedRow { key, value }| (key, value)).collect();
        let (seed, zones, bounds, can_challenge) =
            memory::with(Memory::registry_basis).ok_or_else(unconfigured)?;
        let machine = Machine::new(rows, seed, zones, bounds).map_err(|row| row.reason)?;
        if let Some(note) = machine.note_on_file() {
            console_warn!("{note}");
        }
        Ok(machine.with_turnstile(can_challenge))
    }

    fn store(&self, rows: &[Row]) -> Result<(), String> {
        if rows.is_empty() {
            return Ok(());
        }
        let storage = self.storage.as_ref().ok_or_else(|| "there is no storage".to_owned())?;
        let mut write = || rows.iter().try_for_each(|row| self.write(row).map_err(JsValue::from));
        storage.transaction_sync(&mut write).map_err(|error| format!("{error:?}"))
    }

    fn write(&self, row: &Row) -> worker::Result<()> {
        let (table, Row { key, value }) = (row.table(), row);
        let key = key.as_str().into();
        let written = match value {
            Some(value) => {
                let query = format!("INSERT OR REPLACE INTO {table} (key, value) VALUES (?, ?)");
                self.sql.exec(&query, vec![key, value.as_str().into()])
            }
            None => self.sql.exec(&format!("DELETE FROM {table} WHERE key = ?"), vec![key]),
        };
        written.map(|_| ())
    }
}
