//! An owner's expectation: the room, who comes and when, and how they behave. It is read from JSON,
//! with every error at its field.

use std::fmt;

use room_core::base::id::EventId;
use room_core::base::time::MINUTE_MS;
use room_core::management::config::parse_rooms;
use room_core::order::shuffle::{DrawKey, Shuffle};
use room_core::room::Room;
use room_core::room::settings::Settings;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::arrivals::{self, Arrivals};
use super::one_in::OneIn;
use crate::scenario::usual::constant;
use crate::scenario::{Fault, START, Scenario};
use crate::visitor::{Habits, Stay};

/// The most visitors of a plan. More would take hours.
const VISITORS_MAX: f64 = 5_000_000.0;
const DATA_CENTERS_MAX: usize = 300;
const ISOLATES_MAX: usize = 64;
/// The longest span of arrivals, and of a prequeue, in minutes.
const MINUTES_MAX: u64 = 3 * 24 * 60;
/// The wait of people who never give up.
const NEVER_MS: f64 = 1e12;

/// What is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The field, with points between its parts; empty for the whole plan.
    pub field: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

/// What an owner expects of an event.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The title of the report.
    #[serde(default)]
    pub title: String,
    /// The time of day of the first minute, like `11:30`, for the moments of the report.
    #[serde(default)]
    pub begins_at: Option<String>,
    /// The room as the API knows it.
    pub room: Map<String, Value>,
    /// Minutes from the first arrivals until the doors open. All who come before are held.
    #[serde(default)]
    pub prequeue_minutes: Option<u32>,
    /// Whether visitors who came before the start are brought into a random order.
    #[serde(default)]
    pub shuffle_at_event_start: bool,
    /// The number of visitors. Not needed if each minute is given.
    #[serde(default)]
    pub visitors: Option<f64>,
    /// When they come.
    pub arrivals: Arrivals,
    /// What they do inside.
    #[serde(default)]
    pub on_site: OnSite,
    /// How patient they are.
    #[serde(default)]
    pub giving_up: GivingUp,
    /// The part of the visitors who are programs, in percent. In a room with Turnstile they do not
    /// get a place; in any other they wait like people.
    #[serde(default)]
    pub bots_percent: f64,
    /// The number of data centers in which they arrive.
    #[serde(default = "three")]
    pub data_centers: usize,
    /// The number of isolates in the largest data center: 1 on a server of one's own. It determines
    /// what a room calls and costs, and hardly who waits.
    #[serde(default = "many")]
    pub isolates: usize,
    /// One of how many visitors is played, in a room as much smaller: 1 plays everybody. Without it
    /// the sample is as large as takes seconds.
    #[serde(default)]
    pub one_in: Option<u32>,
    /// The seed of all chance.
    #[serde(default = "one")]
    pub seed: u64,
    /// The room's settings, as the product reads them.
    #[serde(skip, default = "any_settings")]
    settings: Settings,
    #[serde(skip, default = "everybody")]
    sample: OneIn,
}

/// How visitors behave inside.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OnSite {
    /// The mean length of a visit in minutes. It varies from half as long to half as long again.
    pub minutes: f64,
    /// Seconds between two pages, on average.
    pub page_every_seconds: f64,
}

impl Default for OnSite {
    fn default() -> Self {
        Self { minutes: 4.0, page_every_seconds: 30.0 }
    }
}

/// How patient visitors are.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GivingUp {
    /// The part of visitors who leave at once when they see a queue page, in percent.
    pub at_once_percent: f64,
    /// The mean patience of the others in minutes; `null` if nobody else gives up.
    pub after_minutes: Option<f64>,
}

impl Default for GivingUp {
    fn default() -> Self {
        Self { at_once_percent: 5.0, after_minutes: Some(120.0) }
    }
}

fn three() -> usize {
    3
}

fn many() -> usize {
    ISOLATES_MAX
}

fn one() -> u64 {
    1
}

fn everybody() -> OneIn {
    OneIn::ALL
}

fn any_settings() -> Settings {
    Settings::with_limits(1, 1)
}

