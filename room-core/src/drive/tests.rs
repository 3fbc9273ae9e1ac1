//! Tests of the order of effects, with machines that want what each test names.

use super::{COPY_MS, Driven, Effect, LOOK_MS, Machine, sleep_ms};
use crate::base::time::Timestamp;
use crate::machines::turn::{Incident, RequestId, Turn};

const NOW: Timestamp = Timestamp(1_000_000);
const RETRY_AT: Timestamp = Timestamp(1_002_000);

/// Stores the number of its saves, and tries again after one that failed.
#[derive(Clone, Debug, Default)]
struct Storing {
    saves: u32,
}

impl Machine for Storing {
    type Reply = &'static str;
    type Message = &'static str;
    type Save = u32;

    const ANSWERS_AT_ONCE: bool = true;

    fn save(&mut self) -> u32 {
        self.saves += 1;
        self.saves
    }

    fn on_saved(&mut self, _now: Timestamp, is_stored: bool) -> Wanted {
        let incident = if is_stored { Incident::SaveWorks } else { Incident::SaveFailed };
        let wake_at = (!is_stored).then_some(RETRY_AT);
        Turn { wake_at, incidents: vec![incident], ..Turn::default() }
    }

    fn copy(&self, saved: Option<u32>) -> String {
        format!("{saved:?}")
    }
}

/// Answers later, and stores nothing.
#[derive(Clone, Debug, Default)]
struct Forgetful;

impl Machine for Forgetful {
    type Reply = &'static str;
    type Message = &'static str;
    type Save = ();

    fn copy(&self, saved: Option<()>) -> String {
        format!("{saved:?}")
    }
}

type Wanted = Turn<&'static str, &'static str>;
type Done = Effect<&'static str, &'static str>;

fn reply(id: u64, reply: &'static str) -> Wanted {
    Turn { replies: vec![(RequestId(id), reply)], ..Turn::default() }
}

fn stored(turn: Wanted) -> Wanted {
    Turn { save: true, ..turn }
}

fn answered(id: u64, reply: &'static str) -> Done {
    Effect::Reply(vec![(RequestId(id), reply)])
}

fn unanswered(id: u64) -> Done {
    Effect::End(vec![RequestId(id)])
}

/// All effects up to the next save.
fn effects<M: Machine>(object: &mut Driven<M>) -> Vec<Effect<M::Reply, M::Message>> {
    std::iter::from_fn(|| object.next_effect()).collect()
}

#[test]
fn a_reply_leaves_after_the_save_that_it_needs() {
    let mut object = Driven::new(Storing::default());
    let wake_at = Some(NOW + 500);
    let turn = Turn { send: Some("ask"), wake_at, ..stored(reply(1, "granted")) };
    assert!(object.request(RequestId(1), |_| turn).is_empty());
    let first = [Effect::Send("ask"), Effect::WakeAt(NOW + 500), Effect::Save];
    assert_eq!(effects(&mut object), first);
    assert_eq!(*object.save(), 1);
    assert_eq!(object.next_effect(), None);
    assert_eq!(object.on_saved(NOW, true), [Incident::SaveWorks]);
    assert_eq!(effects(&mut object), [answered(1, "granted"), Effect::Copy]);
    assert_eq!(object.copy(), "Some(1)");
}

#[test]
fn if_a_save_fails_its_replies_do_not_leave_and_it_is_tried_again() {
    let mut object = Driven::new(Storing::default());
    let turn = Turn { wake_at: Some(NOW + 5_000), ..stored(reply(1, "granted")) };
    object.request(RequestId(1), |_| turn);
    assert_eq!(effects(&mut object), [Effect::WakeAt(NOW + 5_000), Effect::Save]);
    assert_eq!(*object.save(), 1);
    assert_eq!(object.on_saved(NOW, false), [Incident::SaveFailed]);
    assert_eq!(effects(&mut object), [Effect::WakeAt(RETRY_AT), unanswered(1)]);
    object.wake(|_| stored(Turn::default()));
    assert_eq!(effects(&mut object), [Effect::Save]);
    assert_eq!(*object.save(), 2);
    object.on_saved(RETRY_AT, true);
    object.request(RequestId(2), |_| reply(2, "granted"));
    assert_eq!(effects(&mut object), [answered(2, "granted"), Effect::Copy]);
    assert_eq!(object.copy(), "Some(2)");
}

