//! How long something takes on this machine. In wasm there is no clock, and all takes no time.

use std::time::Duration;
#[cfg(not(target_arch = "wasm32"))]
use std::time::Instant;

/// The time since it was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    #[cfg(not(target_arch = "wasm32"))]
    started_at: Instant,
}

#[cfg(not(target_arch = "wasm32"))]
impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "it tells what something takes on this machine")]
    pub(crate) fn start() -> Self {
        Self { started_at: Instant::now() }
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.started_at.elapsed()
    }
}

#[cfg(target_arch = "wasm32")]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {}
    }

    pub(crate) fn elapsed(self) -> Duration {
        Duration::ZERO
    }
}
