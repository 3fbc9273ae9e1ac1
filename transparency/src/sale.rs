//! Checks the log of a whole sale: its signature and tree, older checkpoints, receipts.

use base64ct::{Base64, Encoding};
use serde::{Deserialize, Serialize};
use signed_note::{Note, StandardVerifier, VerifierList};
use tlog_tiles::checkpoint::Checkpoint;
use tlog_tiles::tlog::{
    Error, Hash, HashReader, check_record, prove_tree, record_hash, stored_hashes, tree_hash,
};

use crate::leaf::{Leaf, commitment};
use crate::proof::Receipt;
use crate::rules::{Counted, Finding, checks, unchecked};

/// Why something that was signed after the file was made cannot be checked by it.
const NEWER: &str = "newer than this file: download the log again";
/// What some programs write at the beginning of a text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// The log of a sale in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sale {
    /// The key of the log, as text by c2sp.org/signed-note.
    pub vkey: String,
    /// The signed checkpoint, by c2sp.org/tlog-checkpoint.
    pub checkpoint: String,
    /// The bundles of entries, by c2sp.org/tlog-tiles, in base64.
    pub entries: Vec<String>,
    /// What the room itself counted; `None` if that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
}

/// What the check has found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Whether every check has passed.
    pub good: bool,
    /// The name of the log.
    pub origin: String,
    /// The number of leaves.
    pub size: u64,
    /// The checks in their order.
    pub checks: Vec<Finding>,
}

/// All leaves, and the hashes of the tree over them.
struct Tree {
    hashes: Hashes,
    leaves: Vec<String>,
}

struct Hashes(Vec<Hash>);

impl HashReader for Hashes {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let hash = |index: &u64| self.0.get(usize::try_from(*index).ok()?).copied();
        indexes.iter().map(hash).collect::<Option<_>>().ok_or(Error::IndexesNotInTree)
    }
}

impl Tree {
    fn read(bundles: &[String]) -> Option<Self> {
        let mut tree = Self { hashes: Hashes(Vec::new()), leaves: Vec::new() };
        for bundle in bundles {
            for entry in entries(&Base64::decode_vec(bundle).ok()?)? {
                let number = tree.leaves.len() as u64;
                tree.hashes.0.extend(stored_hashes(number, &entry, &tree.hashes).ok()?);
                tree.leaves.push(String::from_utf8(entry).ok()?);
            }
        }
        Some(tree)
    }

    fn size(&self) -> u64 {
        self.leaves.len() as u64
    }

    fn root(&self, size: u64) -> Option<Hash> {
        tree_hash(size, &self.hashes).ok()
    }
}

