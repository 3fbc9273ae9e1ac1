// The limits of a rehearsal beside each other, in the cockpit and in its report.
import { limitsText } from "../scripts/rehearse/answer.mjs";
import { ABOUT_WAITS, COLUMNS } from "../scripts/rehearse/columns.mjs";

export function RehearsedLimits({ plan, plays }) {
  return (
    <>
      <h2>Limits beside each other</h2>
      <table class="rehearsed">
        <thead>
          <tr>
            <th scope="col">limits</th>
            {COLUMNS.map(([head]) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {plays.map((play) => (
            <tr>
              <th scope="row">{limitsText(play.outcome.limits)}</th>
              {COLUMNS.map(([head, cell]) => (
                <td data-label={head}>{cell(play, plan)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="soft small">{ABOUT_WAITS}</p>
    </>
  );
}
