//! All that the Worker knows of the platform below it and of JavaScript: clock, random numbers,
//! timers, requests, objects, storage, cache and log.
//!
//! Nothing else names `worker` or `wasm_bindgen`, but for the functions that the entry calls.

pub mod cache;
pub mod log;
pub mod objects;
pub mod request;
pub mod scripts;
pub mod storage;

use std::cell::RefCell;
use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use room_core::base::time::Timestamp;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;
use worker::Delay;
/// The variables, secrets and bindings. Outside the platform it is only handed on.
pub use worker::Env;

thread_local! {
    /// Random bytes that were not handed out yet.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The number of random bytes that are drawn at once. One call of the platform costs as much as
/// opening a ticket.
const POOL_BYTES: usize = 1_024;

#[wasm_bindgen]
extern "C" {
    /// Returns the milliseconds since the Unix epoch. Making a `Date` costs twenty times as much.
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;
}

/// Returns the time. On Cloudflare the clock stands still between two waits, so read it again after
/// each.
pub fn now() -> Timestamp {
    moment(date_now())
}

/// Returns the moment this many milliseconds after the Unix epoch, as given by JavaScript.
pub fn moment(ms: f64) -> Timestamp {
    Timestamp(ms as u64)
}

/// Returns random bytes of the platform's cryptographic generator.
pub fn random<const N: usize>() -> [u8; N] {
    const { assert!(N <= POOL_BYTES, "the pool never holds as much") };
    POOL.with_borrow_mut(|pool| {
        loop {
            if let Some((rest, taken)) = pool.split_last_chunk::<N>() {
                let (taken, left) = (*taken, rest.len());
                pool.truncate(left);
                return taken;
            }
            *pool = draw();
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "the one place that may draw entropy")]
fn draw() -> Vec<u8> {
    let mut bytes = vec![0; POOL_BYTES];
    if let Err(error) = getrandom::fill(&mut bytes) {
        // A ticket sealed with a known nonce would be worse than none: end this instance, which the
        // entry then rebuilds.
        wasm_bindgen::throw_str(&format!("no entropy: {error}"));
    }
    bytes
}

/// Returns a random number, for the names of isolates and objects.
pub fn random_number() -> u64 {
    u64::from_be_bytes(random())
}

/// Waits until a moment. Returns at once if it has passed.
pub async fn sleep_until(moment: Timestamp) {
    sleep(moment.since_ms(now())).await;
}

/// Waits for this many milliseconds.
pub async fn sleep(for_ms: u64) {
    Delay::from(Duration::from_millis(for_ms)).await;
}

/// Waits for an answer, for at most `limit_ms` milliseconds; `None` if it does not come in time.
pub async fn within<T>(limit_ms: u64, answer: impl Future<Output = Option<T>>) -> Option<T> {
    let limit = Delay::from(Duration::from_millis(limit_ms));
    match select(Box::pin(answer), Box::pin(limit)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => None,
    }
}

/// Does work beside the request that begins it.
pub fn detach(work: impl Future<Output = ()> + 'static) {
    spawn_local(work);
}
