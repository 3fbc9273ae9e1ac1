//! A room's history in the API: which part is asked for, and the answer as JSON or CSV.

use serde_json::json;

use super::reply::{Failure, Reply, ReplyError};
use crate::base::time::{MINUTE_MS, Timestamp};
use crate::capacity::facts;
use crate::machines::history::{KEPT_MINUTES, NAMES, Period, Span};

/// The default length of the history in minutes: the last day.
const USUAL_MINUTES: u64 = 24 * 60;
/// The most rows in one answer.
const ROWS_MAX: u64 = 3_000;
/// The parameters. An empty query has one without a name.
const PARAMETERS: [&str; 5] = ["from", "until", "resolution", "format", ""];
/// The most characters of an unknown name that an error repeats.
const NAME_CHARACTERS_MAX: usize = 40;

/// Reads the query of a URL: `from` and `until` (ISO 8601; the last day without them), `resolution`
/// (`minute`, `quarter` or `hour`; by default the finest that fits) and `format` (`csv`, or JSON).
///
/// Errors: an unknown parameter, an invalid value, an end before the beginning, or more rows than
/// an answer holds.
pub fn history_query(query: &str, now: Timestamp) -> Result<Period, Failure> {
    check_names(query, &PARAMETERS, "is none of from, until, resolution and format")?;
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(found, value)| (found == name).then_some(value))
    };
    let moment = |name: &str, otherwise: u64| match value(name) {
        None => Ok(otherwise),
        Some(text) => text
            .replace("%3A", ":")
            .replace("%3a", ":")
            .parse::<Timestamp>()
            .map(facts::minute)
            .map_err(|problem| refused(name, &problem.to_string())),
    };
    let until = moment("until", facts::minute(now) + 1)?.min(facts::minute(now) + 1);
    let from = moment("from", until.saturating_sub(USUAL_MINUTES))?;
    if from > until {
        return Err(refused("from", "must be before until, and not later than now"));
    }
    let from = from.max(until.saturating_sub(KEPT_MINUTES));
    let fits = |span: &Span| (until - from) / span.minutes() <= ROWS_MAX;
    let span = match value("resolution") {
        None => Span::ALL.into_iter().find(fits).unwrap_or(Span::Hour),
        Some(name) => Span::ALL
            .into_iter()
            .find(|span| span.name() == name)
            .ok_or_else(|| refused("resolution", "must be minute, quarter or hour"))?,
    };
    if !fits(&span) {
        let rule = "must be coarser, or the range shorter: an answer has at most 3000 rows";
        return Err(refused("resolution", rule));
    }
    let is_csv = match value("format") {
        None | Some("json") => false,
        Some("csv") => true,
        Some(_) => return Err(refused("format", "must be json or csv")),
    };
    Ok(Period { from: span.start(from), until, span, is_csv })
}

/// Writes the JSON answer around `rows`, which are JSON. It has the names of the columns once, and
/// rows of values, with `null` for what was not measured.
pub fn history_reply(period: Period, rows: &str) -> Reply {
    let Period { from, until, span, .. } = period;
    let result = json!({
        "from": moment(from),
        "until": moment(until),
        "resolution": span.name(),
        "columns": NAMES.as_slice(),
        "rows": [],
    });
    let Reply { status, body } = Reply::success(result, &[]);
    Reply { status, body: body.replacen("\"rows\":[]", &format!("\"rows\":{rows}"), 1) }
}

fn moment(minute: u64) -> String {
    Timestamp(minute * MINUTE_MS).to_iso8601()
}

/// Refuses a query with a parameter that is not in `known`; `rule` says what is allowed.
pub(super) fn check_names(query: &str, known: &[&str], rule: &str) -> Result<(), Failure> {
    let mut names = query.split('&').map(|pair| pair.split('=').next().unwrap_or_default());
    names.find(|name| !known.contains(name)).map_or(Ok(()), |unknown| {
        Err(refused(&unknown.chars().take(NAME_CHARACTERS_MAX).collect::<String>(), rule))
    })
}

/// Refuses an invalid value of a parameter.
pub(super) fn refused(name: &str, rule: &str) -> Failure {
    let message = format!("The parameter {name} {rule}.");
    let error = ReplyError { code: 1_103, message, pointer: Some(format!("/{name}")) };
    Failure::of(400, vec![error])
}

#[cfg(test)]
mod tests {
    use super::{history_query, history_reply};
    use crate::base::time::Timestamp;
    use crate::machines::history::Span;

    /// A minute and a half after the hour.
    const NOW: Timestamp = Timestamp(1_795_255_290_000);
    const MINUTE: u64 = NOW.0 / 60_000;

    #[test]
    fn the_part_is_the_last_day_or_what_is_asked_for() {
        let check = |query: &str, want: (u64, u64, Span)| {
            let asked = history_query(query, NOW).expect("a query");
            assert_eq!(
                (MINUTE - asked.from, MINUTE + 1 - asked.until, asked.span),
                want,
                "{query}"
            );
        };
        let day = 24 * 60;
        check("", (day - 1, 0, Span::Minute));
        check("resolution=hour", (day + 1, 0, Span::Hour));
        check("from=2026-11-21T09:00:00Z", (61, 0, Span::Minute));
    }

    #[test]
    fn what_cannot_be_answered_is_refused_with_its_name() {
        let check = |query: &str, want: &str| {
            let failure = history_query(query, NOW).expect_err(query);
            assert_eq!(failure.errors[0].pointer.as_deref(), Some(want), "{query}");
        };
        check("from=yesterday", "/from");
        check("until=1", "/until");
        check("resolution=day", "/resolution");
        check("format=xml", "/format");
        check("since=2026-11-21T09:00:00Z", "/since");
        check("from=2026-11-21T09:00:00Z&until=2026-11-21T08:59:00Z", "/from");
        check("from=2027-11-21T09:00:00Z", "/from");
        check("from=2027-11-21T09:00:00Z&until=2027-11-21T10:00:00Z", "/from");
        check("from=2026-10-25T10:00:00Z&resolution=minute", "/resolution");
    }

    #[test]
    fn the_rows_stand_in_the_envelope() {
        let period = history_query("resolution=hour", NOW).expect("a query");
        let body = history_reply(period, "[[\"2026\",1,null]]").body;
        let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["result"]["rows"], serde_json::json!([["2026", 1, null]]));
        assert_eq!(body["result"]["resolution"], "hour");
        assert_eq!(body["result"]["columns"][0], "datetime");
        assert_eq!(body["success"], true);
    }
}
