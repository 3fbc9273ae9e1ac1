//! The object around a room's global aggregator. Its name is the id of the room.
//!
//! It stores the machine's state in several values. Those that changed are written in one
//! transaction, before any reply that depends on them leaves. It needs no lock: the machine is
//! called between waits, and a transaction does not wait.

use std::rc::Rc;

use room_core::base::id::{Colo, Incarnation, RoomId};
use room_core::base::time::Timestamp;
use room_core::capacity::state::Node;
use room_core::drive::Driven;
use room_core::machines::data_center_aggregator::sync_request;
use room_core::machines::global_aggregator::{GlobalAggregator as Machine, Restored};
use room_core::machines::history::Period;
use room_core::machines::invitations::Redemption;
use room_core::machines::journal::{KEPT_MS, Query};
use room_core::machines::moves::MoveRequest;
use room_core::machines::turn::{Incident, Turn};
use room_core::machines::wire::{self, GlobalReply, GlobalRequest};
use room_core::queue::view::View;
use room_core::room::settings::Settings;

use super::shell::{Hosted, Shell};
use super::{history, journal, log, moves, storage};
use crate::names::{Class, object_name};
use crate::platform::log::error as log_error;
use crate::platform::objects::object_class;
use crate::platform::scripts;
use crate::{calls, configuration, copies, memory, platform};

const CLASS: Class = Class::GlobalAggregator;
/// The node in its name: a room has one such object, which belongs to no data center.
const NODE: Node = Node { colo: Colo::UNKNOWN, shard: 0 };
/// How close the start or end of an event must be for the object to wake for it, in milliseconds.
/// Earlier than that, the calls for visitors who wait or enter come more often.
const CHANGE_SOON_MS: u64 = 10_000;

object_class! {
    /// The object that owns the slots and the order of one room.
    GlobalAggregator, Shell<Machine>
}

impl Shell<Machine> {
    pub(super) async fn call(self: Rc<Self>, message: &str) -> Option<GlobalReply> {
        let (room, _) = self.name()?;
        let request = wire::decode(message)?;
        let request = match request {
            GlobalRequest::Move(request) => match MoveRequest::read(&request)? {
                MoveRequest::Join(one) if one.share.is_some() => {
                    return self.joined(room, one).await;
                }
                request => return self.moved(room, request, None),
            },
            request => request,
        };
        let settings = configuration::settings(&self.state, &self.env, room).await?;
        self.load(room, &settings).await?;
        let now = platform::now();
        let settings = memory::settings(room, now)?;
        if let GlobalRequest::History(period) = request {
            return self.history(room, period, now);
        }
        if let GlobalRequest::Journal(query) = request {
            return self.journal(room, Query::read(&query)?, now);
        }
        if let GlobalRequest::Webhooks(request) = request {
            return self.on_webhooks(room, &request).await;
        }
        let (id, reply) = self.wait();
        self.turn(room, now, |object| {
            object.request(id, |machine| machine.on_request(now, &settings, id, request))
        });
        reply.await.ok()
    }

    /// Answers from the stored rows and those that are not stored yet.
    fn history(&self, room: RoomId, period: Period, now: Timestamp) -> Option<GlobalReply> {
        let open = self.with(|object| object.machine.open_minutes(now))?;
        let rows = history::read(&self.state.sql(), now, period, open)
            .map_err(|reason| log_storage(room, "cannot be read", &reason))
            .ok()?;
        Some(GlobalReply::History(period.told(rows)))
    }

    /// Answers from the stored rows and the one that is not stored yet.
    fn journal(&self, room: RoomId, query: Query, now: Timestamp) -> Option<GlobalReply> {
        let open = self.with(|object| object.machine.open_journal())?;
        let rows = journal::read(&self.state.sql(), now, query, open)
            .map_err(|reason| log_storage(room, "cannot be read", &reason))
            .ok()?;
        Some(GlobalReply::Journal(rows.to_text()))
    }

    /// Answers a visitor whose group enters by share. While the machine does not know who waits,
    /// there is no answer: the code stays unused.
    async fn joined(&self, room: RoomId, request: Redemption) -> Option<GlobalReply> {
        let settings = configuration::settings(&self.state, &self.env, room).await?;
        self.load(room, &settings).await?;
        let now = platform::now();
        let settings = memory::settings(room, now)?;
        let view = self.with(|Driven { machine, .. }| {
            (!machine.is_learning(now)).then(|| machine.view(now, &settings))
        })??;
        self.moved(room, MoveRequest::Join(request), Some(&view))
    }

