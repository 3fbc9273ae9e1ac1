//! What tells two states apart: 128 bits of everything that their `Debug` text shows.
//!
//! The machines hold rates as `f64`, so they have no `Hash`; their derived `Debug` names every
//! field and writes each number so that it can be read back exactly. Taking the bits for random,
//! two of 10^8 states are confused with a probability of 10^16 / 2^129, below 10^-22.

use std::cell::Cell;
use std::fmt::{self, Debug, Write};
use std::ops::Deref;
use std::rc::Rc;

/// A part of a world that many worlds share, with its fingerprint once somebody has asked for it.
#[derive(Clone)]
pub struct Shared<T>(Rc<Printed<T>>);

#[derive(Clone)]
struct Printed<T> {
    value: T,
    print: Cell<Option<u128>>,
}

impl<T: Clone + Debug> Shared<T> {
    pub fn new(value: T) -> Self {
        Self(Rc::new(Printed { value, print: Cell::new(None) }))
    }

    /// The value to change; other worlds keep theirs.
    pub fn edit(&mut self) -> &mut T {
        let printed = Rc::make_mut(&mut self.0);
        printed.print.set(None);
        &mut printed.value
    }

    pub fn print(&self) -> u128 {
        self.0.print.get().unwrap_or_else(|| {
            let print = of(&self.0.value);
            self.0.print.set(Some(print));
            print
        })
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

/// A shared part inside another one counts by its fingerprint.
impl<T: Clone + Debug> Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:x}", self.print())
    }
}

/// The fingerprint of one value.
pub fn of(value: &impl Debug) -> u128 {
    let mut printer = Printer::default();
    // The printer takes every text.
    let _ = write!(printer, "{value:?}");
    printer.finish()
}

/// The fingerprint of several values that have one each, in this order.
pub fn of_prints(prints: impl Iterator<Item = u128>) -> u128 {
    let mut printer = Printer::default();
    for print in prints {
        printer.take(print as u64);
        printer.take((print >> 64) as u64);
    }
    printer.finish()
}

/// Takes a text piece by piece, without keeping it. Equal values come in equal pieces.
///
/// Each word of 8 bytes is a round of a Feistel network on two halves, so that no two states ever
/// become one by the same word; the round function is a folded multiplication.
struct Printer {
    one: u64,
    other: u64,
}

impl Default for Printer {
    fn default() -> Self {
        // Digits of the square roots of 2 and 3.
        Self { one: 0x6a09_e667_f3bc_c909, other: 0xbb67_ae85_84ca_a73b }
    }
}

impl Printer {
    fn take(&mut self, word: u64) {
        // Digits of the square root of 5.
        let product = u128::from(self.one ^ word) * 0x3c6e_f372_fe94_f82b;
        let folded = product as u64 ^ (product >> 64) as u64;
        (self.one, self.other) = (self.other ^ folded, self.one ^ word);
    }

    fn finish(mut self) -> u128 {
        for _ in 0..4 {
            self.take(0);
        }
        u128::from(self.one) << 64 | u128::from(self.other)
    }
}

impl Write for Printer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text.as_bytes();
        while let Some((word, left)) = rest.split_first_chunk() {
            self.take(u64::from_le_bytes(*word));
            rest = left;
        }
        let end = rest.iter().fold(rest.len() as u64, |end, byte| end << 8 | u64::from(*byte));
        self.take(end);
        Ok(())
    }
}

/// A set of fingerprints, 16 bytes each at up to 7/10 full: the half of what a `BTreeSet` takes.
pub struct Seen {
    /// 0 is an empty place; no state has that fingerprint but by the same chance as a confusion.
    places: Vec<u128>,
    count: usize,
}

impl Seen {
    pub fn new() -> Self {
        Self { places: vec![0; 1 << 12], count: 0 }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether it was not there before.
    pub fn insert(&mut self, print: u128) -> bool {
        if self.count * 10 >= self.places.len() * 7 {
            let grown = vec![0; self.places.len() * 2];
            let old = std::mem::replace(&mut self.places, grown);
            for print in old.into_iter().filter(|print| *print != 0) {
                let place = self.place(print);
                self.places[place] = print;
            }
        }
        let place = self.place(print);
        let is_new = self.places[place] != print;
        self.places[place] = print;
        self.count += usize::from(is_new);
        is_new
    }

    /// Where it is, or the empty place where it belongs.
    fn place(&self, print: u128) -> usize {
        let mask = self.places.len() - 1;
        let mut place = print as usize & mask;
        while self.places[place] != 0 && self.places[place] != print {
            place = (place + 1) & mask;
        }
        place
    }
}
