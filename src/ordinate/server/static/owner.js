// The owner's page: how far the study is, what it has found, who takes part, and what the owner may change.

import { connect, Refused } from "./api.js";
import { attempt, attemptAgain } from "./attempt.js";
import { deadlineInWords, doubt, drawChart, errorInShort, errorInWords, errorTable, forecastInWords, upToNow } from "./chart.js";
import { byId, count, make, setText } from "./dom.js";
import { sentence, setTitle } from "./messages.js";
import { Checks } from "./owner-checks.js";
import { History } from "./owner-history.js";
import { Links } from "./owner-links.js";
import { OrderingList } from "./owner-ordering.js";
import { People } from "./owner-people.js";
import { Rules } from "./owner-rules.js";

/** @typedef {typeof page} Page what the parts of the page share */
/** @typedef {{not_loaded: {item: string, skips: number}[], very_fast: import("./owner-people.js").VeryFast}} Warnings */

const EVERY = 5000; // between looks at the study where nothing tells of changes, in milliseconds
const SELDOM = 30_000; // between looks where something does
const AT_MOST = 1000; // between looks, however much changes

const { study = "", csrf = "", role = "" } = byId("app").dataset;
const api = connect({ study, csrf });
/** @param {string} words for those who listen */
const announce = (words) => setText(byId("live"), words);

/** Resolves to whether the owner means it. @param {string} title @param {string} words @param {string} yes */
async function sure(title, words, yes) {
  const dialog = byId("sure", HTMLDialogElement);
  byId("sure-title").textContent = title;
  byId("sure-words").textContent = words;
  byId("sure-yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes";
}

const page = { api, attempt, attemptAgain, sure, announce, look };
const ordering = new OrderingList(page);
const people = new People(page);
const links = new Links(page);
new History(page);
new Checks(page);
const rules = new Rules(page, showPaused);
/** @type {string | null} the basis of the ordering on the page */
let basisShown = null;
let basisNow = "";

/** @param {boolean} paused */
function showPaused(paused) {
  const pause = byId("pause", HTMLButtonElement);
  pause.disabled = false;
  pause.textContent = paused ? "Continue" : "Pause";
  pause.dataset.paused = paused ? "yes" : "";
}

byId("pause").addEventListener("click", async () => {
  const paused = !byId("pause").dataset.paused;
  await attempt(async () => {
    await api.patch("/rules", { paused });
    announce(paused ? "The study is paused." : "The study goes on.");
    await look();
  });
});
byId("theme").addEventListener("click", () => announce(/** @type {any} */ (globalThis).switchTheme() === "dark" ? "Dark" : "Light"));

async function look() {
  /** @type {import("./api.js").Status} */
  const status = await api.get("");
  const { answers, basis, goal, items, open, better_than_coins: better, paused } = status;
  const [history, doubtful] = [upToNow(status), doubt(status)];
  basisNow = basis;
  showPaused(paused);
  setText(byId("problem"), status.problem ? sentence(status.problem) : "");
  setText(byId("state"), status.state_in_words);
  setTitle(status.state === "running" ? "Results" : `Results (${status.state})`);
  byId("state").classList.toggle("quietly", paused);
  const figures = [
    ["Answers", goal === null ? answers.toLocaleString("en") : `${answers.toLocaleString("en")} of ${goal.toLocaleString("en")}`],
    ["In the last hour", (status.last_hour ?? 0).toLocaleString("en")],
    ["Items", items.toLocaleString("en")],
    ["Pairs being judged", open.toLocaleString("en")],
    ["Expected error", errorInShort(status)],
  ];
  byId("figures").replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("chart").replaceChildren(...(history.length > 1 ? [drawChart(history, goal)] : []));
  setText(byId("chart-words"), doubtful ? `The expected error is withheld: ${doubtful}. The checks of the answers, below, say what to do.` : errorInWords(history, better));
  setText(byId("ranks-doubt"), doubtful ? "The likely ranks may be too narrow: a check failed that they presume." : "");
  setText(byId("forecast-words"), forecastInWords(status.forecast, better));
  setText(byId("deadline-words"), deadlineInWords(status));
  byId("chart-numbers").hidden = history.length < 2;
  if (history.length > 1) byId("chart-table").replaceChildren(errorTable(history));
  /** @type {Warnings} */
  const warnings = await api.get("/warnings");
  showNotLoaded(warnings.not_loaded);
  await people.look(warnings.very_fast, status);
  // Where all answers are left out, this is where they are taken in again.
  const any = answers > 0 || people.haveAnswered;
  ordering.showAny(any);
  if (any && basisShown !== basis && (await ordering.look(basisShown === null))) basisShown = basis;
}

/** Items that annotators skipped because they did not load. @param {Warnings["not_loaded"]} items */
function showNotLoaded(items) {
  const list = items.map(({ item, skips }) => `${item} (${count(skips, "skip")})`).join(", ");
  setText(byId("not-loaded"), list && `Did not load for annotators: ${list}. Look at these files, or leave the items out.`);
}

// The server tells of changes as they happen. Without that (a proxy may hold it back) the page looks by itself.
const events = new EventSource(api.address("/events"));
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let looked = 0;
let changed = false; // since the last look began
events.addEventListener("message", () => {
  changed = true;
  lookIn(Math.max(looked + AT_MOST - Date.now(), 0));
});
events.addEventListener("error", () => lookIn(EVERY));

/** @param {number} pause in milliseconds */
function lookIn(pause) {
  clearTimeout(timer);
  timer = setTimeout(keepLooking, pause);
}

let stopped = false; // the link does not count any more, or another one was opened in this browser

/** @param {Refused} error */
function stop(error) {
  if (!error.final) return;
  stopped = true;
  events.close();
}

async function keepLooking() {
  if (stopped) return;
  looked = Date.now();
  changed = false;
  if (!document.hidden && !(await attemptAgain(look, stop)) && stopped) return;
  // Results and the ordering follow the answers a little later.
  const behind = basisShown !== basisNow;
  lookIn(changed ? AT_MOST : events.readyState === EventSource.OPEN && !behind ? SELDOM : EVERY);
}
document.addEventListener("visibilitychange", () => document.hidden || lookIn(0));

const ofOwners = role === "owner" && attempt(() => Promise.all([links.look(), rules.look()]));
await Promise.all([keepLooking(), ofOwners]);
