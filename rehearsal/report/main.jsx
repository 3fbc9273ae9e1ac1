// The report of a rehearsal: one page that needs nothing else. It shows what stands in it as JSON.
import { render } from "preact";

import { Report } from "./report.jsx";

const { textContent } = document.getElementById("rehearsal");
const rehearsal = JSON.parse(textContent);
document.title = rehearsal.plan.title || "Rehearsal";
const place = document.getElementById("report");
place.replaceChildren();
render(<Report of={rehearsal} />, place);
