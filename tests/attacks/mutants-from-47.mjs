/** The mitigations of rows 47 and later, each switched off: the third part of `mutants.mjs`. */

/** The changes, as in `mutants.mjs`. */
export const MUTANTS_FROM_47 = [
  {
    row: 47,
    breaks: "a signature is not looked at",
    file: "src/access.js",
    from: "check(await isSigned(key, bytesOf(signature), `${head}.${body}`), WRONG);",
    to: "check(await isSigned(key, bytesOf(signature), `${head}.${body}`) || true, WRONG);",
    test: "row 47: a token counts only if Access has signed it, for this application, for now",
  },
  {
    row: 47,
    breaks: "any audience counts",
    file: "src/access.js",
    from: 'check(isForUs && type === "app",',
    to: 'check(isForUs || type === "app",',
    test: "row 47: a token counts only if Access has signed it, for this application, for now",
  },
  {
    row: 47,
    breaks: "any team counts",
    file: "src/access.js",
    from: "check(iss === team,",
    to: 'check(iss !== "",',
    test: "row 47: a token counts only if Access has signed it, for this application, for now",
  },
  {
    row: 47,
    breaks: "a sign-in never ends",
    file: "src/access.js",
    from: "check(now < exp,",
    to: "check(now < exp || true,",
    test: "row 47: a sign-in that has ended, or of somebody taken off the list, is nothing",
  },
  {
    row: 47,
    breaks: "another site's page counts",
    file: "src/access.js",
    from: "check(isFromHere(request),",
    to: "check(isFromHere(request) || true,",
    test: "row 47: no page of another site changes or reads anything by a person's sign-in",
  },
  {
    row: 47,
    breaks: "who is on no list is in",
    file: "src/access_roles.js",
    from: "return rights.role === NOTHING ? undefined : rights;",
    to: 'return rights.role === NOTHING ? { role: "look" } : rights;',
    test: "row 47: a sign-in that has ended, or of somebody taken off the list, is nothing",
  },
  {
    row: 47,
    breaks: "each unknown key is asked for",
    file: "src/access_keys.js",
    from: "if (Date.now() >= known.askAt) await ask(team);",
    to: "await ask(team);",
    test: "row 47: Access silent, broken or flooded signs nobody in, and harms no token",
  },
  {
    row: 47,
    breaks: "keys count for ever",
    file: "src/access_keys.js",
    from: "return isKept(KEPT_MS) ? known.keys.get(kid) : undefined;",
    to: "return known.keys.get(kid);",
    test: "row 47: Access silent, broken or flooded signs nobody in, and harms no token",
  },
];