impl Plan {
    /// Reads a plan from JSON. Errors: every mistake, each with its field.
    pub fn read(json: &str) -> Result<Self, Vec<Wrong>> {
        let plan = serde_json::from_str::<Self>(json);
        let mut plan = plan.map_err(|error| vec![Wrong::of("", error)])?;
        let mut wrong = plan.problems();
        match settings_of(&plan.room) {
            Ok(settings) => plan.settings = settings,
            Err(errors) => wrong.extend(errors),
        }
        match plan.sample_asked() {
            Some(sample) => plan.sample = sample,
            None => wrong.push(Wrong::of("one_in", OneIn::WRONG)),
        }
        if wrong.is_empty() { Ok(plan) } else { Err(wrong) }
    }

    /// Returns the expected number of visitors.
    pub fn visitors(&self) -> f64 {
        arrivals::area(&self.arrivals.curve(self.visitors))
    }

    /// Returns how many visitors are played for those that are expected.
    pub fn played(&self) -> f64 {
        self.visitors() / f64::from(self.sample.get())
    }

    pub(super) fn sample(&self) -> OneIn {
        self.sample
    }

    /// Returns the sample that the plan asks for, or else the usual one; `None` if it asks for one
    /// that is too small.
    fn sample_asked(&self) -> Option<OneIn> {
        let usual = || Some(OneIn::of(self.visitors(), &self.settings));
        self.one_in.map_or_else(usual, |one_in| OneIn::exactly(one_in, &self.settings))
    }

    /// Returns the room's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns when the doors open, in milliseconds from the first arrivals.
    pub fn opens_at_ms(&self) -> u64 {
        let usual = match self.arrivals {
            Arrivals::Preset(preset) => preset.prequeue_minutes(),
            Arrivals::PerMinute(_) => 0,
        };
        u64::from(self.prequeue_minutes.unwrap_or(usual)) * MINUTE_MS
    }

    /// Returns the story to play.
    pub fn scenario(&self) -> Scenario {
        let part = f64::from(self.sample.get());
        let curve = self.arrivals.curve(self.visitors).into_iter();
        let arrivals: Vec<(u64, f64)> = curve.map(|(at_ms, rate)| (at_ms, rate / part)).collect();
        let last_ms = arrivals.last().map_or(0, |(at_ms, _)| *at_ms);
        let opens_at_ms = self.opens_at_ms();
        let mut settings = self.sample.room(&self.settings);
        if opens_at_ms > 0 {
            settings.queue_all = true;
            settings.shuffles.extend(self.shuffle(opens_at_ms));
        }
        let visit_ms = self.on_site.minutes * MINUTE_MS as f64;
        Scenario {
            settings,
            arrivals,
            duration_ms: last_ms.max(opens_at_ms + 1),
            habits: Habits {
                leave_at_once: self.giving_up.at_once_percent / 100.0,
                patience_ms: self
                    .giving_up
                    .after_minutes
                    .map_or(NEVER_MS, |minutes| minutes * MINUTE_MS as f64),
                stay: Stay::Between((visit_ms * 0.5) as u64, (visit_ms * 1.5) as u64),
                request_ms: self.on_site.page_every_seconds * 1_000.0,
                bots: self.bots_percent / 100.0,
                ..Habits::USUAL
            },
            faults: (opens_at_ms > 0).then_some((opens_at_ms, Fault::Open)).into_iter().collect(),
            measured_from_ms: 0,
            isolates_max: self.sample.isolates(self.isolates),
            ..constant("rehearsal", 0.0)
        }
    }

    fn shuffle(&self, opens_at_ms: u64) -> Option<Shuffle> {
        self.shuffle_at_event_start.then(|| Shuffle {
            event: EventId::from_bytes([1; 16]),
            from: START,
            until: START + opens_at_ms,
            key: DrawKey::from_bytes([1; 32]),
        })
    }

