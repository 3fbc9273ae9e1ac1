//! What happens in a world, told in words: for the traces of broken laws.

use room_core::base::time::SECOND_MS;
use room_core::capacity::slots::{SlotClass, Slots};
use room_core::machines::isolate::Outcome;
use room_core::machines::wire::{
    CounterReply, CounterRequest, GlobalReply, GlobalRequest, IsolateEvent,
};
use room_core::ticket::TicketState;

use crate::events::Event;
use crate::message::{Flight, Message, Who};
use crate::room::Place;
use crate::world::{START, World};

/// The names of the data centers.
const NAMES: [&str; 2] = ["A", "B"];

impl World {
    /// Tells something, if anybody listens.
    pub fn tell(&mut self, words: impl FnOnce(&Self) -> String) {
        if self.told.is_some() {
            let ms = self.now.since_ms(START);
            let words = words(self);
            let line = format!("{:>4}.{:03} s  {words}", ms / SECOND_MS, ms % SECOND_MS);
            self.told.get_or_insert_default().push(line);
        }
    }

    /// Tells what happens between machines, unless only visitors count.
    pub fn tell_inside(&mut self, words: impl FnOnce(&Self) -> String) {
        if !self.is_brief {
            self.tell(words);
        }
    }

    /// An event, before it happens.
    pub fn tell_event(&mut self, event: Event) {
        if matches!(event, Event::Deliver(_) | Event::Wake(_)) {
            return; // the message and the timer tell it themselves
        }
        self.tell(|world| match event {
            Event::Arrive => format!("visitor {} arrives", world.visitors.len()),
            Event::Come(visitor) => format!("visitor {visitor} comes back"),
            Event::Browse { visitor, isolate, cookie } => {
                let which = if cookie == 0 { "the newest cookie" } else { "the cookie before" };
                let place = NAMES[usize::from(isolate)];
                format!("visitor {visitor}, inside, opens a page in {place} with {which}")
            }
            Event::End { visitor, isolate, cookie } => {
                let which = if cookie == 0 { "newest cookie" } else { "cookie before" };
                let place = NAMES[usize::from(isolate)];
                format!("the site ends visitor {visitor}'s session in {place} by the {which}")
            }
            Event::Deliver(_) | Event::Wake(_) => String::new(),
            Event::Pass => "time passes to the next moment at which something is due".to_owned(),
            Event::Calm(calm) => {
                let ms = world.room.calms_ms[usize::from(calm)];
                format!("{} s pass in which everything goes its ordinary way:", ms / SECOND_MS)
            }
            Event::Lose(index) => {
                format!("LOST: {}", flight(&world.flights[usize::from(index)]))
            }
            Event::Double(index) => {
                format!("DOUBLED: {}", flight(&world.flights[usize::from(index)]))
            }
            Event::Delay(index) => {
                format!("STUCK: {}", flight(&world.flights[usize::from(index)]))
            }
            Event::Restart { place, with_copy } => {
                let copy = if with_copy { "with its copy" } else { "without a copy" };
                format!("RESTARTED: the {}, {copy}", place_name(place.into()))
            }
            Event::Interrupt(index) => {
                let flight = flight(&world.flights[usize::from(index)]);
                format!("RESTARTED: the global aggregator, before it stores what follows: {flight}")
            }
            Event::Cut(isolate) => {
                format!("CUT: the isolate of {} from its aggregator", NAMES[usize::from(isolate)])
            }
            Event::Doze(visitor) => format!("visitor {visitor}'s tab goes to sleep"),
        });
    }
}

/// The name of an object or an isolate.
pub fn place_name(place: Place) -> String {
    match place {
        Place::Global => "global aggregator".to_owned(),
        Place::Counter(dc) => format!("counter of {}", NAMES[dc]),
        Place::Aggregator(dc) => format!("aggregator of {}", NAMES[dc]),
        Place::Isolate(dc) => format!("isolate of {}", NAMES[dc]),
    }
}

