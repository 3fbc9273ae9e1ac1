//! The uses of invitations: which visitors have joined a group with which code.
//!
//! The room's global aggregator keeps them in a table beside its machine. [`answer`] decides by
//! what is stored, and nothing happens in between. So a code with n uses is used by n visitors,
//! from however many data centers at once, and a restart changes nothing. A visitor who sends a
//! code again, since an answer got lost, uses it once.

use crate::base::id::VisitorId;
use crate::base::time::Timestamp;
use crate::machines::moves::MoveReply;
use crate::order::order_key::OrderKey;
use crate::queue::share::{self, Placed};
use crate::queue::view::View;

/// The most uses of one code.
pub const USES_MAX: u32 = 1_000_000;

/// A visitor uses a code, whose signature an isolate has checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redemption {
    /// Names the code within the room, without blanks.
    pub name: String,
    /// How many visitors may use it.
    pub uses: u32,
    /// When the code ends.
    pub ends_at: Timestamp,
    /// The visitor.
    pub visitor: VisitorId,
    /// The group's share, if it enters by share.
    pub share: Option<Share>,
}

/// What a visitor asks for whose group enters by share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Of how many places the group has one.
    pub one_in: u8,
    /// When the visitor joined. Nobody is placed later than that.
    pub own: Timestamp,
}

impl Redemption {
    /// Writes the request as words between spaces, for [`Self::read`].
    pub fn to_text(&self) -> String {
        let Self { name, uses, ends_at, visitor, share } = self;
        let share = share.map(|share| format!(" {} {}", share.one_in, share.own.0));
        format!("{} {uses} {} {name}{}", visitor.0, ends_at.0, share.unwrap_or_default())
    }

    /// Returns the name of the group.
    pub fn group(&self) -> &str {
        self.name.split_once('/').map_or("", |(group, _)| group)
    }

    /// Reads a request; `None` if it is not one of this version.
    pub fn read<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<Self> {
        let mut number = || words.next()?.parse::<u64>().ok();
        let visitor = VisitorId(number()?);
        let uses = u32::try_from(number()?).ok()?;
        let ends_at = Timestamp(number()?);
        let name = words.next()?.to_owned();
        let mut number = || words.next()?.parse::<u64>().ok();
        // An earlier version knows no shares.
        let share = number().and_then(|one_in| {
            Some(Share { one_in: u8::try_from(one_in).ok()?, own: Timestamp(number()?) })
        });
        Some(Self { name, uses, ends_at, visitor, share })
    }
}

/// Answers a visitor who uses a code at `now`. `used` is how many visitors have used it, and
/// `has_used` whether this one is among them. Store the use if the reply is [`MoveReply::Open`] and
/// `has_used` is false.
pub fn answer(now: Timestamp, request: &Redemption, used: u32, has_used: bool) -> MoveReply {
    if now >= request.ends_at {
        MoveReply::Over
    } else if has_used || used < request.uses {
        MoveReply::Open
    } else {
        MoveReply::Used
    }
}

/// Returns the place that a visitor gets by the share of a group: `None` where it is no better than
/// the visitor's own. `known` is the place that the same use of a code got before, if any, and
/// `last` the group's place before. The second value is what to store as the group's last place.
///
/// A visitor who asks twice gets the same place, since the first answer may have been lost.
pub fn place(
    view: &View,
    share: Share,
    known: Option<Timestamp>,
    last: Placed,
) -> (Option<Timestamp>, Placed) {
    let own = OrderKey::fifo(share.own);
    let better = |at: Timestamp| Some(at).filter(|at| *at < share.own);
    if let Some(known) = known {
        return (better(known), last);
    }
    let next = share::next(view, last, own, share.one_in);
    let stored = if (next.at, next.beside) > (last.at, last.beside) { next } else { last };
    (better(Timestamp(next.at.0)), stored)
}

