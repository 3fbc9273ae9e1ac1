/** What owners write into the variables of the sign-in by Cloudflare Access, and what it means. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { access } from "../../scripts/doctor/settings.mjs";
import { accessHeaders } from "../../scripts/token.mjs";
import { rightsOf, settingsOf } from "../../src/access_roles.js";

const AUD = "32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228";
const ID = "0123456789abcdef0123456789abcdef";

test("a team is a name or an https address", () => {
  const check = (text, want) => {
    const { team, problems } = settingsOf({ ACCESS_TEAM: text, ACCESS_AUD: AUD });
    assert.equal(team, want, text);
    assert.equal(problems.length, want ? 0 : 1, text);
  };
  check("shop", "https://shop.cloudflareaccess.com");
  check(" Shop ", "https://shop.cloudflareaccess.com");
  check("shop.cloudflareaccess.com", "https://shop.cloudflareaccess.com");
  check("https://login.shop.example/", "https://login.shop.example");
  check("http://127.0.0.1:9999", "http://127.0.0.1:9999");
  check("http://localhost:9999", "http://localhost:9999");
  for (const wrong of ["", "http://shop.example", "ftp://shop.example", "https://a.example/x"]) {
    check(wrong, undefined);
  }
  for (const wrong of ["http://127.0.0.1.evil.example", "shop/../x", "https://a@b.example"]) {
    check(wrong, undefined);
  }
});

test("an audience is a tag, or several", () => {
  const check = (text, count, isRight) => {
    const { audiences, problems } = settingsOf({ ACCESS_TEAM: "shop", ACCESS_AUD: text });
    assert.deepEqual([audiences.length, problems.length === 0], [count, isRight], text);
  };
  check(AUD, 1, true);
  check(`${AUD}, ${"f".repeat(64)}`, 2, true);
  check("", 0, false);
  check("mine", 1, false);
});

test("the own entry counts, then the first group, then everybody's, then looking", () => {
  const all = {
    "anna@shop.example": { role: "manage", rooms: [ID] },
    "gone@shop.example": "none",
    "group:Ops": "admin",
    "group:Box": "steer",
    "token:x.access": "steer",
  };
  const check = (roles, person, want) => {
    const settings = settingsOf({ ACCESS_ROLES: JSON.stringify(roles) });
    const rights = rightsOf({ isService: false, groups: [], ...person }, settings.roles);
    assert.equal(rights?.role, want, JSON.stringify(person));
    return rights;
  };
  const anna = { name: "anna@shop.example", groups: ["Ops"] };
  assert.deepEqual(check(all, anna, "manage").rooms, [ID]);
  check(all, { name: "gone@shop.example", groups: ["Ops"] }, undefined);
  check(all, { name: "bert@shop.example", groups: ["Box", "Ops"] }, "admin");
  check(all, { name: "bert@shop.example", groups: ["ops", "Box"] }, "steer");
  check(all, { name: "bert@shop.example" }, "look");
  check({ ...all, "*": "none" }, { name: "bert@shop.example" }, undefined);
  check(all, { name: "x.access", isService: true }, "steer");
  // A person cannot be called as a program, nor a program or a group as a person.
  check(all, { name: "token:x.access" }, "look");
  check({ "group:a@b": "admin" }, { name: "group:a@b" }, "look");
  check({ "a@b": "admin" }, { name: "a@b", isService: true }, "look");
  for (const name of ["__proto__", "constructor", "toString"]) check({}, { name }, "look");
});

test("an entry that cannot be read gives nothing to whom it is for, and is named", () => {
  const look = (part) => ({ role: "look", ...part });
  const parts = [{ zone: ID }, { zones: [] }, { rooms: ["x"] }, { rooms: ID }];
  for (const wrong of ["root", "", 1, null, [], {}, ...parts.map(look)]) {
    const written = JSON.stringify({ "anna@shop.example": wrong, "*": "admin" });
    const set = { ACCESS_TEAM: "a", ACCESS_AUD: AUD, ACCESS_ROLES: written };
    const { roles, problems } = settingsOf(set);
    const told = ['ACCESS_ROLES: the entry "anna@shop.example" cannot be read'];
    assert.deepEqual(problems, told, written);
    const anna = { name: "anna@shop.example", isService: false, groups: [] };
    assert.equal(rightsOf(anna, roles), undefined, written);
  }
  for (const written of ["[]", "null", "1", "{", '"admin"']) {
    const { roles } = settingsOf({ ACCESS_ROLES: written });
    assert.equal(rightsOf({ name: "a@b", isService: false, groups: [] }, roles), undefined);
  }
});

test("a command shows its service token to hosts with https alone", () => {
  const given = { CF_ACCESS_CLIENT_ID: "id", CF_ACCESS_CLIENT_SECRET: "secret" };
  const headers = { "cf-access-client-id": "id", "cf-access-client-secret": "secret" };
  assert.deepEqual(accessHeaders(new URL("https://admin.example"), given), headers);
  assert.deepEqual(accessHeaders(new URL("http://localhost"), given), {});
  assert.deepEqual(accessHeaders(new URL("https://admin.example"), {}), {});
});

test("the doctor says whether Access can sign people in", () => {
  const check = (told, verdict, text) => {
    const [line] = access({ samples: [{ access: told }] });
    assert.equal(line.verdict, verdict, text);
    assert.ok(`${line.figure}: ${line.remedy}`.includes(text), `${line.figure}: ${line.remedy}`);
  };
  check({ problems: [], people: 2, keys: 2 }, "ok", "2 keys, 2 names in ACCESS_ROLES");
  check({ problems: ["ACCESS_AUD must be"], people: 0, keys: 2 }, "wrong", "must be. Until");
  const silent = { problems: [], people: 1, keys: 0 };
  check(silent, "wrong", "its keys cannot be read: Is ACCESS_TEAM");
  check({ ...silent, failed: "the status is 404" }, "wrong", "read: the status is 404");
  assert.deepEqual(access({ samples: [{ access: null }] }), []);
});
