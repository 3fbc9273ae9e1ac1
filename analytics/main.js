// Answers questions in GraphQL about what happened in rooms, by the names of Cloudflare's datasets.
// It is a module of its own that the Worker loads with the first question: no visit ever needs it.
import {
  VariablesInAllowedPositionRule,
  execute,
  parse,
  specifiedRules,
  validate,
} from "graphql";

import { Ledger } from "./ledger.js";
import { resolvers, schema } from "./schema.js";

/** The most words and signs in a question: a client's introspection has about 300. */
const TOKENS_MAX = 1_000;
/** The most mistakes that are told at once. */
const MISTAKES_MAX = 10;
/**
 * All that the specification demands, but that a variable's type is the very one of where it
 * stands: clients of Cloudflare write `String!` where its schema has `string`.
 */
const RULES = specifiedRules.filter((rule) => rule !== VariablesInAllowedPositionRule);

/**
 * Answers one question: an object with `data` and `errors`, one of them `null` unless only a part
 * failed, to be written as JSON. `rooms` are all rooms as the API tells them, and `read(path)`
 * returns the `result` of a call of the API.
 */
export async function answer(question, rooms, read) {
  const { data = null, errors } = await executed(question, rooms, read);
  return { data, errors: errors ? errors.map(told) : null };
}

/** An error in the form in which Cloudflare's clients look for it. */
function told({ message, path = null, extensions }) {
  return { message, path, extensions: { ...extensions, timestamp: new Date().toISOString() } };
}

async function executed({ query, variables, operationName }, rooms, read) {
  let document;
  try {
    document = parse(query, { maxTokens: TOKENS_MAX, noLocation: true });
  } catch (error) {
    return { errors: [error] };
  }
  const mistakes = validate(schema, document, RULES, { maxErrors: MISTAKES_MAX });
  if (mistakes.length > 0) return { errors: mistakes };
  return execute({
    schema,
    document,
    rootValue: resolvers,
    contextValue: new Ledger(rooms, read),
    variableValues: variables ?? undefined,
    operationName: operationName ?? undefined,
  });
}
