//! A visitor's browser: what it holds and how long its owner is patient. Decides no admission.

use room_core::ticket::Ticket;
use room_core::time::{MINUTE_MS, SECOND_MS, Timestamp};

use crate::chance::Stream;

/// Part of the visitors who leave as soon as they see a queue page.
const IMPATIENT: f64 = 0.05;
/// The others wait this long on average.
const PATIENCE_MS: f64 = 20.0 * MINUTE_MS as f64;
/// Between two requests of a visitor inside.
const REQUEST_MS: f64 = 30.0 * SECOND_MS as f64;

/// Where a visitor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Has not been answered yet.
    Arrives,
    /// Waits, and gives up at this moment.
    Waits(Timestamp),
    /// Is on the site until this moment.
    Inside(Timestamp),
    /// Will not come back.
    Gone,
}

/// One browser.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// The data center it always reaches.
    pub data_center: usize,
    /// Its cookie.
    pub ticket: Option<Ticket>,
    /// Where it stands.
    pub standing: Standing,
    /// When it came first.
    pub arrived_at: Timestamp,
}

impl Visitor {
    /// Somebody who comes for the first time.
    pub fn new(data_center: usize, arrived_at: Timestamp) -> Self {
        Self { data_center, ticket: None, standing: Standing::Arrives, arrived_at }
    }

    /// The visitor sees the queue page; true if it is the first one.
    pub fn wait(&mut self, now: Timestamp, stream: &mut Stream) -> bool {
        if self.standing != Standing::Arrives {
            return false;
        }
        let patience_ms = stream.exponential_ms(PATIENCE_MS);
        let stays = !stream.happens(IMPATIENT);
        self.standing = if stays { Standing::Waits(now + patience_ms) } else { Standing::Gone };
        true
    }

    /// The visitor sees the site; true if it is the first time.
    pub fn enter(&mut self, now: Timestamp, stream: &mut Stream) -> bool {
        if matches!(self.standing, Standing::Inside(_)) {
            return false;
        }
        self.standing = Standing::Inside(now + stream.stay_ms());
        true
    }

    /// Whether the visitor still wants something; from then on it is gone.
    pub fn still_comes(&mut self, now: Timestamp) -> bool {
        let until = match self.standing {
            Standing::Arrives => return true,
            Standing::Waits(until) | Standing::Inside(until) => until,
            Standing::Gone => return false,
        };
        if now >= until {
            self.standing = Standing::Gone;
        }
        now < until
    }

    /// When the visitor inside asks for the next page.
    pub fn next_request(now: Timestamp, stream: &mut Stream) -> Timestamp {
        now + stream.exponential_ms(REQUEST_MS)
    }
}
