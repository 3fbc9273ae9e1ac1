//! Transfers of places in line to another device: which visitor has made a code, and which has used
//! it.
//!
//! The room's global aggregator keeps them as one text, beside its machine. [`answer`] reads the
//! text, decides and says what to store, and nothing happens in between. So one code is used once,
//! even in a race, and a restart changes nothing. The object knows neither codes nor tickets. A
//! code has a name that only the keys of tickets can tell, and the ticket is sealed with the code.

use std::cmp::Reverse;
use std::fmt::Write;

use crate::admission::moving::CODE_MS;
use crate::base::id::VisitorId;
use crate::base::sorted::SortedMap;
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::machines::invitations::Redemption;

/// How long a used code is remembered, in milliseconds: longer than the old device can check in
/// with its ticket.
const TAKEN_KEPT_MS: u64 = 15 * MINUTE_MS;
/// How long an expired code that nobody used is remembered, in milliseconds.
const OVER_KEPT_MS: u64 = 5 * MINUTE_MS;
/// The most codes of a room that are remembered at once, used and expired ones included.
///
/// A further code replaces the oldest used or expired one. To forget one is harmless: its ticket is
/// one more copy of a place that has one slot for all copies. If all codes are still good, the
/// further code replaces the oldest of the network that has made the most. So a network that fills
/// the room with codes ends its own.
const MOVES_MAX: usize = 1_000;

/// An isolate's request about a transfer, made for a visitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveRequest {
    /// The visitor has made a code, which ends the visitor's code before.
    Start {
        /// The visitor.
        visitor: VisitorId,
        /// When the code was made, by the isolate's clock. It tells a visitor's codes apart.
        at: Timestamp,
        /// When the visitor's code before was made, if the ticket names one.
        before: Option<Timestamp>,
        /// The name of the code.
        name: u64,
        /// The ticket, sealed with the code.
        ticket: String,
        /// The name of the visitor's network, made with a key; 0 from an earlier version.
        network: u16,
    },
    /// A visitor enters the code of this name on another device.
    Take {
        /// The name of the code.
        name: u64,
        /// The visitor whose ticket the other device held until now.
        by: VisitorId,
        /// Whether the sender can read the reasons [`MoveReply::Used`] and [`MoveReply::Over`];
        /// false from an earlier version.
        asks_why: bool,
    },
    /// The visitor asks what has become of the code made at this moment.
    Ask {
        /// The visitor.
        visitor: VisitorId,
        /// When the code was made.
        at: Timestamp,
    },
    /// The visitor joins a group with the code of an invitation. A version before does not answer.
    Join(Redemption),
}

/// The answer to a [`MoveRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoveReply {
    /// The code is good, and nobody has taken it yet.
    Open,
    /// The code of an invitation is good, and gives this place in the line.
    Placed(Timestamp),
    /// Another device has taken the place.
    Taken,
    /// The ticket that goes with the code, sealed.
    Ticket(String),
    /// There is no such code, or the name is in use already.
    Nothing,
    /// Another device has used the code.
    Used,
    /// The code has expired, and nobody used it.
    Over,
}

impl MoveRequest {
    /// Writes the request as words between spaces, for [`Self::read`]. Serde would add several
    /// kilobytes for a request that few visitors need.
    pub fn to_text(&self) -> String {
        match self {
            Self::Start { visitor, at, before, name, ticket, network } => {
                let before = before.unwrap_or_default().0;
                format!("start {} {} {before} {name} {ticket} {network}", visitor.0, at.0)
            }
            Self::Take { name, by, asks_why } => {
                let why = if *asks_why { " why" } else { "" };
                format!("take {name} {}{why}", by.0)
            }
            Self::Join(redemption) => format!("join {}", redemption.to_text()),
            Self::Ask { visitor, at } => format!("ask {} {}", visitor.0, at.0),
        }
    }

    /// Reads a request; `None` if it is not one of this version.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let kind = words.next()?;
        let mut number = || number(words.next());
        Some(match kind {
            "start" => Self::Start {
                visitor: VisitorId(number()?),
                at: Timestamp(number()?),
                before: Some(Timestamp(number()?)).filter(|before| *before != Timestamp(0)),
                name: number()?,
                ticket: words.next()?.to_owned(),
                network: network(words.next()),
            },
            "take" => Self::Take {
                name: number()?,
                by: VisitorId(number()?),
                asks_why: words.next() == Some("why"),
            },
            "ask" => Self::Ask { visitor: VisitorId(number()?), at: Timestamp(number()?) },
            "join" => Self::Join(Redemption::read(words)?),
            _ => return None,
        })
    }
}

impl MoveReply {
    /// Writes the reply for [`Self::read`].
    pub fn to_text(&self) -> String {
        match self {
            Self::Open => "open".to_owned(),
            Self::Placed(at) => format!("placed {}", at.0),
            Self::Taken => "taken".to_owned(),
            Self::Ticket(ticket) => format!("ticket {ticket}"),
            Self::Nothing => "nothing".to_owned(),
            Self::Used => "used".to_owned(),
            Self::Over => "over".to_owned(),
        }
    }

