/**
 * Reads what readers are sent to: links, headings, names in code spans and commands of the
 * documents that people read.
 */

import fs from "node:fs";
import path from "node:path";

import { ROOT } from "./worker-modules.mjs";

const AT_THE_TOP = ["README.md", "ARCHITECTURE.md", "SECURITY.md", "CHANGELOG.md"];
const ELSEWHERE = [
  "client/README.md",
  "examples/README.md",
  "examples/iframe/README.md",
  "tests/README.md",
];
/** A fence around a block, with its language behind the first. */
const FENCE = /^( *)```(\S*)$/;

/** The pages of the manual, by their path from the root. */
export const PAGES = fs
  .readdirSync(path.join(ROOT, "docs"))
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`);

/** All documents, each read once. */
export const DOCUMENTS = [...AT_THE_TOP, ...PAGES, ...ELSEWHERE].map((name) => read(name));

/**
 * Takes a document apart.
 *
 * @param {string} name its path from the root
 * @param {string} [text] what it says
 */
export function read(name, text = fs.readFileSync(path.join(ROOT, name), "utf8")) {
  const blocks = [];
  const prose = [];
  let open;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = FENCE.exec(line);
    if (fence && open) open = undefined;
    else if (fence) {
      open = { name, line: index + 2, language: fence[2], indent: fence[1].length, lines: [] };
      blocks.push(open);
    } else if (open) open.lines.push(line.slice(open.indent));
    else prose.push(line);
  }
  const told = prose.join("\n");
  const spans = [...told.matchAll(/(?<!`)`([^`]+)`(?!`)/g)];
  return {
    name,
    text,
    blocks,
    headings: prose.flatMap((line) => /^#+ (.+)$/.exec(line)?.[1] ?? []),
    // A link's text may be a code span, its address is none.
    links: [...told.matchAll(/\]\(([^)\s]+)\)/g)].map(([, address]) => address),
    addresses: [...told.matchAll(/\bhttps?:\/\/[^\s)<>"`|]*[\w/>]/g)].map(([address]) => address),
    spans: spans.map(([, span]) => span.replaceAll(/\s*\n\s*/g, " ")),
  };
}

/** The anchor that a heading gets: small letters, digits, `-` and `_`, other signs left out. */
export function anchor(heading) {
  const plain = heading.replaceAll(/[`*]|\[|\]\([^)]*\)/g, "").toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

/** The commands of all blocks for a shell: each with its block, joined where a line goes on. */
export function shellCommands() {
  return shellBlocks().flatMap((block) => commandsOf(block).map((text) => ({ block, text })));
}

/** The blocks that readers are to paste into a shell. */
export function shellBlocks() {
  return DOCUMENTS.flatMap(({ blocks }) => blocks).filter(({ language }) => language === "sh");
}

/** Splits a block into commands; a quoted text may go over several lines. */
export function commandsOf({ lines }) {
  const commands = [];
  let text = "";
  for (const line of lines) {
    text += `${text && "\n"}${line}`;
    const isWhole = !line.endsWith("\\") && text.split("'").length % 2 === 1;
    if (!isWhole) continue;
    const command = text.replaceAll(/\\\n\s*/g, "").replace(/\s+# .*$/, "").trim();
    if (command && !command.startsWith("#")) commands.push(command);
    text = "";
  }
  return commands;
}
