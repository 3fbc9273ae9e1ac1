//! The tree over the leaves, in tiles: what grows, what is signed and what is proved. By
//! Cloudflare's crates `tlog_tiles` and `signed_note`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use base64ct::{Base64, Encoding};
use ed25519_dalek::SigningKey;
use signed_note::{Note, StandardSigner, key_id, new_ed25519_verifier_key};
use tlog_tiles::checkpoint::Checkpoint;
use tlog_tiles::tile::Tile;
use tlog_tiles::tlog::{
    Error, Hash, HashReader, prove_record, stored_hash_index, stored_hashes, tree_hash,
};

/// The height of the tiles of c2sp.org/tlog-tiles.
pub const HEIGHT: u8 = 8;
/// The most leaves of a tile or of a bundle of entries.
pub const WIDTH: u64 = 256;

/// Where tiles are kept. A tile at the right edge may be partial.
pub trait Tiles {
    /// Returns the tile at this level and place; `None` if there is none.
    fn tile(&self, level: u8, place: u64) -> Option<Vec<u8>>;
}

/// A tile that was made or has grown.
#[derive(Debug, PartialEq, Eq)]
pub struct NewTile {
    /// The level, 0 for the hashes of leaves.
    pub level: u8,
    /// The place in the level, from 0.
    pub place: u64,
    /// The hashes: 32 bytes for each.
    pub hashes: Vec<u8>,
}

/// The kept tiles, and hashes that are not in tiles yet.
struct Reader<'tiles, T> {
    tiles: &'tiles T,
    fresh: BTreeMap<u64, Hash>,
    read: RefCell<BTreeMap<(u8, u64), Vec<u8>>>,
}

impl<'tiles, T: Tiles> Reader<'tiles, T> {
    fn new(tiles: &'tiles T) -> Self {
        Self { tiles, fresh: BTreeMap::new(), read: RefCell::default() }
    }

    fn hash(&self, index: u64) -> Result<Hash, Error> {
        if let Some(hash) = self.fresh.get(&index) {
            return Ok(*hash);
        }
        let tile = Tile::from_index(HEIGHT, index);
        let place = (tile.level(), tile.level_index());
        let mut read = self.read.borrow_mut();
        let data = match read.entry(place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let (level, at) = *place.key();
                place.insert(self.tiles.tile(level, at).ok_or(Error::IndexesNotInTree)?)
            }
        };
        tile.hash_at_index(data, index)
    }
}

impl<T: Tiles> HashReader for Reader<'_, T> {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        indexes.iter().map(|index| self.hash(*index)).collect()
    }
}

/// Adds leaves behind the first `size` ones. Returns the tiles that are new or have grown.
pub fn append<T: Tiles>(tiles: &T, size: u64, leaves: &[String]) -> Result<Vec<NewTile>, Error> {
    let mut reader = Reader::new(tiles);
    for (number, leaf) in (size..).zip(leaves) {
        let hashes = stored_hashes(number, leaf.as_bytes(), &reader)?;
        reader.fresh.extend((stored_hash_index(0, number)..).zip(hashes));
    }
    let grown = Tile::new_tiles(HEIGHT, size, size + leaves.len() as u64);
    let made = |tile: Tile| {
        let hashes = tile.read_data(&reader)?;
        Ok(NewTile { level: tile.level(), place: tile.level_index(), hashes })
    };
    grown.into_iter().map(made).collect()
}

/// Returns the checkpoint of the first `size` leaves, signed with the key of this seed.
pub fn signed<T: Tiles>(
    tiles: &T,
    size: u64,
    origin: &str,
    seed: &[u8; 32],
) -> Result<String, String> {
    let root = tree_hash(size, &Reader::new(tiles)).map_err(|error| error.to_string())?;
    let checkpoint = Checkpoint::new(origin, size, root, "").map_err(|error| error.to_string())?;
    let mut note = Note::new(&checkpoint.to_bytes(), &[]).map_err(|error| error.to_string())?;
    let signer = signer(origin, seed)?;
    note.add_sigs(&[&signer]).map_err(|error| error.to_string())?;
    String::from_utf8(note.to_bytes()).map_err(|error| error.to_string())
}

/// Returns the key by which anybody checks the signatures of the log `origin`.
pub fn verifier_key(origin: &str, seed: &[u8; 32]) -> String {
    new_ed25519_verifier_key(origin, &SigningKey::from_bytes(seed).verifying_key())
}

fn signer(origin: &str, seed: &[u8; 32]) -> Result<StandardSigner, String> {
    const ED25519: u8 = 1;
    let public = SigningKey::from_bytes(seed).verifying_key().to_bytes();
    let id = key_id(origin, &[&[ED25519], public.as_slice()].concat());
    let key = Base64::encode_string(&[&[ED25519], seed.as_slice()].concat());
    StandardSigner::new(&format!("PRIVATE+KEY+{origin}+{id:08x}+{key}"))
        .map_err(|error| error.to_string())
}

/// Returns the hashes that prove that leaf `index` is one of the first `size`.
pub fn inclusion<T: Tiles>(tiles: &T, size: u64, index: u64) -> Result<Vec<Hash>, Error> {
    prove_record(size, index, &Reader::new(tiles))
}
