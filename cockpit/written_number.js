// Reads a number as somebody has written it into a form.

/** Digits, and at most two behind a point: with three it is 5000 to many, and 5 to others. */
const NUMBER = /^\d+(\.\d{1,2})?$/;

/** Returns the number in `text`; `undefined` if it can be read in more than one way, or is none. */
export function writtenNumber(text) {
  const written = String(text).trim();
  return NUMBER.test(written) ? Number(written) : undefined;
}

/** The same for the field `name` of a form: throws what the form tells at that field. */
export function numberOf(text, name) {
  const number = writtenNumber(text);
  if (number !== undefined) return number;
  const message = `must be written without points or commas between thousands, like 5000`;
  throw Object.assign(new Error(), { errors: [{ field: name, message }] });
}
