// The owner's cockpit: starts it in the page.
import { render } from "preact";

import { App } from "./app.jsx";

render(<App />, document.body);