/// Returns the entries of a bundle: each has its length in two bytes before it.
fn entries(mut bundle: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut entries = Vec::new();
    while let Some((length, rest)) = bundle.split_first_chunk::<2>() {
        let (entry, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        entries.push(entry.to_vec());
        bundle = rest;
    }
    bundle.is_empty().then_some(entries)
}

/// Writes leaves as a bundle of entries: each has its length in two bytes before it.
pub fn bundle(leaves: &[String]) -> Vec<u8> {
    let mut bundle = Vec::new();
    for leaf in leaves {
        let length = u16::try_from(leaf.len()).unwrap_or(u16::MAX);
        bundle.extend(length.to_be_bytes());
        bundle.extend(leaf.bytes().take(length.into()));
    }
    bundle
}

/// Reads a checkpoint that this key has signed. The error says what is wrong.
fn opened(vkey: &str, note: &str) -> Result<Checkpoint, String> {
    let verifier = StandardVerifier::new(vkey).map_err(|_| "the key cannot be read".to_owned())?;
    let note = Note::from_bytes(note.as_bytes()).map_err(|_| "it is no signed note".to_owned())?;
    let verified = note.verify(&VerifierList::new(vec![Box::new(verifier)]));
    verified.map_err(|_| "the key of the log has not signed it".to_owned())?;
    let checkpoint = Checkpoint::from_bytes(note.text()).map_err(|_| "it is no checkpoint")?;
    let name = vkey.split('+').next().unwrap_or_default();
    if checkpoint.origin() != name {
        return Err(format!("it is of another log, {}", checkpoint.origin()));
    }
    Ok(checkpoint)
}

/// Returns a text as it was made, without what programs for Windows add to it.
fn plain(text: &str) -> String {
    text.trim_start_matches(BYTE_ORDER_MARK).replace("\r\n", "\n")
}

/// Checks a sale, with receipts and older checkpoints of it. `trusted` is the key that was
/// published elsewhere; "" takes the one in the file.
pub fn check(sale: &Sale, trusted: &str, receipts: &[String], checkpoints: &[String]) -> Report {
    let trusted = plain(trusted);
    let trusted = trusted.trim();
    let vkey = if trusted.is_empty() { sale.vkey.as_str() } else { trusted };
    let mut found = Vec::new();
    let head = opened(vkey, &sale.checkpoint);
    let tree = Tree::read(&sale.entries);
    let signed = head.as_ref().map(|head| {
        let by = if trusted.is_empty() { "the key in the file" } else { "the key you gave" };
        format!("{by} has signed a checkpoint of {} entries", head.size())
    });
    found.push(finding("signature", signed.map_err(Clone::clone)));
    let origin = head.as_ref().map(|head| head.origin().to_owned()).unwrap_or_default();
    let Some(tree) = tree else {
        found.push(finding("tree", Err("the entries cannot be read".to_owned())));
        return Report { good: false, origin, size: 0, checks: found };
    };
    if let Ok(head) = &head {
        found.push(finding("tree", same_tree(&tree, head)));
    }
    for older in checkpoints {
        let told = opened(vkey, &plain(older)).and_then(|older| same_log(&tree, &older));
        found.push(unless_newer("older checkpoint", told));
    }
    for text in receipts {
        found.push(unless_newer("receipt", receipt(&tree, vkey, &plain(text))));
    }
    let leaves: Result<Vec<Leaf>, _> = tree.leaves.iter().map(|leaf| leaf.parse()).collect();
    match leaves {
        Err(_) => found.push(finding("entries", Err("some are none of a waiting room".to_owned()))),
        Ok(leaves) => found.extend(checks(&leaves, sale.counted)),
    }
    let good = found.iter().all(|finding| finding.good);
    Report { good, origin, size: tree.size(), checks: found }
}

/// Says what was found, or what is wrong.
fn finding(name: &str, told: Result<String, String>) -> Finding {
    let good = told.is_ok();
    let says = told.unwrap_or_else(|wrong| wrong);
    Finding { name: name.to_owned(), good, checked: true, says }
}

/// The same; nothing was found in a file that is older.
fn unless_newer(name: &str, told: Result<Option<String>, String>) -> Finding {
    told.transpose().map_or_else(|| unchecked(name, NEWER), |told| finding(name, told))
}

fn same_tree(tree: &Tree, head: &Checkpoint) -> Result<String, String> {
    let size = tree.size();
    if size != head.size() {
        return Err(format!("the file has {size} entries, the checkpoint {}", head.size()));
    }
    if tree.root(size).as_ref() != Some(head.hash()) {
        let what = "an entry was forged, left out, exchanged or reordered";
        return Err(format!("the entries are not those that were signed: {what}"));
    }
    Ok(format!("all {size} entries are those that were signed, in their order"))
}

/// Says that the log has not changed since a checkpoint; `None` if that is newer than the file.
fn same_log(tree: &Tree, older: &Checkpoint) -> Result<Option<String>, String> {
    let size = older.size();
    if size > tree.size() {
        return Ok(None);
    }
    if tree.root(size).as_ref() != Some(older.hash()) {
        return Err(format!("the first {size} entries were others then: not one log"));
    }
    Ok(Some(format!("the first {size} entries have not changed since")))
}

/// Says which entry a receipt proves; `None` if its checkpoint is newer than the file, and its own
/// proof is right.
fn receipt(tree: &Tree, vkey: &str, text: &str) -> Result<Option<String>, String> {
    let receipt = Receipt::read(text).ok_or("it is no receipt")?;
    let Receipt { extra, index, hashes, checkpoint } = &receipt;
    let head = opened(vkey, checkpoint)?;
    let leaf = record_hash(extra.leaf.as_bytes());
    check_record(hashes, head.size(), *head.hash(), *index, leaf)
        .map_err(|_| "its proof is wrong")?;
    let salt = Base64::decode_vec(&extra.salt).map_err(|_| "its salt cannot be read")?;
    let own = commitment(&salt, &extra.reference);
    let is_own = matches!(extra.leaf.parse(), Ok(Leaf::Admission(one)) if one.commitment == own);
    if !is_own {
        return Err(format!("its entry is not that of {}", extra.reference));
    }
    let is_known = same_log(tree, &head)?.is_some();
    let in_file = usize::try_from(*index).ok().and_then(|index| tree.leaves.get(index));
    if in_file.is_some_and(|leaf| *leaf != extra.leaf) {
        return Err(format!("entry {index} of the file is another"));
    }
    Ok(is_known.then(|| format!("{} is entry {index}: {}", extra.reference, extra.leaf)))
}

/// Returns the hashes that prove that the first `older` entries are the beginning of the first
/// `newer`. `None` if there are not so many.
pub fn consistency(sale: &Sale, older: u64, newer: u64) -> Option<Vec<Hash>> {
    let tree = Tree::read(&sale.entries)?;
    prove_tree(newer, older, &tree.hashes).ok()
}

#[cfg(test)]
mod tests;
