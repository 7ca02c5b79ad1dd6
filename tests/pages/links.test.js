import assert from "node:assert/strict";
import { test } from "node:test";

import "./page.js";
import { loopbackNote } from "../../src/ordinate/server/static/copying.js";
import { othersNote } from "../../src/ordinate/server/static/owner-links.js";

test("a link that works on this computer only says so", () => {
  for (const host of ["127.0.0.1:8000", "localhost", "[::1]:8000", "127.1.2.3"])
    assert.match(loopbackNote(`http://${host}/join/study/x`)?.textContent ?? "", /^This link works on this computer only\./);
  for (const host of ["192.168.0.7:8000", "example.org", "localhost.example.org", "[2001:db8::1]"])
    assert.equal(loopbackNote(`https://${host}/join/study/x`), null);
});

test("whose link is revoked may have others", () => {
  assert.equal(othersNote([]), "");
  assert.equal(othersNote([{ annotator: "Olga", role: "owner" }]), " Olga still has 1 link: owner.");
});
