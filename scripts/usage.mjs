// Reads what stands behind a command. Prints its usage, and ends it, if somebody asks for that or
// writes what it does not know.
import { parseArgs } from "node:util";

/**
 * Returns the `values` of these options of `parseArgs`, and the `positionals`, of which the command
 * takes `most`.
 */
export function parametersOf(usage, options, most = 0) {
  const help = { type: "boolean", short: "h", default: false };
  const given = read({ options: { ...options, help }, allowPositionals: most > 0 });
  if (given?.values.help) {
    console.log(usage);
    process.exit(0);
  }
  if (given && given.positionals.length <= most) return given;
  console.error(usage);
  return process.exit(1);
}

function read(description) {
  try {
    return parseArgs(description);
  } catch {
    // The usage says it better.
  }
}