#[test]
fn replies_during_a_save_wait_for_all_that_is_to_be_stored() {
    for is_stored in [true, false] {
        let mut object = Driven::new(Storing::default());
        object.request(RequestId(1), |_| stored(reply(1, "first")));
        assert_eq!(effects(&mut object), [Effect::Save]);
        let turn = Turn { send: Some("ask"), ..stored(reply(2, "second")) };
        object.request(RequestId(2), |_| turn);
        assert_eq!(effects(&mut object), [Effect::Send("ask")]);
        object.on_saved(NOW, is_stored);
        assert!(effects(&mut object).ends_with(&[Effect::Save]), "{is_stored}");
        object.request(RequestId(3), |_| reply(3, "third"));
        assert_eq!(object.next_effect(), None);
        object.on_saved(NOW, true);
        let all = [(1, "first"), (2, "second"), (3, "third")];
        let all = all.map(|(id, reply)| (RequestId(id), reply)).to_vec();
        assert_eq!(effects(&mut object), [Effect::Reply(all), Effect::Copy], "{is_stored}");
    }
}

#[test]
fn a_request_without_a_reply_ends_if_the_machine_answers_at_once() {
    let mut object = Driven::new(Storing::default());
    object.request(RequestId(7), |_| reply(6, "late"));
    assert_eq!(effects(&mut object), [unanswered(7), answered(6, "late")]);
    let mut object = Driven::new(Forgetful);
    object.request(RequestId(7), |_| Turn::default());
    assert_eq!(effects(&mut object), []);
    object.answer(NOW, |_| reply(7, "late"));
    assert_eq!(effects(&mut object), [answered(7, "late"), Effect::Copy]);
}

#[test]
fn the_timer_moves_to_earlier_moments_alone() {
    let mut object = Driven::new(Forgetful);
    let mut check = |wake_at: Option<u64>, want: &[u64], planned: Option<u64>| {
        let wake_at = wake_at.map(|ms| NOW + ms);
        object.request(RequestId(1), |_| Turn { wake_at, ..Turn::default() });
        let set: Vec<_> = want.iter().map(|ms| Effect::WakeAt(NOW + *ms)).collect();
        assert_eq!(effects(&mut object), set);
        assert_eq!(object.wakes_at(), planned.map(|ms| NOW + ms));
    };
    check(None, &[], None);
    check(Some(900), &[900], Some(900));
    check(Some(900), &[], Some(900));
    check(Some(1_000), &[], Some(900));
    check(Some(400), &[400], Some(400));
    object.wake_by(Some(NOW + 300));
    assert_eq!(effects(&mut object), [Effect::WakeAt(NOW + 300)]);
    object.wake(|_| Turn::default());
    assert_eq!(object.wakes_at(), None);
    object.wake_by(None);
    object.wake(|_| Turn { wake_at: Some(NOW + 5_000), ..Turn::default() });
    assert_eq!(effects(&mut object), [Effect::WakeAt(NOW + 5_000)]);
}

#[test]
fn a_timer_goes_off_soon_after_a_clock_that_was_behind_is_set() {
    const BEHIND_MS: u64 = 600_000;
    // How long it takes a timer that is set for `after_ms` to go off, while the clock is behind
    // until `behind_until_ms`.
    let check = |after_ms: u64, behind_until_ms: u64, want_ms: u64| {
        let clock = |passed_ms: u64| {
            let behind_ms = if passed_ms < behind_until_ms { BEHIND_MS } else { 0 };
            NOW + passed_ms - behind_ms
        };
        let mut passed_ms = 0;
        while clock(passed_ms) < NOW + after_ms {
            passed_ms += sleep_ms(clock(passed_ms), NOW + after_ms);
        }
        assert_eq!(passed_ms, want_ms, "{after_ms} {behind_until_ms}");
    };
    check(0, 0, 0);
    check(500, 0, 500);
    check(30_000, 0, 30_000);
    check(500, 1, LOOK_MS);
    check(500, 29_000, 15 * LOOK_MS);
    // It is never set.
    check(500, 2 * BEHIND_MS, BEHIND_MS + 500);
}

#[test]
fn copies_are_two_seconds_apart() {
    let mut object = Driven::new(Forgetful);
    let mut check = |after_ms: u64, want: bool| {
        object.answer(NOW + after_ms, |_| Turn::default());
        assert_eq!(effects(&mut object) == [Effect::Copy], want, "{after_ms}");
    };
    check(0, true);
    check(COPY_MS - 1, false);
    check(COPY_MS, true);
    check(COPY_MS + 1, false);
    assert_eq!(object.copy(), "None");
    let mut object = Driven::new(Storing::default());
    for (after_ms, want) in [(0, "Some(1)"), (1, "None"), (COPY_MS, "Some(3)")] {
        object.wake(|_| stored(Turn::default()));
        assert_eq!(effects(&mut object), [Effect::Save]);
        object.save();
        object.on_saved(NOW + after_ms, true);
        let copies = if want == "None" { vec![] } else { vec![Effect::Copy] };
        assert_eq!((effects(&mut object), object.copy()), (copies, want.to_owned()));
    }
}
