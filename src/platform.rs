//! The only place that reads the clock, draws entropy and sleeps. Knows nothing of rooms.

use std::cell::RefCell;
use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use room_core::time::Timestamp;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::Delay;

thread_local! {
    /// Random bytes that nobody has been given.
    static POOL: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes asked of the platform at once: one question costs as much as opening a ticket.
const POOL_BYTES: usize = 1_024;

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since the Unix epoch; making a `Date` for them costs twenty times as much.
    #[wasm_bindgen(js_namespace = Date, js_name = now)]
    fn date_now() -> f64;
}

/// The time now. Deployed, it stands still between two waits; so read it again after each.
pub fn now() -> Timestamp {
    Timestamp(date_now() as u64)
}

/// Random bytes from the platform's generator, given to nobody else.
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
        // A ticket from a known nonce would be worse than no instance: the entry rebuilds it.
        wasm_bindgen::throw_str(&format!("no entropy: {error}"));
    }
    bytes
}

/// A random number, for the names of lives.
pub fn random_number() -> u64 {
    u64::from_be_bytes(random())
}

/// Waits until a moment.
pub async fn sleep_until(moment: Timestamp) {
    Delay::from(Duration::from_millis(moment.since_ms(now()))).await;
}

/// The answer, or `None` if it does not come in time.
pub async fn within<T>(limit_ms: u64, answer: impl Future<Output = Option<T>>) -> Option<T> {
    let limit = Delay::from(Duration::from_millis(limit_ms));
    match select(Box::pin(answer), Box::pin(limit)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => None,
    }
}