    /// Reads a reply; `None` if it is not one of this version.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "open" => Some(Self::Open),
            "taken" => Some(Self::Taken),
            "nothing" => Some(Self::Nothing),
            "used" => Some(Self::Used),
            "over" => Some(Self::Over),
            _ => match text.split_once(' ')? {
                ("placed", at) => Some(Self::Placed(Timestamp(number(Some(at))?))),
                ("ticket", ticket) => Some(Self::Ticket(ticket.to_owned())),
                _ => None,
            },
        }
    }
}

fn number(word: Option<&str>) -> Option<u64> {
    word?.parse().ok()
}

/// Reads the last word, which an earlier version does not write.
fn network(word: Option<&str>) -> u16 {
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// A code that is known.
#[derive(Debug)]
struct Move {
    visitor: VisitorId,
    at: Timestamp,
    name: u64,
    ticket: String,
    /// When the code expires, by the object's clock.
    ends_at: Timestamp,
    /// The visitor whose ticket the using device held before. The same visitor gets a lost answer
    /// again.
    by: Option<VisitorId>,
    /// The network that has made it.
    network: u16,
}

impl Move {
    /// Reads a line of what is stored; `None` for a line of another version.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let mut number = || number(words.next());
        Some(Self {
            visitor: VisitorId(number()?),
            at: Timestamp(number()?),
            name: number()?,
            ends_at: Timestamp(number()?),
            by: number().map(VisitorId),
            ticket: words.next()?.to_owned(),
            network: network(words.next()),
        })
    }

    fn write(&self, text: &mut String) {
        let Self { visitor, at, name, ends_at, by, ticket, network } = self;
        let by = by.map_or_else(|| "-".to_owned(), |by| by.0.to_string());
        // Writing to a string cannot fail.
        let _ = write!(text, "{} {} {name} {} {by} ", visitor.0, at.0, ends_at.0);
        let _ = writeln!(text, "{ticket} {network}");
    }

    fn is_known(&self, now: Timestamp) -> bool {
        now < self.ends_at + if self.by.is_some() { TAKEN_KEPT_MS } else { OVER_KEPT_MS }
    }

    fn is_of(&self, visitor: VisitorId, at: Timestamp) -> bool {
        self.visitor == visitor && self.at == at
    }
}

/// Answers a request by what is stored, and returns what to store instead: "" for nothing.
pub fn answer(now: Timestamp, stored: &str, request: MoveRequest) -> (MoveReply, String) {
    let mut moves: Vec<Move> =
        stored.lines().filter_map(Move::read).filter(|one| one.is_known(now)).collect();
    let reply = match request {
        MoveRequest::Start { visitor, at, before, name, ticket, network } => {
            let is_taken = |one: &Move| before.is_some_and(|at| one.is_of(visitor, at));
            if moves.iter().any(|one| one.by.is_some() && is_taken(one)) {
                MoveReply::Taken
            } else {
                moves.retain(|one| one.by.is_some() || one.visitor != visitor);
                let ends_at = now + CODE_MS;
                start(
                    now,
                    &mut moves,
                    Move { visitor, at, name, ticket, ends_at, by: None, network },
                )
            }
        }
        MoveRequest::Take { name, by, asks_why } => {
            let free = |one: &Move| one.by.is_none_or(|first| first == by);
            match moves.iter_mut().find(|one| one.name == name) {
                Some(found) if now < found.ends_at && free(found) => {
                    found.by = Some(by);
                    MoveReply::Ticket(found.ticket.clone())
                }
                Some(found) if asks_why && found.by.is_some() => MoveReply::Used,
                Some(_) if asks_why => MoveReply::Over,
                _ => MoveReply::Nothing,
            }
        }
        MoveRequest::Ask { visitor, at } => match moves.iter().find(|one| one.is_of(visitor, at)) {
            Some(found) if found.by.is_some() => MoveReply::Taken,
            Some(found) if now < found.ends_at => MoveReply::Open,
            _ => MoveReply::Nothing,
        },
        MoveRequest::Join(_) => MoveReply::Nothing, // `invitations` answers it
    };
    let mut text = String::new();
    for one in &mut moves {
        if now >= one.ends_at {
            one.ticket.clear();
            one.network = 0;
        }
        one.write(&mut text);
    }
    (reply, text)
}

fn start(now: Timestamp, moves: &mut Vec<Move>, one: Move) -> MoveReply {
    if moves.iter().any(|other| other.name == one.name) {
        return MoveReply::Nothing;
    }
    if moves.len() >= MOVES_MAX {
        let done = moves.iter().position(|one| one.by.is_some() || now >= one.ends_at);
        if let Some(spare) = done.or_else(|| oldest_of_most(moves)) {
            moves.remove(spare);
        }
    }
    moves.push(one);
    MoveReply::Open
}

/// Finds the oldest code of the network that has made the most.
fn oldest_of_most(moves: &[Move]) -> Option<usize> {
    let mut made: SortedMap<u16, u32> = SortedMap::new();
    for one in moves {
        *made.get_or_default(one.network) += 1;
    }
    let number = |one: &Move| made.get(&one.network).copied();
    let most = moves.iter().enumerate().max_by_key(|(at, one)| (number(one), Reverse(*at)));
    most.map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
