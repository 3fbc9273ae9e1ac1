//! The only place that reads the clock, draws entropy and sleeps. Knows nothing of rooms.

use std::future::Future;
use std::time::Duration;

use futures_util::future::{Either, select};
use room_core::time::Timestamp;
use worker::Delay;

/// The time now. Deployed, it stands still between two waits; so read it again after each.
#[expect(clippy::disallowed_methods, reason = "the one place that may read the clock")]
pub fn now() -> Timestamp {
    Timestamp(worker::Date::now().as_millis())
}

/// Random bytes from the platform's generator.
#[expect(clippy::disallowed_methods, reason = "the one place that may draw entropy")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
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
