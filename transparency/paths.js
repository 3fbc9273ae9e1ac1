// The paths of tiles and bundles of entries, by c2sp.org/tlog-tiles.

const PATH = /^tile\/(entries|[0-5])\/((?:x\d{3}\/){0,3}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
/** Hashes of a tile, and entries of a bundle. */
export const WIDTH = 256;

/** Reads a path: `{ level, number, width }`; nothing for a text that is none. */
export function placeOf(path) {
  const [, level, digits, partial] = PATH.exec(path) ?? [];
  if (!level || digits.startsWith("x000/")) return undefined;
  const width = partial ? Number(partial) : WIDTH;
  if (partial && width >= WIDTH) return undefined;
  const number = Number(digits.replaceAll(/\D/g, ""));
  return { level: level === "entries" ? level : Number(level), number, width };
}

/** Writes the path of a tile or bundle. */
export function pathOf(level, number, width = WIDTH) {
  const digits = String(number).padStart(Math.ceil(String(number).length / 3) * 3, "0");
  const groups = digits.match(/\d{3}/g);
  const last = groups.pop();
  const partial = width < WIDTH ? `.p/${width}` : "";
  return `tile/${level}/${groups.map((group) => `x${group}/`).join("")}${last}${partial}`;
}

/** The paths of all bundles of entries of a log of this size, in their order. */
export function entriesOf(size) {
  const count = Math.ceil(size / WIDTH);
  return Array.from({ length: count }, (_, number) =>
    pathOf("entries", number, Math.min(WIDTH, size - number * WIDTH)),
  );
}
