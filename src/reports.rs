//! After the replies: does what the isolate's machines want done. Decides nothing.

use futures_util::future::join_all;
use room_core::id::RoomId;
use room_core::isolate::Work;
use room_core::time::{SECOND_MS, Timestamp};
use room_core::wire::ReportReply;
use worker::Env;

use crate::memory::{self, Seat};
use crate::{calls, copies, platform, turnstile};

/// A request works on a room's reports for at most this long; the next visitor's goes on.
const WORK_MS: u64 = 8 * SECOND_MS;
/// If nothing was heard from the request that works for this long, it is gone.
const ALIVE_MS: u64 = 4 * SECOND_MS;
/// The view is copied at most this often.
const COPY_MS: u64 = 2 * SECOND_MS;

/// Works on all rooms that have something to report.
pub async fn work(env: &Env) {
    let rooms = memory::with(memory::Memory::take_pending).unwrap_or_default();
    // Each room by itself: a silent object of one keeps no other waiting.
    join_all(rooms.into_iter().map(|room| work_on(room, env))).await;
}

async fn work_on(room: RoomId, env: &Env) {
    let started_at = platform::now();
    if memory::with_seat(room, |seat| seat.working_until > started_at).unwrap_or(true) {
        return;
    }
    while platform::now() < started_at + WORK_MS {
        let Some(work) = memory::with_seat(room, next) else { return };
        match work {
            Work::Done => break,
            Work::WaitUntil(moment) => {
                platform::sleep_until(moment.min(platform::now() + SECOND_MS)).await;
            }
            work => perform(room, env, work).await,
        }
    }
    memory::with_seat(room, |seat| seat.working_until = Timestamp::default());
    turnstile::tell_due(platform::now(), room);
}

fn next(seat: &mut Seat) -> Work {
    let now = platform::now();
    seat.working_until = now + ALIVE_MS;
    seat.isolate.work(now)
}

async fn perform(room: RoomId, env: &Env, work: Work) {
    let Some(colo) = memory::with_seat(room, |seat| seat.colo) else { return };
    match work {
        Work::Return(request) => {
            calls::counter(env, room, colo, &request).await;
        }
        Work::Report(report) => {
            let reply = calls::aggregator(env, room, colo, &report).await;
            memory::with_seat(room, |seat| heard(seat, reply));
            copy_view(room).await;
        }
        Work::ReadView => {
            copies::read_view(room).await;
            let wants = |seat: &mut Seat| {
                let wants = seat.isolate.wants_view(platform::now());
                wants.then(|| seat.isolate.view_request())
            };
            if let Some(report) = memory::with_seat(room, wants).flatten() {
                let reply = calls::aggregator(env, room, colo, &report).await;
                memory::with_seat(room, |seat| heard(seat, reply));
                copy_view(room).await;
            }
        }
        Work::WaitUntil(_) | Work::Done => {}
    }
}

fn heard(seat: &mut Seat, reply: Option<ReportReply>) {
    seat.isolate.on_report_reply(platform::now(), reply);
}

async fn copy_view(room: RoomId) {
    let now = platform::now();
    let is_due = |seat: &mut Seat| {
        let is_due = now.since_ms(seat.copied_at) >= COPY_MS;
        if is_due {
            seat.copied_at = now;
        }
        is_due
    };
    if memory::with_seat(room, is_due).unwrap_or(false) {
        copies::write_view(room).await;
    }
}
