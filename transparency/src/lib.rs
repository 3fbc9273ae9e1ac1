//! The transparency log of a room, as a module for the Worker, for Node and for browsers.
//!
//! `leaf` says what an entry is, `merge` in which order entries join, `tree` keeps and signs,
//! `proof` writes receipts, `sale` and `rules` verify. Built by `cargo run -p xtask --
//! transparency`. No visit loads it.

pub mod leaf;
pub mod merge;
pub mod proof;
pub mod rules;
pub mod sale;
pub mod tree;

use base64ct::{Base64, Encoding};
use room_core::base::id::VisitorId;
use room_core::ticket::reference::Reference;
use serde_json::error::Category;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use crate::merge::Row;
use crate::proof::{Extra, Receipt};
use crate::sale::Sale;
use crate::tree::{NewTile, Tiles};

#[wasm_bindgen]
extern "C" {
    /// A JavaScript object that keeps tiles and entries.
    pub type Store;

    /// Returns the tile at this level and place; nothing if there is none.
    #[wasm_bindgen(method)]
    fn tile(this: &Store, level: u8, place: f64) -> Option<Vec<u8>>;

    /// Keeps a tile that is new or has grown.
    #[wasm_bindgen(method)]
    fn keep(this: &Store, level: u8, place: f64, hashes: &[u8]);

    /// Returns at least the entries from a second until another, one in each line.
    #[wasm_bindgen(method)]
    fn entries(this: &Store, first_s: f64, last_s: f64) -> String;
}

impl Tiles for Store {
    fn tile(&self, level: u8, place: u64) -> Option<Vec<u8>> {
        self.tile(level, place as f64)
    }
}

/// Makes a panic report its place.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// Makes the entries of rows that data centers kept, those that are new to a log of `size` entries,
/// in their order. A row was stored at the moment of its place, in milliseconds since the Unix
/// epoch. `rules` are those that the merge before returned. Returns JSON, see [`merge::Merged`].
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "the glue hands lists over")]
pub fn merged(
    store: &Store,
    secret: &[u8],
    rules: &str,
    size: f64,
    moments: Vec<f64>,
    rows: Vec<String>,
) -> Result<String, JsError> {
    let pairs = moments.iter().zip(&rows);
    let rows: Vec<Row<'_>> =
        pairs.map(|(moment, text)| Row { stored_ms: *moment as u64, text }).collect();
    let stored = |first_s, last_s| {
        store.entries(first_s as f64, last_s as f64).lines().map(str::to_owned).collect()
    };
    let merged = merge::merged(secret, rules, &rows, size as u64, stored);
    Ok(serde_json::to_string(&merged)?)
}

/// Returns the commitment to the visitor with this number (hexadecimal), as in the entry.
#[wasm_bindgen]
pub fn commitment(secret: &[u8], visitor: &str) -> Option<String> {
    let visitor = VisitorId(u64::from_str_radix(visitor, 16).ok()?);
    let reference = Reference::of(visitor).to_string();
    Some(leaf::commitment(&leaf::salt(secret, visitor), &reference))
}

/// Adds entries, one in each line, behind the first `size` ones.
#[wasm_bindgen]
pub fn append(store: &Store, size: f64, entries: &str) -> Result<(), JsError> {
    let entries: Vec<String> = entries.lines().map(str::to_owned).collect();
    for NewTile { level, place, hashes } in tree::append(store, size as u64, &entries)? {
        store.keep(level, place as f64, &hashes);
    }
    Ok(())
}

/// Returns the signed checkpoint of the first `size` entries. `seed` is the key of 32 bytes.
#[wasm_bindgen]
pub fn checkpoint(store: &Store, size: f64, origin: &str, seed: &[u8]) -> Result<String, JsError> {
    tree::signed(store, size as u64, origin, &key(seed)?).map_err(|error| JsError::new(&error))
}

/// Returns the key by which anybody checks the checkpoints.
#[wasm_bindgen]
pub fn verifier_key(origin: &str, seed: &[u8]) -> Result<String, JsError> {
    Ok(tree::verifier_key(origin, &key(seed)?))
}

fn key(seed: &[u8]) -> Result<[u8; 32], JsError> {
    seed.try_into().map_err(|_| JsError::new("the key has not 32 bytes"))
}

/// Returns the receipt of a visitor (its number in hexadecimal) whose `entry` is at `index`.
/// `checkpoint` is the signed one of the first `size` entries.
#[wasm_bindgen]
pub fn receipt(
    store: &Store,
    secret: &[u8],
    visitor: &str,
    index: f64,
    entry: &str,
    size: f64,
    checkpoint: &str,
) -> Result<String, JsError> {
    let visitor = VisitorId(u64::from_str_radix(visitor, 16)?);
    let extra = Extra {
        reference: Reference::of(visitor).to_string(),
        salt: Base64::encode_string(&leaf::salt(secret, visitor)),
        leaf: entry.to_owned(),
    };
    let hashes = tree::inclusion(store, size as u64, index as u64)?;
    let checkpoint = checkpoint.to_owned();
    Ok(Receipt { extra, index: index as u64, hashes, checkpoint }.to_text())
}

/// Returns entries, one in each line, as a bundle of c2sp.org/tlog-tiles.
#[wasm_bindgen]
pub fn bundle(entries: &str) -> Vec<u8> {
    sale::bundle(&entries.lines().map(str::to_owned).collect::<Vec<_>>())
}

/// Checks the file of a sale (JSON). `trusted` is the key that was published elsewhere, or "".
/// Returns the report as JSON. Errors: a file that is none of a sale.
#[wasm_bindgen]
#[expect(clippy::needless_pass_by_value, reason = "the glue hands lists over")]
pub fn check(
    file: &str,
    trusted: &str,
    receipts: Vec<String>,
    checkpoints: Vec<String>,
) -> Result<String, JsError> {
    let sale: Sale = serde_json::from_str(file.trim_start_matches(sale::BYTE_ORDER_MARK))
        .map_err(|error| JsError::new(unreadable(error.classify())))?;
    Ok(serde_json::to_string(&sale::check(&sale, trusted, &receipts, &checkpoints))?)
}

fn unreadable(what: Category) -> &'static str {
    match what {
        Category::Eof => "the file is cut off, download it again",
        Category::Data => "the file is no log of a sale",
        Category::Syntax | Category::Io => "the file is no log of a sale: it is no JSON",
    }
}

/// Returns the proof that the first `older` entries of a sale (JSON) are the beginning of the first
/// `newer`: a hash in each line. Nothing if there are not so many.
#[wasm_bindgen]
pub fn consistency(file: &str, older: f64, newer: f64) -> Option<String> {
    let sale: Sale = serde_json::from_str(file).ok()?;
    let hashes = sale::consistency(&sale, older as u64, newer as u64)?;
    Some(proof::lines(&hashes))
}