    fn problems(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        let mut check = |is_right: bool, field: &str, message: &str| {
            if !is_right {
                wrong.push(Wrong::of(field, message));
            }
        };
        let is = |value: f64, low: f64, high: f64| (low..=high).contains(&value);
        let visitors = self.visitors.unwrap_or(1.0);
        check(is(visitors, 1.0, VISITORS_MAX), "visitors", "must be from 1 to 5,000,000");
        match &self.arrivals {
            Arrivals::Preset(_) => {
                check(self.visitors.is_some(), "visitors", "is needed: how many come in all?");
            }
            Arrivals::PerMinute(counts) => {
                let field = "arrivals.per_minute";
                let are_counts = counts.iter().all(|one| is(*one, 0.0, VISITORS_MAX));
                check(are_counts, field, "must be numbers from 0 on");
                check(counts.len() as u64 <= MINUTES_MAX, field, "must be at most 4,320 minutes");
                let sum: f64 = counts.iter().sum();
                let is_scaled = self.visitors.is_some() && sum > 0.0;
                let message = "must be from 1 to 5,000,000 visitors in all";
                check(is_scaled || is(sum, 1.0, VISITORS_MAX), field, message);
            }
        }
        let prequeue = u64::from(self.prequeue_minutes.unwrap_or(0));
        check(prequeue <= MINUTES_MAX, "prequeue_minutes", "must be at most 4,320");
        check(is(self.on_site.minutes, 0.1, 600.0), "on_site.minutes", "must be from 0.1 to 600");
        let pages = self.on_site.page_every_seconds;
        check(is(pages, 1.0, 3_600.0), "on_site.page_every_seconds", "must be from 1 to 3,600");
        let at_once = self.giving_up.at_once_percent;
        check(is(at_once, 0.0, 100.0), "giving_up.at_once_percent", "must be from 0 to 100");
        let after = self.giving_up.after_minutes.unwrap_or(1.0);
        check(
            is(after, 0.1, 100_000.0),
            "giving_up.after_minutes",
            "must be from 0.1 to 100,000, or null",
        );
        check(is(self.bots_percent, 0.0, 99.0), "bots_percent", "must be from 0 to 99");
        let data_centers = (1..=DATA_CENTERS_MAX).contains(&self.data_centers);
        check(data_centers, "data_centers", "must be from 1 to 300");
        let isolates = (1..=ISOLATES_MAX).contains(&self.isolates);
        check(isolates, "isolates", "must be from 1 to 64");
        check(is_time(self.begins_at.as_deref()), "begins_at", "must be a time like 11:30");
        wrong
    }
}

fn is_time(text: Option<&str>) -> bool {
    let Some(text) = text else { return true };
    let part = |part: &str, below: u32| {
        part.len() == 2 && part.parse::<u32>().is_ok_and(|number| number < below)
    };
    text.split_once(':').is_some_and(|(hour, minute)| part(hour, 24) && part(minute, 60))
}

/// Returns the settings of a room described as in the API. A missing name or host is filled in, and
/// visitors confirm their turn at once.
fn settings_of(room: &Map<String, Value>) -> Result<Settings, Vec<Wrong>> {
    let usual = json!({
        "id": "00000000000000000000000000000001",
        "zone_id": "00000000000000000000000000000001",
        "name": "rehearsal",
        "host": "rehearsal.example",
    });
    let Value::Object(mut whole) = usual else { return Ok(any_settings()) };
    whole.extend(room.clone());
    let rooms = parse_rooms(&json!([whole]).to_string());
    let named = |pointer: &str| pointer.replacen("/0", "room", 1).replace('/', ".");
    let rooms = rooms.map_err(|errors| {
        errors.iter().map(|one| Wrong::of(&named(&one.pointer), &one.message)).collect::<Vec<_>>()
    })?;
    let settings = |room: &Room| Settings {
        challenge_required: room.turnstile.gates(),
        confirm_turn_minutes: 0,
        ..room.settings.clone()
    };
    let settings = rooms.first().map(settings).ok_or_else(Vec::new)?;
    if settings.is_paused() || settings.admits_nobody() {
        let message = "lets nobody in, so there is nothing to rehearse: take `queue_all`, \
                       `maintenance` and `reject` out, and give `prequeue_minutes` for a start";
        return Err(vec![Wrong::of("room", message)]);
    }
    if settings.invitations.is_only() {
        let message = "lets in nobody who comes without an invitation, and nobody here has one: \
                       take it out, and give those who are invited as `visitors`";
        return Err(vec![Wrong::of("room.invitation_only", message)]);
    }
    Ok(settings)
}

