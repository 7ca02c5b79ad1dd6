import assert from "node:assert/strict";
import { test } from "node:test";

import { show as showPage } from "./page.js";
import { Refused } from "../../src/ordinate/server/static/api.js";
import * as messages from "../../src/ordinate/server/static/messages.js";

showPage(`<button id="choose">A</button><section id="message" tabindex="-1" hidden><h2 id="message-title"></h2>
  <div id="message-body"></div></section><button id="tie-button"></button><button id="skip-button"></button>`);
document.title = "Judging · photos · ordinate";
/** @param {string} id */
const find = (id) => /** @type {HTMLButtonElement} */ (document.getElementById(id));
/** @param {messages.Message} message */
const text = ([, body]) => body.map((node) => node.textContent).join(" ");

test("sentences begin with a capital and end with a full stop", () => {
  assert.equal(messages.sentence("this link was revoked"), "This link was revoked.");
  assert.equal(messages.sentence("Why?"), "Why?");
  assert.equal(messages.sentence("pics/items.csv: row 1 is empty"), "pics/items.csv: row 1 is empty.");
});

test("a message takes the place, the title and the focus, and gives the focus back", () => {
  find("choose").focus();
  messages.show(messages.paused());
  assert.equal(find("message").hidden, false);
  assert.equal(document.title, "The study is paused · photos · ordinate");
  assert.equal(document.activeElement, find("message"));
  assert.ok(find("tie-button").disabled);
  assert.equal(messages.hide(), find("choose"));
  assert.equal(document.title, "Judging · photos · ordinate");
  assert.ok(!find("tie-button").disabled && !find("skip-button").disabled);
});

test("a focus that is elsewhere stays there, and the same message again does not take it", () => {
  messages.show(messages.waitingForPairs());
  find("choose").focus();
  messages.show(messages.waitingForPairs());
  assert.equal(document.activeElement, find("choose"));
  assert.equal(messages.hide(), null);
});

test("the end says why, and whether there may be more", () => {
  const budget = messages.finished("budget", [], () => {});
  assert.match(text(budget), /all the answers that you were asked for/);
  assert.doesNotMatch(text(budget), /Look for more/);
  let asked = 0;
  const [, body] = messages.finished("exhausted", [], () => asked++);
  /** @type {HTMLElement} */ (body.at(-1)).click();
  assert.equal(asked, 1);
});

test("who is locked out learns what to do and what waits", () => {
  const [title, ...rest] = messages.stopped(new Refused(401, "this link was revoked"), 2);
  assert.equal(title, "Your link does not open this study any more");
  assert.match(text([title, ...rest]), /This link was revoked\. 2 answers wait in this browser/);
  assert.doesNotMatch(text(messages.stopped(new Refused(500, "no"), 0)), /wait in this browser/);
});

test("words of the server are text, not markup", () => {
  const [, body] = messages.busy("<img src=x onerror=alert(1)>");
  assert.equal(/** @type {Element} */ (body[0]).children.length, 0);
});

test("whoever sees pairs is told of pairs, not of queries and their numbers", () => {
  assert.equal(messages.ofPair("query 'c5b7d6-1' is answered already (left)"), "That pair is answered already (left).");
  assert.equal(messages.ofPair("query 'c5b7d6-1' was withdrawn; ask for another one"), "That pair was withdrawn.");
  assert.equal(messages.ofPair("unknown query 'x-1': this study never asked it"), "That pair is unknown: this study never asked it.");
  assert.equal(messages.ofPair("ties are no answer in this study"), "Ties are no answer in this study.");
});

test("a page whose session is gone says what happened and what to do, without words about headers", () => {
  const message = messages.stopped(new Refused(403, "another link was opened", undefined, "urn:ordinate:OtherSession"), 2);
  assert.equal(message[0], "Another link was opened in this browser");
  assert.match(text(message), /2 answers wait in this browser .* load the page again. To go on under your own name, open your own link again/);
});

test("once the time is over the page says so, and keeps what the owner has to say", () => {
  const closing = document.createElement("p");
  closing.textContent = "Collect your prize.";
  const message = messages.over([closing]);
  assert.equal(message[0], "The time for this study is over");
  assert.match(text(message), /stored. Thank you. Collect your prize. You may close this page/);
});

test("whoever is left out is thanked, and not sent round in circles", () => {
  const message = messages.stopped(new Refused(403, "the owner asks you for no more answers", undefined, "urn:ordinate:AnnotatorExcluded"), 0);
  assert.equal(message[0], "Thank you, that is all");
  assert.equal(text(message), "The owner asks you for no more answers. You may close this page. If you think that this is a mistake, ask the owner of the study.");
});
