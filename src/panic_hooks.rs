//! Ways for tests to break the instance on purpose. They are in builds with the feature
//! `panic-hook-tests` only, which a release build does not have.

use std::time::Duration;

use room_core::page::response::HttpResponse;
use room_core::visit::verdict::{Forward, Verdict};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};
use worker::{Delay, Env, Url};

/// Returns the verdict for a test path, and `None` for any other: `/__glance/panic` and
/// `/__glance/trap` break the instance here, `/__handle/...` and `/__object/...` ask for
/// [`handle`].
pub fn glance(url: &str) -> Option<(Verdict, bool)> {
    let url = Url::parse(url).ok()?;
    match url.path() {
        "/__glance/page" => Some((plain(202, "first\n\nsecond".to_owned()), false)),
        "/__glance/cookie" => {
            let set_cookie = Some("test=renewed; Path=/".to_owned());
            Some((Verdict::Forward(Forward { set_cookie, ..Forward::default() }), false))
        }
        "/__glance/after" => Some((Verdict::PASS, true)),
        path => match path.strip_prefix("/__glance/") {
            Some(what) => {
                break_instance(what);
                Some((Verdict::PASS, false))
            }
            None => path.starts_with("/__").then_some((Verdict::Handle, false)),
        },
    }
}

/// Breaks the instance for `/__handle/<what>` here, and for `/__object/<binding>/<what>` inside an
/// object of that binding; `None` for any other path.
pub async fn handle(url: &str, env: &Env) -> Option<Verdict> {
    let url = Url::parse(url).ok()?;
    let parts: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
    match parts.as_slice() {
        ["__handle", what] => {
            act(what).await;
            Some(Verdict::PASS)
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
            Some(plain(200, said))
        }
        _ => None,
    }
}

fn plain(status: u16, body: String) -> Verdict {
    let headers = vec![("content-type", "text/plain".to_owned())];
    Verdict::Respond(HttpResponse { status, headers, body })
}

/// Breaks or delays an object if its message is one of [`act`].
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

    /// Parses JSON. Declared without `catch` on purpose, so that its exception crosses the wasm.
    #[wasm_bindgen(js_namespace = JSON)]
    fn parse(text: &str) -> JsValue;
}

/// Breaks the instance as a termination by the platform does: its futures wait for a wake-up that
/// was lost.
#[wasm_bindgen(inline_js = "
export function lose_next_wake_up() {
  const { queueMicrotask } = globalThis;
  globalThis.queueMicrotask = () => { globalThis.queueMicrotask = queueMicrotask; };
}")]
extern "C" {
    fn lose_next_wake_up();
}