    /// Answers a transfer to another device, or a visitor who uses an invitation. The machine has
    /// no part in it.
    fn moved(
        &self,
        room: RoomId,
        request: MoveRequest,
        view: Option<&View>,
    ) -> Option<GlobalReply> {
        if let MoveRequest::Join(Redemption { ends_at, .. }) = &request {
            scripts::will_forget(&self.state, *ends_at);
        }
        let reply = moves::answer(&self.state.sql(), platform::now(), request, view);
        let reply = reply.map_err(|reason| log_storage(room, "fails", &reason));
        Some(GlobalReply::Move(reply.ok()?.to_text()))
    }

    /// Makes the machine from what is stored. If the storage fails, there is no machine and no
    /// answer: without its row it could grant too much.
    async fn load(&self, room: RoomId, settings: &Settings) -> Option<()> {
        if self.has_machine() {
            return Some(());
        }
        let stored = storage::read(&self.state.storage()?);
        let stored = stored.map_err(|reason| log_storage(room, "cannot be read", &reason)).ok()?;
        let name = object_name(CLASS, room, NODE);
        let copy = copies::read_state(room, CLASS, &name).await;
        let (row, copy) = (stored.row.as_deref(), copy.as_deref());
        let restored = Restored { row, parts: &stored.parts, copy };
        let incarnation = Incarnation(platform::random_number());
        let made = || Machine::new(restored, room, platform::now(), incarnation, settings);
        self.make(made);
        Some(())
    }

    /// Takes in an event at `now`. Then webhooks look at the room.
    fn turn(
        self: &Rc<Self>,
        room: RoomId,
        now: Timestamp,
        event: impl FnOnce(&mut Driven<Machine>) -> Vec<Incident>,
    ) {
        let change = memory::next_change(room, now);
        let is_soon = |change: &Timestamp| change.since_ms(now) <= CHANGE_SOON_MS;
        self.take_in(room, |object| {
            let incidents = event(object);
            object.wake_by(change.filter(is_soon));
            incidents
        });
        self.watch(room);
    }

    fn write(&self) -> Result<(), String> {
        let storage = self.state.storage().ok_or("there is no storage")?;
        let sql = self.state.sql();
        let written = self.with(|object| {
            let save = object.save();
            if save.journal.is_some() {
                scripts::will_forget(&self.state, platform::now() + KEPT_MS);
            }
            storage::write(&storage, &sql, save)
        });
        written.unwrap_or_else(|| Err("there is no machine".to_owned()))
    }
}

impl Hosted for Machine {
    const CLASS: Class = CLASS;

    /// Asks aggregators for a sync. It comes as a request of its own, so nothing waits for it here.
    fn send(shell: &Rc<Shell<Self>>, room: RoomId, nodes: Vec<Node>) {
        for node in nodes {
            let own = Rc::clone(shell);
            shell.state.detach(async move {
                calls::aggregator(&own.env, room, node.colo, &sync_request()).await;
            });
        }
    }

    fn wake(shell: &Rc<Shell<Self>>, room: RoomId) {
        let now = platform::now();
        let settings = memory::settings(room, now);
        shell.turn(room, now, |object| {
            object.wake(|machine| {
                settings.map_or_else(Turn::default, |settings| machine.on_alarm(now, &settings))
            })
        });
    }

    fn store(shell: &Shell<Self>, room: RoomId) {
        let written = shell.write();
        let is_stored = written.is_ok();
        let incidents = shell.with(|object| object.on_saved(platform::now(), is_stored));
        match (written, incidents.unwrap_or_default()) {
            (Err(reason), incidents) if !incidents.is_empty() => {
                log_storage(room, "cannot be written", &reason);
            }
            (_, incidents) => log(CLASS, room, &incidents),
        }
    }
}

/// Writes to the log that the storage fails. The visitors of the room get what it has chosen for
/// silence.
fn log_storage(room: RoomId, problem: &str, reason: &str) {
    log_error(format_args!("the storage of room {room} {problem}: {reason}"));
}
