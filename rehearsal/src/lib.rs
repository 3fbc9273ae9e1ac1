//! The rehearsal of an event for Node and browsers: a plan in JSON in, its outcome in JSON out.
//!
//! Built by `cargo run -p xtask -- rehearsal`. Everything is decided in `room_sim::rehearsal`.

use room_sim::rehearsal::{Plan, Wrong};
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A JavaScript object that receives the progress of a rehearsal.
    pub type Progress;

    /// Reports the completed part, 0 to 1.
    #[wasm_bindgen(method)]
    fn tell(this: &Progress, part: f64);
}

/// Makes a panic report its place.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
}

/// Plays a plan (JSON) to its end and returns its outcome (JSON). Errors: what is wrong with the
/// plan, a line for each field.
#[wasm_bindgen]
pub fn rehearse(plan: &str, progress: &Progress) -> Result<String, JsError> {
    let plan = read(plan)?;
    let outcome = room_sim::rehearsal::rehearse(&plan, &mut |part| progress.tell(part));
    Ok(serde_json::to_string(&outcome)?)
}

/// Reads a plan (JSON) and returns how many visitors it expects, and how many of them are played:
/// `[expected, played]`. Errors: as of [`rehearse`].
#[wasm_bindgen]
pub fn check(plan: &str) -> Result<Vec<f64>, JsError> {
    let plan = read(plan)?;
    Ok(vec![plan.visitors(), plan.played()])
}

fn read(plan: &str) -> Result<Plan, JsError> {
    Plan::read(plan).map_err(|wrong| {
        let lines: Vec<String> = wrong.iter().map(Wrong::to_string).collect();
        JsError::new(&lines.join("\n"))
    })
}
