// The order in which rows or groups are told.

/** Orders by words like `datetimeMinute_ASC` and `max_totalActiveUsers_DESC`, the first first. */
export function ordered(found, words) {
  const keys = (words ?? []).map((word) => {
    const path = word.split("_");
    return { path, sign: path.pop() === "DESC" ? -1 : 1 };
  });
  const compare = (one, other) => {
    for (const { path, sign } of keys) {
      const [left, right] = [valueAt(one, path), valueAt(other, path)];
      if (left !== right) return left < right ? -sign : sign;
    }
    return 0;
  };
  return found.sort(compare);
}

/** The value of a row, of a group's dimension, or of an aggregate. */
function valueAt(found, [name, field]) {
  if (field) return found[name][field]() ?? -Infinity;
  return (found.dimensions ?? found)[name] ?? "";
}
