//! Lets `webhooks/` look at the room after turns of its machine, for the owner's webhooks. No
//! visitor waits for it. A room without webhooks costs one lookup in a map, which is mostly empty.
//!
//! `webhooks/` is a module that is loaded with the first webhook. As part of the wasm it was 42 KB,
//! which every isolate would load before its first answer.

use std::rc::Rc;

use room_core::base::id::RoomId;
use room_core::base::time::{SECOND_MS, Timestamp};
use room_core::machines::global_aggregator::{GlobalAggregator as Machine, watch};
use room_core::machines::wire::GlobalReply;
use serde_json::Value;

use super::shell::{Hosted, Shell};
use crate::memory::{self, Memory};
use crate::platform;
use crate::platform::scripts;

/// Time between two looks at the room, in milliseconds.
const LOOK_MS: u64 = SECOND_MS;
/// The request of an alarm.
const ALARM: &str = "alarm";

impl Shell<Machine> {
    /// Lets webhooks look at the room, unless they just did.
    pub(super) fn watch(&self, room: RoomId) {
        let now = platform::now();
        let has_hooks = memory::with(|memory| memory.webhooks.contains_key(&room)) == Some(true);
        if !has_hooks || now.since_ms(self.watched_at.get()) < LOOK_MS {
            return;
        }
        if let Some(sight) = self.sight(room, now) {
            self.watched_at.set(now);
            scripts::webhooks_look(&self.state, &self.env, &sight);
        }
    }

    /// Answers an owner about the webhooks of the room, or an alarm.
    pub(super) async fn on_webhooks(
        self: &Rc<Self>,
        room: RoomId,
        request: &str,
    ) -> Option<GlobalReply> {
        if request == ALARM {
            self.watched_at.set(Timestamp::default());
            Machine::wake(self, room);
        }
        let sight = self.sight(room, platform::now())?;
        let told = scripts::webhooks_answer(&self.state, &self.env, &sight, request).await;
        told.map(GlobalReply::Webhooks)
    }

    fn sight(&self, room: RoomId, now: Timestamp) -> Option<String> {
        let sight = |memory: &mut Memory| {
            let found = memory.coverage.room(room)?;
            let hooks = memory.webhooks.get(&room).unwrap_or(&Value::Null);
            self.with(|object| watch::seen(&object.machine, now, found, hooks))
        };
        memory::with(sight).flatten()
    }
}
