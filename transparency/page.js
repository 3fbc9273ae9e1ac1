// The verifier's page: reads the chosen files, lets the module check them, writes what it found.
import { check, initSync } from "../build/transparency/transparency.js";

const OWN_KEY = "The key is the one in the file: write the one that you trust above.";

const element = (id) => document.getElementById(id);

element("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    start();
    const [file] = await texts("sale");
    const [receipts, checkpoints] = [await texts("receipts"), await texts("checkpoints")];
    const key = element("key").value;
    show(JSON.parse(check(file, key, receipts, checkpoints)), key.trim() !== "");
  } catch (error) {
    const says = `Nothing was checked: ${error.message}`;
    element("report").replaceChildren(paragraph("verdict bad", says));
  }
});

let isStarted = false;

function start() {
  if (isStarted) return;
  const text = atob(element("module").textContent.trim());
  initSync({ module: Uint8Array.from(text, (letter) => letter.codePointAt(0)) });
  isStarted = true;
}

function texts(id) {
  return Promise.all([...element(id).files].map((file) => file.text()));
}

function show({ good, origin, size, checks }, hasKey) {
  const verdict = good ? "Everything that was checked is right." : "Not everything is right.";
  const list = document.createElement("dl");
  for (const { name, good: isGood, checked: isChecked, says } of checks) {
    const [head, body] = [document.createElement("dt"), document.createElement("dd")];
    if (isChecked) head.className = isGood ? "good" : "bad";
    const mark = document.createElement("b");
    mark.textContent = isChecked ? (isGood ? "right: " : "WRONG: ") : "not checked: ";
    head.append(mark, name);
    body.textContent = says;
    list.append(head, body);
  }
  element("report").replaceChildren(
    paragraph(good ? "verdict good" : "verdict bad", verdict),
    paragraph("", `${origin || "A log without a name"}, ${size} entries`),
    list,
    ...(hasKey ? [] : [paragraph("", OWN_KEY)]),
  );
}

function paragraph(name, text) {
  const made = document.createElement("p");
  made.className = name;
  made.textContent = text;
  return made;
}
