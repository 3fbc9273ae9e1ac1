//! Ways for the tests to break the instance on purpose. In debug builds for tests alone; never in a
//! deployment (the release build does not know the feature).

use std::time::Duration;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::{Delay, Env, Url};

/// The verdict of the test path in `url`, if it is one: `/__glance/panic` and `/__glance/trap`
/// break here, `/__handle/...` and `/__object/...` ask for [`handle`].
pub fn glance(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    match url.path() {
        "/__glance/page" => Some("G202\ncontent-type: text/plain\n\nfirst\n\nsecond".to_owned()),
        "/__glance/cookie" => Some("Ctest=renewed; Path=/".to_owned()),
        "/__glance/after" => Some("p".to_owned()),
        path => match path.strip_prefix("/__glance/") {
            Some(what) => {
                break_instance(what);
                Some("P".to_owned())
            }
            None => path.starts_with("/__").then(|| "H".to_owned()),
        },
    }
}

/// `/__handle/<what>` breaks here, `/__object/<binding>/<what>` inside an object of that binding.
pub async fn handle(url: &str, env: &Env) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let parts: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["__handle", what] => {
            act(what).await;
            Some("P".to_owned())
        }
        ["__object", binding, what] => {
            let answer = match env.durable_object(binding).and_then(|all| all.get_by_name("test")) {
                Ok(stub) => stub.into_rpc::<TestStub>().call(what).await,
                Err(error) => Err(JsValue::from_str(&error.to_string())),
            };
            let said = match answer {
                Ok(text) => format!("object answered {}", text.as_string()?),
                Err(error) => format!("object failed: {error:?}"),
            };
            Some(format!("G200\ncontent-type: text/plain\n\n{said}"))
        }
        _ => None,
    }
}

/// What an object does with a message of [`act`]; others do nothing here.
pub async fn object(message: &str) {
    act(message).await;
}

/// Breaks or delays the caller: `panic`, `trap`, `throw`, `wedge`, `slow` (1 s), `hang` (for ever).
async fn act(what: &str) {
    match what {
        "slow" => Delay::from(Duration::from_secs(1)).await,
        "hang" => std::future::pending().await,
        _ => break_instance(what),
    }
}

#[expect(clippy::panic, reason = "the whole purpose of this file")]
fn break_instance(what: &str) {
    match what {
        "panic" => panic!("asked for by a test"),
        "throw" => drop(parse("no JSON")),
        "wedge" => lose_next_wake_up(),
        #[cfg(target_arch = "wasm32")]
        "trap" => core::arch::wasm32::unreachable(),
        _ => {}
    }
}

#[wasm_bindgen]
extern "C" {
    type TestStub;
    #[wasm_bindgen(method, catch)]
    async fn call(this: &TestStub, message: &str) -> Result<JsValue, JsValue>;

    /// Declared without `catch` on purpose: its exception crosses the wasm.
    #[wasm_bindgen(js_namespace = JSON)]
    fn parse(text: &str) -> JsValue;
}

/// Leaves the instance as a termination by the platform does: its futures wait for a wake-up that
/// was lost.
#[wasm_bindgen(inline_js = "
export function lose_next_wake_up() {
  const { queueMicrotask } = globalThis;
  globalThis.queueMicrotask = () => { globalThis.queueMicrotask = queueMicrotask; };
}")]
extern "C" {
    fn lose_next_wake_up();
}