impl Wrong {
    fn of(field: &str, message: impl fmt::Display) -> Self {
        Self { field: field.to_string(), message: message.to_string() }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => write!(formatter, "the plan: {}", self.message),
            field => write!(formatter, "{field}: {}", self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    fn wrong(plan: &str) -> Vec<String> {
        Plan::read(plan).expect_err(plan).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_error_is_told_at_its_field() {
        let got = wrong(
            r#"{ "room": { "total_active_users": 0, "new_users_per_minute": 10 },
                 "arrivals": { "preset": "flash_sale" }, "bots_percent": 120,
                 "begins_at": "25:00", "data_centers": 0 }"#,
        );
        for field in ["visitors: is needed", "bots_percent", "begins_at", "data_centers"] {
            assert!(got.iter().any(|one| one.starts_with(field)), "{field} {got:?}");
        }
        assert!(got.iter().any(|one| one.starts_with("room.total_active_users: ")), "{got:?}");
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        let got = wrong(r#"{ "room": {}, "arrival": 1 }"#);
        assert!(got.first().is_some_and(|one| one.contains("unknown field `arrival`")), "{got:?}");
    }

    #[test]
    fn a_room_that_lets_nobody_in_is_not_rehearsed() {
        for field in
            [r#""queue_all": true"#, r#""maintenance": "drain""#, r#""queueing_method": "reject""#]
        {
            let got = wrong(&format!(
                r#"{{ "room": {{ "total_active_users": 5, "new_users_per_minute": 5, {field} }},
                     "visitors": 9, "arrivals": {{ "preset": "all_day" }} }}"#
            ));
            assert!(got.iter().any(|one| one.contains("lets nobody in")), "{field}: {got:?}");
        }
    }

    #[test]
    fn a_room_for_the_invited_alone_is_not_rehearsed() {
        let got = wrong(
            r#"{ "room": { "total_active_users": 5, "new_users_per_minute": 5,
                           "invitation_groups": [{ "name": "members" }], "invitation_only": true },
                 "visitors": 9, "arrivals": { "preset": "all_day" } }"#,
        );
        let field = "room.invitation_only: ";
        assert!(got.iter().any(|one| one.starts_with(field)), "{got:?}");
    }

    #[test]
    fn visitors_confirm_their_turn_at_once() {
        let plan = Plan::read(
            r#"{ "room": { "total_active_users": 5, "new_users_per_minute": 5,
                           "confirm_turn_minutes": 3 },
                 "visitors": 9, "arrivals": { "preset": "all_day" } }"#,
        );
        assert_eq!(plan.expect("a plan").settings().confirm_turn_minutes, 0);
    }

    #[test]
    fn so_many_are_played_as_take_seconds_in_a_room_that_is_large_enough() {
        let plan = |visitors: u32, inside: u32, per_minute: u32, more: &str| {
            Plan::read(&format!(
                r#"{{ "room": {{ "total_active_users": {inside},
                       "new_users_per_minute": {per_minute} }}, "visitors": {visitors},
                     "arrivals": {{ "preset": "all_day" }} {more} }}"#
            ))
        };
        let played = |visitors, inside, per_minute| {
            let plan = plan(visitors, inside, per_minute, "").expect("a plan");
            (plan.played().round() as u32, plan.sample().get())
        };
        assert_eq!(played(100_000, 200_000, 20_000), (100_000, 1));
        assert_eq!(played(1_000_000, 200_000, 20_000), (100_000, 10));
        // A room of a tenth would have 300 places, or admit 60 a minute.
        assert_eq!(played(1_000_000, 3_000, 3_000), (333_333, 3));
        assert_eq!(played(1_000_000, 30_000, 600), (500_000, 2));
        assert_eq!(played(1_000_000, 1_999, 599), (1_000_000, 1));
        let told = |one_in: u32| {
            let got = plan(1_000_000, 3_000, 3_000, &format!(r#", "one_in": {one_in}"#));
            got.map(|plan| plan.played().round() as u32).map_err(|wrong| wrong[0].to_string())
        };
        assert_eq!((told(1), told(2)), (Ok(1_000_000), Ok(500_000)));
        for one_in in [0, 4, u32::MAX] {
            assert!(told(one_in).is_err_and(|one| one.starts_with("one_in: must be 1 to play")));
        }
    }

    #[test]
    fn a_drop_opens_after_half_an_hour_unless_told_otherwise() {
        let opens = |more: &str| {
            let plan = format!(
                r#"{{ "room": {{ "total_active_users": 5, "new_users_per_minute": 5 }},
                     "visitors": 9, "arrivals": {{ "preset": "ticket_drop" }} {more} }}"#
            );
            Plan::read(&plan).expect("a plan").opens_at_ms() / 60_000
        };
        assert_eq!([opens(""), opens(r#", "prequeue_minutes": 0"#)], [30, 0]);
    }
}
