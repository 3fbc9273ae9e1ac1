//! Tests of the verifier: what is forged, left out, reordered, or of another log is found.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use room_core::base::id::VisitorId;
use room_core::ticket::reference::Reference;

use super::{Report, Sale, bundle, check, consistency};
use crate::leaf::{Leaf, of_record, of_rules, salt};
use crate::proof::{Extra, Receipt};
use crate::tree::{Tiles, append, inclusion, signed, verifier_key};

const SECRET: [u8; 32] = [7; 32];
const SEED: [u8; 32] = [9; 32];
const ORIGIN: &str = "shop.example/waiting-room/1";

#[derive(Default)]
struct Kept(RefCell<BTreeMap<(u8, u64), Vec<u8>>>);

impl Tiles for Kept {
    fn tile(&self, level: u8, place: u64) -> Option<Vec<u8>> {
        self.0.borrow().get(&(level, place)).cloned()
    }
}

/// A log that grows.
#[derive(Default)]
struct Log {
    kept: Kept,
    leaves: Vec<String>,
}

impl Log {
    fn of(count: u64) -> Self {
        let mut log = Self::default();
        log.grow(&[Leaf::Rules(of_rules(2_000, "9000,600,300,0,0").unwrap()).to_string()]);
        log.grow(&(1..count).map(admission).collect::<Vec<_>>());
        log
    }

    fn grow(&mut self, leaves: &[String]) {
        for tile in append(&self.kept, self.size(), leaves).unwrap() {
            self.kept.0.borrow_mut().insert((tile.level, tile.place), tile.hashes);
        }
        self.leaves.extend_from_slice(leaves);
    }

    fn size(&self) -> u64 {
        self.leaves.len() as u64
    }

    fn checkpoint(&self) -> String {
        signed(&self.kept, self.size(), ORIGIN, &SEED).unwrap()
    }

    fn sale(&self) -> Sale {
        file(&self.leaves, self.checkpoint())
    }

    fn receipt(&self, index: u64) -> String {
        let visitor = VisitorId(index);
        let extra = Extra {
            reference: Reference::of(visitor).to_string(),
            salt: Base64::encode_string(&salt(&SECRET, visitor)),
            leaf: self.leaves[usize::try_from(index).unwrap()].clone(),
        };
        let hashes = inclusion(&self.kept, self.size(), index).unwrap();
        Receipt { extra, index, hashes, checkpoint: self.checkpoint() }.to_text()
    }
}

/// The admission of the visitor with this number.
fn admission(number: u64) -> String {
    let record = format!("{number:x},{},{},0,20", 1_000 + number / 5, 2_000 + number / 5);
    Leaf::Admission(of_record(&SECRET, &record).unwrap()).to_string()
}

fn file(leaves: &[String], checkpoint: String) -> Sale {
    let entries = leaves.chunks(256).map(|part| Base64::encode_string(&bundle(part))).collect();
    Sale { vkey: verifier_key(ORIGIN, &SEED), checkpoint, entries, counted: None }
}

fn wrong(report: &Report) -> Vec<&str> {
    report.checks.iter().filter(|one| !one.good).map(|one| one.name.as_str()).collect()
}

fn check_alone(sale: &Sale) -> Report {
    check(sale, "", &[], &[])
}

#[test]
fn a_log_that_grew_in_batches_is_the_one_that_was_signed() {
    for sizes in [vec![1], vec![255, 1, 1], vec![256, 256], vec![3, 700, 1, 66_000]] {
        let mut log = Log::of(2);
        for size in sizes {
            let from = log.size();
            log.grow(&(from..from + size).map(admission).collect::<Vec<_>>());
        }
        let report = check_alone(&log.sale());
        assert!(report.good, "{:?}", report.checks);
        assert_eq!(report.size, log.size());
    }
}

#[test]
fn one_forged_left_out_or_reordered_admission_is_found() {
    let log = Log::of(1_000);
    let check = |leaves: &[String]| {
        let report = check_alone(&file(leaves, log.checkpoint()));
        assert_eq!(wrong(&report), ["tree"], "{:?}", report.checks);
    };
    let mut forged = log.leaves.clone();
    forged[500] = forged[500].replace(" line ", " draw ");
    check(&forged);
    let mut left_out = log.leaves.clone();
    left_out.remove(500);
    check(&left_out);
    left_out.push(log.leaves[500].clone());
    check(&left_out);
    let mut reordered = log.leaves.clone();
    reordered.swap(500, 501);
    check(&reordered);
}

