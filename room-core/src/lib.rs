//! The waiting room itself: who may enter, in which order, and what everybody else is told.
//!
//! Pure: no clock, no entropy, no async, no logging, no platform. Time and random draws are
//! arguments; what must happen outside is returned, never done.

pub mod admission;
pub mod api;
pub mod bucket;
pub mod bypass;
pub mod bypass_rule;
pub mod census;
pub mod config;
pub mod cookie;
pub mod coverage;
pub mod data_center_aggregator;
pub mod data_center_counter;
pub mod estimate;
pub mod event;
pub mod event_stream;
pub mod forecast;
pub mod freshness;
pub mod global_aggregator;
pub mod id;
pub mod infinite_queue;
pub mod isolate;
pub mod key_ring;
pub mod language;
pub mod lottery;
pub mod master_key;
pub mod named_list;
pub mod page;
mod percent;
pub mod queue;
mod rate;
pub mod registry;
pub mod request;
pub mod response;
pub mod room;
pub mod route;
pub mod rule;
pub mod settings;
pub mod shuffle;
pub mod slots;
pub mod sorted;
pub mod state;
pub mod template;
pub mod ticket;
pub mod time;
pub mod token;
pub mod turn;
pub mod turnstile;
pub mod variables;
pub mod view;
pub mod waiting;
pub mod wire;
pub mod zones;