#[cfg(test)]
mod tests {
    use super::{Redemption, Share, answer, place};
    use crate::base::id::VisitorId;
    use crate::base::time::Timestamp;
    use crate::machines::moves::{MoveReply, MoveRequest};
    use crate::order::order_key::OrderKey;
    use crate::queue::share::Placed;
    use crate::queue::view::View;

    fn request(uses: u32) -> Redemption {
        let (name, ends_at) = ("members/a-1".to_owned(), Timestamp(1_000));
        Redemption { name, uses, ends_at, visitor: VisitorId(u64::MAX), share: None }
    }

    #[test]
    fn the_same_visitor_gets_the_same_place_and_the_next_one_a_later_one() {
        let line = (1..=9).map(|place| (OrderKey(place * 1_000), place)).collect();
        let view = View { line, threshold: OrderKey(500), ..View::default() };
        let share = Share { one_in: 3, own: Timestamp(20_000) };
        let (first, last) = place(&view, share, None, Placed::default());
        assert_eq!((first, last.at), (Some(Timestamp(2_001)), OrderKey(2_001)));
        assert_eq!(place(&view, share, first, last), (first, last));
        let (second, last) = place(&view, share, None, last);
        assert_eq!(second, Some(Timestamp(4_001)));
        assert_eq!(place(&view, share, first, last), (first, last), "the first asks again");
        // Who joined before that has the own place, and takes none of the group's.
        let early = Share { own: Timestamp(1_500), ..share };
        assert_eq!(place(&view, early, None, last), (None, last));
        assert_eq!(place(&view, early, Some(Timestamp(1_500)), last), (None, last));
    }

    /// Ten join in each millisecond. What the room's object stores in between must tell those of
    /// one millisecond apart.
    #[test]
    fn a_group_has_its_share_of_a_crowd_too() {
        let line = (0..400).map(|ms| (OrderKey(1_000 + ms), 10 * (ms + 1))).collect();
        let view = View { line, threshold: OrderKey(999), ..View::default() };
        let share = Share { one_in: 4, own: Timestamp(9_000) };
        let (mut last, mut places) = (Placed::default(), Vec::new());
        for _ in 0..400 {
            let (at, next) = place(&view, share, None, last);
            last = next;
            places.push(at.map_or(9_000, |at| at.0));
        }
        // Three others stand before each of the group.
        assert!((1_110..=1_170).contains(&places[399]), "{}", places[399]);
    }

    #[test]
    fn a_code_is_used_as_often_as_it_says_and_once_by_each_visitor() {
        let check = |now: u64, uses: u32, used: u32, has_used: bool, want: MoveReply| {
            let reply = answer(Timestamp(now), &request(uses), used, has_used);
            assert_eq!(reply, want, "{now} {uses} {used} {has_used}");
        };
        check(0, 1, 0, false, MoveReply::Open);
        check(0, 1, 1, false, MoveReply::Used);
        check(0, 1, 1, true, MoveReply::Open);
        check(999, 3, 2, false, MoveReply::Open);
        check(999, 3, 3, false, MoveReply::Used);
        check(1_000, 3, 0, false, MoveReply::Over);
        check(1_000, 3, 1, true, MoveReply::Over);
        // The owner has made the same code with fewer uses.
        check(0, 1, 3, true, MoveReply::Open);
    }

    #[test]
    fn a_request_reads_back_as_it_was_written() {
        let request = MoveRequest::Join(request(7));
        let text = request.to_text();
        assert_eq!(text, "join 18446744073709551615 7 1000 members/a-1");
        assert_eq!(MoveRequest::read(&text), Some(request));
        let share = Some(Share { one_in: 4, own: Timestamp(900) });
        let request = MoveRequest::Join(Redemption { share, ..self::request(7) });
        let text = request.to_text();
        assert_eq!(text, "join 18446744073709551615 7 1000 members/a-1 4 900");
        assert_eq!(MoveRequest::read(&text), Some(request));
        for text in ["join", "join 1 2 3", "join 1 4294967296 3 a", "join a 2 3 b"] {
            assert_eq!(MoveRequest::read(text), None, "{text}");
        }
    }
}