#[test]
fn another_key_or_name_is_found() {
    let log = Log::of(10);
    let sale = log.sale();
    assert!(check(&sale, &verifier_key(ORIGIN, &SEED), &[], &[]).good);
    for other in [verifier_key(ORIGIN, &[1; 32]), verifier_key("other", &SEED), "x".to_owned()] {
        assert_eq!(wrong(&check(&sale, &other, &[], &[])), ["signature"], "{other}");
    }
    let mut resized = sale.clone();
    resized.checkpoint = sale.checkpoint.replace("\n10\n", "\n11\n");
    assert_eq!(wrong(&check_alone(&resized)), ["signature"]);
}

#[test]
fn texts_that_an_editor_has_saved_are_read() {
    let log = Log::of(10);
    let saved = |text: String| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    let key = saved(verifier_key(ORIGIN, &SEED) + "\n");
    let report = check(&log.sale(), &key, &[saved(log.receipt(5))], &[saved(log.checkpoint())]);
    assert!(report.good, "{:?}", report.checks);
}

#[test]
fn a_receipt_is_found_in_a_later_log_and_in_no_other() {
    let mut log = Log::of(300);
    let receipt = log.receipt(270);
    log.grow(&[admission(300), admission(301)]);
    let sale = log.sale();
    assert!(check(&sale, "", std::slice::from_ref(&receipt), &[]).good);
    let mut leaves = log.leaves.clone();
    leaves.remove(270);
    let mut other = Log::default();
    other.grow(&leaves);
    let report = check(&other.sale(), "", std::slice::from_ref(&receipt), &[]);
    assert_eq!(wrong(&report), ["receipt"], "left out of a log that was signed again");
    let text = Receipt::read(&receipt).unwrap();
    let of = |change: fn(&mut Receipt)| {
        let mut changed = text.clone();
        change(&mut changed);
        wrong(&check(&sale, "", &[changed.to_text()], &[])) == ["receipt"]
    };
    assert!(of(|one| one.index = 271));
    assert!(of(|one| "AVB2V-14BBV".clone_into(&mut one.extra.reference)));
    assert!(of(|one| one.extra.leaf = admission(271)));
    assert!(of(|one| one.hashes.truncate(1)));
    assert!(!of(|_| ()));
}

#[test]
fn two_checkpoints_that_do_not_agree_are_found() {
    let mut log = Log::of(400);
    let older = log.checkpoint();
    let mut split = Log::default();
    let mut leaves = log.leaves.clone();
    leaves.swap(10, 11);
    split.grow(&leaves);
    log.grow(&(400..900).map(admission).collect::<Vec<_>>());
    let sale = log.sale();
    assert!(check(&sale, "", &[], std::slice::from_ref(&older)).good);
    let report = check(&sale, "", &[], &[split.checkpoint()]);
    assert_eq!(wrong(&report), ["older checkpoint"]);
    assert!(consistency(&sale, 400, 900).is_some_and(|proof| !proof.is_empty()));
    assert_eq!(consistency(&sale, 400, 901), None);
}

#[test]
fn what_is_newer_than_the_file_is_not_checked_by_it() {
    let mut log = Log::of(300);
    let sale = log.sale();
    log.grow(&[admission(300), admission(301)]);
    let of =
        |log: &Log| check(&sale, "", &[log.receipt(270), log.receipt(300)], &[log.checkpoint()]);
    let report = of(&log);
    assert!(report.good, "{:?}", report.checks);
    let newer = report.checks.iter().filter(|one| one.says == super::NEWER && !one.checked);
    assert_eq!(newer.count(), 3, "{:?}", report.checks);
    let mut leaves = log.leaves.clone();
    leaves[270] = leaves[270].replace(" line ", " draw ");
    let mut other = Log::default();
    other.grow(&leaves);
    assert_eq!(wrong(&of(&other)), ["receipt"], "the file has another entry there");
    let [mut proof, mut name] = [270, 300].map(|at| Receipt::read(&log.receipt(at)).unwrap());
    proof.hashes.truncate(1);
    "AVB2V-14BBV".clone_into(&mut name.extra.reference);
    let report = check(&sale, "", &[proof.to_text(), name.to_text()], &[]);
    assert_eq!(wrong(&report), ["receipt", "receipt"], "the own proof of each is looked at");
}

#[test]
fn a_file_that_cannot_be_read_is_no_good_one() {
    let log = Log::of(10);
    let mut sale = log.sale();
    sale.entries[0] = "?".to_owned();
    assert_eq!(wrong(&check_alone(&sale)), ["tree"]);
    sale.entries[0] = Base64::encode_string(&[0, 9, 1]);
    assert_eq!(wrong(&check_alone(&sale)), ["tree"]);
    let other = file(&["a text".to_owned()], log.checkpoint());
    assert_eq!(wrong(&check_alone(&other)), ["tree", "entries"]);
}
