/** Draws a CPU profile of V8 as a flame graph: an SVG that any browser shows. */

const WIDTH = 1_600;
const ROW = 17;
/** Narrower boxes are left out, in pixels. */
const NARROWEST = 1;
const LETTER = 6.6;
const COLOURS = { wasm: "#c9b3e6", script: "#f3c98b", native: "#a9d3a1" };

/**
 * Returns the flame graph of a profile; what is idle is left out.
 *
 * @param {object} profile what `Profiler.stop` returns
 * @param {string} title
 */
export function flameGraph({ nodes, samples, timeDeltas }, title) {
  const byId = new Map(nodes.map((node) => [node.id, { ...node, us: 0 }]));
  samples.forEach((id, at) => (byId.get(id).us += timeDeltas[at]));
  for (const node of byId.values()) {
    node.below = (node.children ?? []).map((id) => byId.get(id));
    if (node.callFrame.functionName === "(idle)") node.us = 0;
  }
  const root = byId.get(nodes[0].id);
  const total = add(root);
  const boxes = [];
  draw(root, { x: 0, depth: 0, scale: WIDTH / total }, boxes);
  const height = (2 + Math.max(...boxes.map(({ depth }) => depth))) * ROW;
  const shapes = boxes.map((box) => shape(box, total)).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}"
 font-family="monospace" font-size="11"><text x="4" y="12">${escaped(title)}</text>
${shapes}
</svg>
`;
}

/** Adds up the time of a node and of all that it calls. */
function add(node) {
  node.total = node.us + node.below.reduce((sum, one) => sum + add(one), 0);
  return node.total;
}

function draw(node, { x, depth, scale }, boxes) {
  const width = node.total * scale;
  if (width < NARROWEST) return;
  boxes.push({ x, depth, width, total: node.total, ...node.callFrame });
  let from = x;
  for (const one of node.below.sort((a, b) => b.total - a.total)) {
    draw(one, { x: from, depth: depth + 1, scale }, boxes);
    from += one.total * scale;
  }
}

function shape({ x, depth, width, total, functionName, url }, all) {
  const name = functionName || "(between functions)";
  const kind = url.startsWith("wasm:") ? "wasm" : url ? "script" : "native";
  const y = (depth + 1) * ROW;
  const text = escaped(name.slice(0, Math.floor(width / LETTER)));
  const share = ((100 * total) / all).toFixed(1);
  return (
    `<g><title>${escaped(name)}: ${share} %</title><rect x="${x.toFixed(1)}" y="${y}" ` +
    `width="${width.toFixed(1)}" height="${ROW - 1}" fill="${COLOURS[kind]}"/>` +
    `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${text}</text></g>`
  );
}

function escaped(text) {
  return text.replace(/[&<>]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[one]);
}
