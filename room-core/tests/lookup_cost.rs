//! Finding the room of a request among 1,000 rooms is no search through all of them: a ratio to 20
//! rooms of one run, each way of it the fastest of many. It looks at no result.

#![expect(clippy::expect_used, reason = "a test that cannot make its rooms must fail")]

use std::hint::black_box;
use std::time::Duration;

use cpu_time::ThreadTime;
use room_core::management::config::parse_rooms;
use room_core::room::coverage::Coverage;
use serde_json::{Value, json};

const FEW: usize = 20;
const MANY: usize = 1_000;
/// Far above the ratio, and far below that of a search through all rooms, which is 20 and more.
const RATIO_MAX: f64 = 5.0;
/// Addresses looked up in one measurement, and how often.
const ADDRESSES: usize = 200;
const TIMES: usize = 5;
/// Measurements of each kind, in turns; the fastest counts, since others use the machine too.
const ROUNDS: usize = 30;
/// A machine that others use may need to be asked more than once.
const TRIES: usize = 5;

/// Where the rooms are.
#[derive(Clone, Copy, Debug)]
enum Layout {
    OnTheirOwnHosts,
    OnOneHost,
}

impl Layout {
    fn place(self, room: usize) -> (String, String) {
        match self {
            Self::OnTheirOwnHosts => (format!("shop-{room}.example"), "/".to_owned()),
            Self::OnOneHost => ("shop.example".to_owned(), format!("/shop-{room}")),
        }
    }

    fn coverage(self, rooms: usize) -> Coverage {
        let room = |index: usize| {
            let (host, path) = self.place(index);
            json!({
                "id": format!("{index:032x}"),
                "zone_id": "0123456789abcdef0123456789abcdef",
                "name": format!("room-{index}"),
                "host": host,
                "path": path,
                "total_active_users": 1,
                "new_users_per_minute": 1,
            })
        };
        let rooms = (0..rooms).map(room).collect::<Value>().to_string();
        Coverage::new(parse_rooms(&rooms).expect("valid rooms").into())
    }

    /// Addresses of rooms all over the configuration.
    fn addresses(self, rooms: usize) -> Vec<String> {
        let address = |number: usize| {
            // A prime far from both counts: neighbours in time are none in the configuration.
            let (host, path) = self.place(number * 7_919 % rooms);
            format!("https://{host}{}/product/1234?color=red", path.trim_end_matches('/'))
        };
        (0..ADDRESSES).map(address).collect()
    }
}

/// How long all lookups take, in time that this thread has a processor.
fn time(coverage: &Coverage, addresses: &[String]) -> Duration {
    let began = ThreadTime::now();
    for address in addresses.iter().cycle().take(TIMES * addresses.len()) {
        let room = coverage.lookup(black_box(address)).expect("a plain path");
        assert!(black_box(room).is_some());
    }
    began.elapsed()
}

fn ratio(layout: Layout) -> f64 {
    let [few, many] = [FEW, MANY].map(|rooms| (layout.coverage(rooms), layout.addresses(rooms)));
    let rounds = (0..ROUNDS).map(|_| (time(&few.0, &few.1), time(&many.0, &many.1)));
    let (few, many) = rounds
        .reduce(|best, round| (best.0.min(round.0), best.1.min(round.1)))
        .expect("some rounds");
    many.as_secs_f64() / few.as_secs_f64()
}

#[test]
fn a_room_among_a_thousand_is_found_nearly_as_fast_as_among_twenty() {
    for layout in [Layout::OnTheirOwnHosts, Layout::OnOneHost] {
        let measured = |_| {
            let ratio = ratio(layout);
            println!("{layout:?}: {MANY} rooms cost {ratio:.2} times as much as {FEW}");
            ratio
        };
        assert!((0..TRIES).map(measured).any(|ratio| ratio <= RATIO_MAX), "{layout:?}");
    }
}
