//! The object around the registry. A deployment has one for all rooms.
//!
//! It stores the machine's rows in the SQL tables of `Row::TABLES`, before the reply leaves.
//! Those of one call are stored all or none. It waits for nothing, so calls are answered one after
//! the other.

use std::cell::RefCell;
use std::rc::Rc;

use room_core::machines::wire::{self};
use room_core::management::api::{Call, Target};
use room_core::management::messages::{RegistryReply, RegistryRequest};
use room_core::management::registry::{Preview, Registry as Machine, Row};

use super::storage::KeyedRow;
use crate::memory::{self, Memory};
use crate::platform::objects::{ObjectState, object_class};
use crate::platform::storage::{Result, Sql};
use crate::platform::{self, Env, log};

object_class! {
    /// The object that holds all that owners have configured.
    Registry, Held
}

/// The object around the machine, which is made from what is stored.
pub struct Held {
    state: ObjectState,
    machine: RefCell<Option<Machine>>,
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

impl Held {
    fn new(state: ObjectState, _env: Env) -> Self {
        Self { state, machine: RefCell::new(None) }
    }

    #[expect(clippy::unused_self, reason = "of the registry there is one: its name says nothing")]
    fn learn_name(&self, _told: Option<&str>) {}

    #[expect(clippy::unused_async, reason = "every object is called in the same way")]
    async fn call(self: Rc<Self>, message: &str) -> Option<RegistryReply> {
        match self.answer(wire::decode(message)?) {
            Ok(reply) => Some(reply),
            Err(problem) => {
                log::error(format_args!("the registry: {problem}"));
                // What was not stored must not be told: start again from what is stored.
                *self.machine.borrow_mut() = None;
                None
            }
        }
    }

    fn answer(&self, request: RegistryRequest) -> Result<RegistryReply> {
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

    fn load(&self) -> Result<Machine> {
        let sql = self.state.sql();
        for table in Row::TABLES {
            let columns = "(key TEXT PRIMARY KEY, value TEXT NOT NULL)";
            sql.run(&format!("CREATE TABLE IF NOT EXISTS {table} {columns}"), Vec::new())?;
        }
        let all = Row::TABLES.map(|table| format!("SELECT key, value FROM {table}"));
        let stored = sql.rows::<KeyedRow>(&all.join(" UNION ALL "), Vec::new())?;
        let rows = stored.into_iter().map(|KeyedRow { key, value }| (key, value)).collect();
        let (seed, zones, bounds, can_challenge) =
            memory::with(Memory::registry_basis).ok_or_else(unconfigured)?;
        let machine = Machine::new(rows, seed, zones, bounds).map_err(|row| row.reason)?;
        if let Some(note) = machine.note_on_file() {
            log::warn(format_args!("{note}"));
        }
        Ok(machine.with_turnstile(can_challenge))
    }

    fn store(&self, rows: &[Row]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let storage = self.state.storage().ok_or_else(|| "there is no storage".to_owned())?;
        let sql = self.state.sql();
        storage.transaction(|| rows.iter().try_for_each(|row| write(&sql, row)))
    }
}

fn write(sql: &Sql, row: &Row) -> Result<()> {
    let (table, Row { key, value }) = (row.table(), row);
    let key = key.as_str().into();
    match value {
        Some(value) => {
            let query = format!("INSERT OR REPLACE INTO {table} (key, value) VALUES (?, ?)");
            sql.run(&query, vec![key, value.as_str().into()])
        }
        None => sql.run(&format!("DELETE FROM {table} WHERE key = ?"), vec![key]),
    }
}
