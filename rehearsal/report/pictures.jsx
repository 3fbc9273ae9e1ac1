// The pictures of a rehearsal, minute by minute: who is inside and waits, how long people wait by
// when they come, what they are told, what reaches the site. A table says the same.
import { Chart } from "../../cockpit/chart.jsx";
import { count, duration, moment } from "../../scripts/rehearse/answer.mjs";
import { bare } from "../../scripts/rehearse/columns.mjs";

const MINUTE_MS = 60_000;
const HEIGHT = 180;
/** In the table every so many minutes, so that it has no more rows than this. */
const ROWS_MAX = 60;

/** What each picture shows: its title, and of each line a label, a kind and a value of a minute. */
const PICTURES = [
  {
    title: "Inside",
    about: "visitors, and the limit",
    lines: [
      ["inside", "line", ({ inside }) => inside],
      ["the limit", "limit", (_, { limits }) => limits.total_active_users],
    ],
  },
  { title: "Waiting", about: "visitors", lines: [["waiting", "line", ({ waiting }) => waiting]] },
  {
    title: "How long people wait",
    about: "minutes, by when they come",
    lines: [
      ["half of them at most", "line", (minute) => inMinutes(minute.wait_median_s)],
      ["90 of 100 at most", "promised", (minute) => inMinutes(minute.wait_p90_s)],
    ],
  },
  {
    title: "The first shown wait",
    about: "minutes, by when they come",
    lines: [
      ["shown", "promised", (minute) => inMinutes(minute.told_s)],
      ["true", "line", (minute) => inMinutes(minute.told_true_s)],
    ],
  },
  {
    title: "Who comes and who enters",
    about: "visitors a minute",
    lines: [
      ["come", "before", ({ arrived }) => arrived],
      ["enter", "line", ({ entered }) => entered],
      ["the limit", "limit", (_, { limits }) => limits.new_users_per_minute],
    ],
  },
  {
    title: "What reaches your site",
    about: "pages a second",
    lines: [["pages", "line", ({ pages }) => pages / 60]],
  },
];

/** Each column of the table: its head, and its cell for a minute. */
const COLUMNS = [
  ["come", ({ arrived }) => count(arrived)],
  ["enter", ({ entered }) => count(entered)],
  ["inside", ({ inside }) => count(inside)],
  ["waiting", ({ waiting }) => count(waiting)],
  ["half wait over", (minute) => inWords(minute.wait_median_s)],
  ["told", (minute) => inWords(minute.told_s)],
  ["pages", ({ pages }) => count(pages)],
];

/** Draws all of them for one outcome. */
export function Pictures({ plan, outcome }) {
  const { minutes } = outcome;
  const from = beginOf(plan);
  const until = from + minutes.length * MINUTE_MS;
  const at = minutes.map((_, index) => from + index * MINUTE_MS);
  return (
    <>
      {PICTURES.map(({ title, about, lines }) => (
        <Chart
          title={title}
          about={about}
          height={HEIGHT}
          from={from}
          until={until}
          marks={[]}
          series={lines.map(([label, kind]) => ({ label, kind }))}
          data={[at, ...lines.map(([, , of]) => minutes.map((minute) => of(minute, outcome)))]}
        />
      ))}
      <Table plan={plan} minutes={minutes} />
    </>
  );
}

function Table({ plan, minutes }) {
  const every = Math.ceil(minutes.length / ROWS_MAX);
  const rows = minutes
    .map((minute, at) => ({ ...minute, at }))
    .filter(({ at }) => at % every === 0);
  return (
    <details>
      <summary>The figures of {every === 1 ? "every minute" : `every ${every} minutes`}</summary>
      <div class="wide">
        <table>
          <thead>
            <tr>
              <td />
              {COLUMNS.map(([head]) => (
                <th scope="col">{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row">{bare(moment(plan, row.at * 60))}</th>
                {COLUMNS.map(([head, cell]) => (
                  <td data-label={head}>{cell(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The first minute as a moment in this browser's zone, so that its clock says the same. */
function beginOf({ begins_at }) {
  const [hours, minutes] = (begins_at ?? "00:00").split(":").map(Number);
  return new Date(2_000, 0, 1, hours, minutes).getTime();
}

const inWords = (seconds) => (seconds === null ? "" : duration(seconds));
const inMinutes = (seconds) => (seconds === null ? null : seconds / 60);
