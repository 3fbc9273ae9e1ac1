// Fields of forms: what the core's table says of each, or the cockpit where it has its own words.
import { ROOM_TABLE } from "./room_table.js";

/**
 * The fields of a room in this group of the table. `texts` has labels, help and more of some, by
 * name: they stand first, in this order. Others have a label made of the name, and the help of the
 * table.
 */
export function fieldsOf(group, texts) {
  const place = ({ name }) => [...Object.keys(texts), name].indexOf(name);
  const fields = ROOM_TABLE.filter((field) => field.group === group);
  fields.sort((one, other) => place(one) - place(other));
  return fields.map((field) => shownOf(field, texts));
}

/** The field of this name, likewise. */
export function fieldOf(name, texts) {
  return shownOf(ROOM_TABLE.find((field) => field.name === name), texts);
}

function shownOf({ group: _, values, ...field }, texts) {
  const { words = {}, ...text } = texts[field.name] ?? {};
  const options = values?.map((value) => ({ value, label: words[value] ?? value }));
  return { label: labelOf(field.name), ...field, ...(options && { options }), ...text };
}

function labelOf(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