/// A message on its way, and where it goes.
pub fn flight(flight: &Flight) -> String {
    let name = NAMES[flight.data_center];
    let nobody = if flight.caller.is_none() { ", for whose answer nobody waits" } else { "" };
    match &flight.message {
        Message::Ask(CounterRequest::Take(take)) => {
            let visitor = (take.admission.0 >> 4).saturating_sub(1);
            let class = class_name(take.class);
            format!(
                "the counter of {name} is asked for a slot for visitor {visitor} ({class}){nobody}"
            )
        }
        Message::Ask(CounterRequest::Return { .. }) => {
            format!("the counter of {name} gets slots back{nobody}")
        }
        Message::Answer(reply) => format!("the isolate of {name} hears: {}", counter_reply(reply)),
        Message::Report(report) => {
            let events: Vec<String> = report.events.iter().map(isolate_event).collect();
            let events =
                if events.is_empty() { "nothing new".to_owned() } else { events.join(", ") };
            format!("the aggregator of {name} hears a report: {events}{nobody}")
        }
        Message::Reported(reply) => {
            let (received, durable) = (reply.received, reply.durable);
            format!("the isolate of {name} hears: {received} events received, {durable} stored")
        }
        Message::Up(GlobalRequest::Pull(pull)) => {
            let (number, new, queued) =
                (pull.number % 1_000_000, pull.new_waiting, pull.queued_waiting);
            let back: u32 = pull.returned.iter().map(|(_, n)| n).sum();
            format!(
                "the global aggregator gets pull {number} of {name}: {new} newcomers and {queued} \
                 called visitors wait, {back} slots come back{nobody}"
            )
        }
        Message::Up(GlobalRequest::Sync(sync)) => {
            let seq = sync.contribution.seq;
            format!("the global aggregator gets sync {seq} of {name}{nobody}")
        }
        Message::Up(_) => "the global aggregator is asked".to_owned(),
        Message::Down(GlobalReply::Pulled { new, queued, view, .. }) => {
            let open = if view.open { "open" } else { "closed" };
            let slots = [("new", new), ("queued", queued)].into_iter();
            let slots: Vec<String> =
                slots.filter_map(|(class, slots)| granted(class, *slots)).collect();
            let slots = if slots.is_empty() { "no slot".to_owned() } else { slots.join(", ") };
            format!("the counter of {name} hears: {slots}; the room is {open}")
        }
        Message::Down(_) => format!("the aggregator of {name} hears the answer to its sync"),
        Message::Silence => format!("{} in {name} hears nothing", caller_name(flight)),
    }
}

fn caller_name(flight: &Flight) -> String {
    match flight.caller.map(|caller| caller.who) {
        Some(Who::Visitor(visitor)) => format!("the isolate that asked for visitor {visitor}"),
        Some(Who::Isolate) => "the isolate that reported".to_owned(),
        Some(Who::Counter(_)) => "the counter that pulled".to_owned(),
        Some(Who::Aggregator) => "the aggregator".to_owned(),
        None => "nobody".to_owned(),
    }
}

fn granted(class: &str, slots: Option<Slots>) -> Option<String> {
    let slots = slots?;
    Some(format!("{} slots of class {class} (grant {})", slots.n, slots.grant.number))
}

fn class_name(class: SlotClass) -> &'static str {
    if class == SlotClass::New { "newcomer" } else { "called" }
}

pub fn counter_reply(reply: &CounterReply) -> String {
    match reply {
        CounterReply::Granted { grant, class, .. } => {
            format!("a slot of grant {} for a {}", grant.number, class_name(*class))
        }
        CounterReply::Refused { .. } => "refused".to_owned(),
        CounterReply::Returned => "taken back".to_owned(),
        CounterReply::Silent => "the counter knows nothing".to_owned(),
    }
}

fn isolate_event(event: &IsolateEvent) -> String {
    match event {
        IsolateEvent::Admitted(admission) => {
            format!("visitor {} entered", (admission.visitor.0 >> 4).saturating_sub(1))
        }
        IsolateEvent::Moved { visitor, from, to, .. } => format!(
            "visitor {} moved on by {} s",
            (visitor.0 >> 4).saturating_sub(1),
            to.0 - from.0
        ),
        IsolateEvent::Present(presence) => {
            if presence.joined { "a visitor joined" } else { "a visitor waits on" }.to_owned()
        }
        IsolateEvent::Revoked { .. } => "a session was ended".to_owned(),
    }
}

/// What a visitor gets to see.
pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Pass => "is inside".to_owned(),
        Outcome::PassWith(ticket) if ticket.state == TicketState::Accepted => {
            format!(
                "is inside, session to {} s",
                u64::from(ticket.counted_bucket.0) - START.seconds()
            )
        }
        Outcome::Wait { ticket, counted: true } => {
            format!("waits, and is told to come in {} s", ticket.interval_s)
        }
        Outcome::Wait { .. } => "came too early".to_owned(),
        other => format!("{other:?}"),
    }
}
