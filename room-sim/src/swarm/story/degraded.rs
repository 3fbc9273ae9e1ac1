//! The faults of a story in which something works only partly for a while: reports that do not
//! arrive, a storage that takes nothing, clocks that are wrong, old code beside new. Nothing runs
//! here.

use room_core::base::time::SECOND_MS;

use super::Part;
use super::faults::{FIRST_S, LAST_S, one};
use crate::chance::Stream;
use crate::scenario::{Clocks, Code, Fault, ReportWay, Writes};

/// The most such faults of a story. Many stories have none.
const FAULTS_MAX: u64 = 4;
/// The number of data centers whose isolates may be cut off: the largest ones.
const CUT_MAX: u64 = 3;
/// The farthest jump of a clock, in milliseconds, back and forth.
const JUMP_MS_MAX: u64 = 5_000;
/// How far an object's clock may be behind for a while, in milliseconds.
const BEHIND_MS_MAX: u64 = 600_000;
/// The largest difference to which clocks of one data center may be set, in milliseconds.
const APART_MS_MAX: u64 = 1_000;
/// The steps of a drifting clock, one second apart.
const DRIFT_STEPS: i64 = 50;

/// Draws such faults, in order of time.
pub(super) fn draw(stream: &mut Stream) -> Vec<Part> {
    let count = if stream.happens(0.4) { 0 } else { stream.between(1, FAULTS_MAX) };
    let mut moments: Vec<u64> = (0..count).map(|_| stream.between(FIRST_S, LAST_S)).collect();
    moments.sort_unstable();
    let mut parts: Vec<Part> = moments.into_iter().map(|at_s| fault(stream, at_s)).collect();
    // Drawn last, so that the others of a seed stay the same.
    if stream.happens(0.2) {
        parts.push(objects_behind(stream));
    }
    parts
}

fn fault(stream: &mut Stream, at_s: u64) -> Part {
    match stream.between(0, 7) {
        0..=2 => cut(stream, at_s),
        3 => storage(stream, at_s),
        4 | 5 => clocks(stream, at_s),
        _ => code(stream, at_s),
    }
}

/// Cuts isolates from their aggregator, which still syncs.
fn cut(stream: &mut Stream, at_s: u64) -> Part {
    let data_center = stream.between(0, CUT_MAX - 1) as usize;
    let every = stream.between(1, 4) as usize;
    let lasts_s = stream.between(5, 180);
    let way = match stream.between(0, 3) {
        0 | 1 => ReportWay::Lost,
        2 => ReportWay::Unanswered,
        _ => ReportWay::Slow(stream.between(100, 10_000)),
    };
    let fault = |every, way| Fault::Reports { data_center, every, way, and_global: false };
    let text = format!(
        "each isolate of {every} in data center {data_center} reports in vain for {lasts_s} s: \
         {way:?}"
    );
    let ends = fault(1, ReportWay::Open);
    one(at_s, &text, vec![(0, fault(every, way)), (lasts_s, ends)])
}

fn storage(stream: &mut Stream, at_s: u64) -> Part {
    let lasts_s = stream.between(2, 120);
    let writes = if stream.happens(0.7) { Writes::Fail } else { Writes::Pretend };
    let text = format!("the storage fails for {lasts_s} s: {writes:?}");
    let (begins, ends) = (Fault::Storage(writes), Fault::Storage(Writes::Work));
    one(at_s, &text, vec![(0, begins), (lasts_s, ends)])
}

fn clocks(stream: &mut Stream, at_s: u64) -> Part {
    if stream.happens(0.3) {
        let apart_ms = stream.between(1, APART_MS_MAX);
        let text = format!("at {at_s} s each clock is set anew, {apart_ms} ms apart");
        return Part::new(text, move |draft| {
            draft.has_faults = true;
            let conditions = &mut draft.scenario.network_conditions;
            conditions.skew_ms = conditions.skew_ms.max(apart_ms);
            draft.scenario.faults.push((at_s * SECOND_MS, Fault::SetClocks));
        });
    }
    let every = stream.between(1, 4) as usize;
    let of = if stream.happens(0.4) { Clocks::Global } else { Clocks::DataCenters(every) };
    let size_ms = stream.between(1, JUMP_MS_MAX).cast_signed();
    let by_ms = if stream.happens(0.5) { size_ms } else { -size_ms };
    if stream.happens(0.5) {
        let text = format!("clocks jump by {by_ms} ms: {of:?}");
        return one(at_s, &text, vec![(0, Fault::Clocks { of, by_ms })]);
    }
    let step = Fault::Clocks { of, by_ms: by_ms / DRIFT_STEPS };
    let text = format!("clocks drift by {by_ms} ms in {DRIFT_STEPS} s: {of:?}");
    one(at_s, &text, (0..DRIFT_STEPS.cast_unsigned()).map(|after_s| (after_s, step)).collect())
}

/// Clocks of objects are behind for a while, those of isolates are not. They are set right before
/// the story ends.
fn objects_behind(stream: &mut Stream) -> Part {
    let drawn_s = stream.between(FIRST_S, LAST_S);
    let every = stream.between(1, 4) as usize;
    let of = if stream.happens(0.4) { Clocks::Global } else { Clocks::DataCenters(every) };
    let behind_ms = stream.between(SECOND_MS, BEHIND_MS_MAX).cast_signed();
    let lasts_s = stream.between(5, 60);
    let at_s = drawn_s.min(LAST_S - lasts_s);
    let text = format!("objects' clocks are {behind_ms} ms behind for {lasts_s} s: {of:?}");
    let jump = |by_ms| Fault::ObjectClocks { of, by_ms };
    one(at_s, &text, vec![(0, jump(-behind_ms)), (lasts_s, jump(behind_ms))])
}

/// The version before runs beside the present one.
fn code(stream: &mut Stream, at_s: u64) -> Part {
    let every = stream.between(1, 3) as usize;
    let lasts_s = stream.between(20, 300);
    let of = match stream.between(0, 2) {
        0 => Code::Global,
        1 => Code::DataCenters(every),
        _ => Code::Isolates(every),
    };
    let text = format!("the code of before runs for {lasts_s} s: {of:?}");
    let code = |is_before| Fault::Code { of, is_before };
    one(at_s, &text, vec![(0, code(true)), (lasts_s, code(false))])
}
