//! A rehearsal may play one of so many visitors: what it tells is what the whole would tell.

#![expect(clippy::expect_used, reason = "a plan that is refused must fail the test")]

use room_sim::rehearsal::{Outcome, Plan, rehearse};

/// A rush into a room for 4,800 with 1,200 a minute, of whom one of so many is played.
fn rush(one_in: u32) -> Outcome {
    let plan = Plan::read(&format!(
        r#"{{ "room": {{ "total_active_users": 4800, "new_users_per_minute": 1200 }},
             "visitors": 24000, "arrivals": {{ "preset": "flash_sale" }}, "one_in": {one_in} }}"#
    ));
    rehearse(&plan.expect("a plan"), &mut |_| ())
}

#[test]
fn a_sample_tells_what_the_whole_tells() {
    let [whole, sample] = [1, 4].map(rush);
    assert_eq!((whole.one_in, sample.one_in), (1, 4));
    let figures = |outcome: &Outcome| {
        [
            ("arrived", outcome.visitors.arrived as f64, 0.03),
            ("entered", outcome.visitors.entered as f64, 0.03),
            ("gave up", outcome.visitors.gave_up as f64, 0.1),
            ("half wait", outcome.queued_wait_s.median, 0.05),
            ("5 of 100 wait", outcome.queued_wait_s.p95, 0.05),
            ("last entry", outcome.last_entry_s, 0.05),
            ("longest line", f64::from(outcome.longest_line), 0.05),
            ("most inside", f64::from(outcome.most_inside), 0.01),
            ("page views", outcome.cost.page_views as f64, 0.05),
            ("calls", outcome.cost.calls as f64, 0.2),
        ]
    };
    for ((name, all, within), (_, of_sample, _)) in
        figures(&whole).into_iter().zip(figures(&sample))
    {
        let off = (of_sample / all - 1.0).abs();
        println!("{name}: {all} of all, {of_sample} by the sample, {:.1} % off", 100.0 * off);
        assert!(off <= within, "{name}: {of_sample} instead of {all}");
    }
    assert_eq!((sample.over_limit_unexplained, sample.over_rate), (0, 0));
    let entered: u64 = sample.minutes.iter().map(|one| one.entered).sum();
    assert_eq!(entered, sample.visitors.entered);
}
