// The judging page: pairs come from the server ahead of time, answers leave through the outbox, keys and buttons act.

import { connect, isTemporary, NoNetwork, Refused } from "./api.js";
import { makeContent } from "./content.js";
import { byId, count, make, setText } from "./dom.js";
import { listKeys, listenToKeys } from "./keys.js";
import * as messages from "./messages.js";
import { Outbox } from "./outbox.js";
import { HELD, itemsOf, leaseOf, Pairs, tabName } from "./pairs.js";
import { Progress } from "./progress.js";
import { Question } from "./question.js";
import { isNarrow, Stage } from "./stage.js";
import { browser, tab } from "./storage.js";

/** @typedef {import("./api.js").Answer} Answer */
/** @typedef {import("./pairs.js").Leased<import("./content.js").Content>} Pair */
/** @typedef {{query: import("./api.js").Query, key: string, body: import("./outbox.js").Told}} Recent */

const LOOK_AGAIN = 5000; // while the study is paused, or when it has ended; in milliseconds, as all that follow
const LAST_LOOKS = 6;
const LEASE_CHECK = 5000;
const PROGRESS_CHECK = 30_000;
const BLANK = 150; // how long a pair may take to load before the page shows that it is loading
const SLOW = 8000; // how long it may take before skipping it is offered
const TOO_SOON = 200; // after a pair appears: nobody has seen it yet
const DOUBLE_CLICK = 400; // after a pair appears: the second click of two is meant for the pair before
const NOT_LOADED = "does not load"; // how the reason of such a skip begins: the server counts these

const app = byId("app");
const { study = "", csrf = "", version = "", name = "", appearance = "{}" } = app.dataset;
const api = connect({ study, csrf });
const channel = globalThis.BroadcastChannel ? new BroadcastChannel(`ordinate:${study}:${name}`) : null;
const tabIs = await tabName(channel);
/** @param {string} words for those who listen */
const announce = (words) => setText(byId("live"), words);
const question = new Question();
const stage = new Stage(announce, study, JSON.parse(appearance));
const owner = `${study}:${name}`; // of what this browser and this tab keep: others may judge here, or this person in other studies
const pairs = new Pairs(makeContent, owner);
// What was answered lately in this tab, oldest first: undo shows it again without waiting for the server.
/** @type {Recent[]} */
let recent = tab.get(`recent:${owner}`) ?? [];
/** @type {Map<string, Pair>} what these answers were about, loaded already */
const answered = new Map();
const outbox = new Outbox(api, browser, owner, {
  // The answer itself closes its pair; others on their way still count as open.
  prepare: (body) => ({ ...body, tab: tabIs, count: pairs.wanted(outbox.entries.length - 1) }),
  accepted,
  refused,
  stopped: stop,
  changed: showNetwork,
});
const progress = new Progress(api, () => outbox.pending, showStatus, (error) => error instanceof Refused && error.final && stop(error));

/** @type {Promise<void> | null} the request for pairs that is running */
let filling = null;
let stopping = false; // the link does not count any more
let undoing = false; // the server was asked which answer it took back
/** @type {{why: import("./api.js").Finished} | null} the end that the page tells of; each is an object of its own */
let finished = null;
/** @type {{date: Date, clock: number} | null} when both items of the pair could be seen; `clock` never jumps */
let shown = null;
let slow = false; // the pair on the screen has been loading for long
let awaited = false; // that it is loading was said, and not yet that it is there
let active = Date.now();

// Pairs come and go -------------------------------------------------------------------------------------------------

// Get pairs until enough are held, and show one if none is on the screen.
function fill() {
  filling ??= getPairs().finally(() => {
    filling = null;
  });
  return filling;
}

async function getPairs(pause = 1000) {
  while (!stopping && pairs.held < HELD) {
    // The server has all answers, so what it lists from now on is open: an answer may have been taken back elsewhere.
    if (outbox.entries.length === 0) pairs.forgetAnswered();
    // The first pair is asked for alone: the others would only keep it waiting.
    const wanted = pairs.wanted(outbox.entries.length, pairs.held === 0 ? 1 : HELD);
    /** @type {import("./api.js").Queries} */
    let given;
    try {
      given = await api.post("/queries", { count: wanted, tab: tabIs });
    } catch (error) {
      if (!isTemporary(error)) {
        if (!(error instanceof Refused)) throw error;
        stop(error);
        return;
      }
      showNetwork(error);
      if (pairs.held === 0) messages.show(error instanceof NoNetwork ? messages.noNetwork(outbox.entries.length) : messages.busy(error.message));
      await backOnline(error instanceof Refused && error.retryAfter ? 1000 * error.retryAfter : pause);
      pause = Math.min(2 * pause, 15_000);
      continue;
    }
    showNetwork();
    question.hear(given.question_html);
    const added = take(given);
    if (pairs.current === null) await next();
    if (pairs.held === 0) {
      if (given.over) {
        await showOver();
      } else if (given.paused) {
        messages.show(messages.paused());
        announce("The study is paused.");
        await sleep(LOOK_AGAIN);
      } else if (given.finished !== null) {
        // It goes on telling how good the ordering is; meanwhile an undo may open a pair, and its answer needs another look.
        end({ why: given.finished });
        return;
      } else if (given.retry_after) {
        const message = given.held ? messages.waitingForOthers() : messages.slow();
        messages.show(message);
        announce(`${message[0]}.`);
        await sleep(1000 * given.retry_after);
      } else {
        // All that the server listed waits in the outbox.
        await sleep(500);
      }
    } else if (given.queries.length < wanted) return;
    else if (added === 0) await sleep(500);
  }
}

/** @param {{queries: import("./api.js").Query[], serverTime: number}} given */
function take(given) {
  const added = pairs.add(given, (query) => outbox.has(query.id, itemsOf(query)));
  app.dataset.ahead = String(pairs.ahead.length);
  return added;
}

// Put the next pair on the screen, as soon as its pictures can be painted.
async function next() {
  const pair = pairs.advance();
  app.dataset.ahead = String(pairs.ahead.length);
  if (pair === null) {
    stage.hide();
    messages.show(outbox.trouble instanceof NoNetwork ? messages.noNetwork(outbox.entries.length) : messages.waitingForPairs());
    setTimeout(() => {
      if (pairs.current === null && filling && !outbox.trouble && byId("message-title").textContent === messages.slow()[0])
        messages.show(messages.slow());
    }, 4000);
    return;
  }
  await putWhenReady(pair);
}

/** @param {Pair} pair */
async function putWhenReady(pair) {
  await Promise.race([pair.ready, sleep(BLANK)]);
  if (pairs.current === pair) put(pair);
}

/** @param {Pair} pair */
function put(pair) {
  finished = null;
  shown = null;
  slow = awaited = false;
  delete byId("stage").dataset.shown;
  const unfocused = messages.hide();
  stage.show(pair, look);
  showPractice(pair.query.practice === true);
  showQuestion();
  if (unfocused && !document.querySelector("dialog[open]"))
    (unfocused instanceof HTMLElement && unfocused.matches("button:enabled") ? unfocused : byId("stage")).focus({ preventScroll: true });
  awaited = !stage.complete;
  announce(`${lastWords} ${stage.complete ? stage.words : "The pair is loading."}`.trim());
  look();
  if (!stage.complete)
    setTimeout(() => {
      if (stage.pair !== pair || stage.complete) return;
      slow = true;
      look();
    }, SLOW);
  requestAnimationFrame(() => requestAnimationFrame(measure));
}

// A pair can be answered once both items can be seen; one that does not load can be skipped.
function look() {
  if (stage.complete && shown === null) {
    shown = { date: new Date(), clock: performance.now() };
    byId("stage").dataset.shown = String(shown.clock);
    if (awaited) announce(stage.words);
    awaited = false;
  }
  for (const button of document.querySelectorAll(".choose, .strength")) button.setAttribute("aria-disabled", String(!stage.judgeable));
  const broken = isBroken();
  byId("tie-button", HTMLButtonElement).disabled = !stage.judgeable;
  byId("skip-button", HTMLButtonElement).disabled = !stage.complete && !broken;
  app.classList.toggle("broken", broken);
  setText(byId("skip-words"), broken ? "Skip: does not load" : "Skip");
  if (stage.failed.length > 0) announce(`The ${stage.failed.join(" and the ")} item did not load. You can skip this pair.`);
}

const isBroken = () => stage.pair !== null && (stage.failed.length > 0 || (slow && !stage.complete));

function measure() {
  if (performance.getEntriesByName("ordinate:answered").length === 0) return;
  performance.measure("ordinate:next-pair", "ordinate:answered");
  performance.clearMarks("ordinate:answered");
}

// What the owner has to say at the end.
const closing = () => [...(document.getElementById("closing")?.children ?? [])].map((one) => one.cloneNode(true));

/** @param {{why: import("./api.js").Finished}} told */
async function end(told) {
  stage.hide();
  finished = told;
  const show = () => messages.show(messages.finished(told.why, [...closing(), ...progress.report()], again));
  await outbox.flush();
  await progress.look().catch(() => {});
  if (finished !== told || pairs.current !== null) return;
  show();
  announce("Finished. Thank you.");
  // What the last answers changed is known a little later.
  for (let looks = 0; looks < LAST_LOOKS && !progress.upToDate; looks++) {
    await sleep(LOOK_AGAIN);
    await progress.look().catch(() => {});
    if (finished !== told || pairs.current !== null || stopping) return;
    show();
  }
}

// The deadline has passed; the owner may still move it.
async function showOver() {
  stage.hide();
  if (!says(messages.over([]))) {
    await outbox.flush();
    await progress.look().catch(() => {});
    if (stopping) return;
    messages.show(messages.over([...closing(), ...progress.report()]));
    announce("The time for this study is over. Thank you.");
  }
  await sleep(LOOK_AGAIN);
}

/** @param {messages.Message} message */
const says = ([title]) => !byId("message").hidden && byId("message-title").textContent === title;

function again() {
  finished = null;
  messages.show(messages.waitingForPairs());
  fill();
}

/** @param {Refused} error */
function stop(error) {
  if (stopping) return;
  stopping = true;
  stage.hide();
  messages.show(messages.stopped(error, outbox.entries.length));
  announce(error.message);
}

// Answers -----------------------------------------------------------------------------------------------------------

let lastWords = "";
const WORDS = { left: "You chose left", right: "You chose right", tie: "You said it is a tie", skip: "Skipped" };
const NARROW_WORDS = { ...WORDS, left: "You chose the upper one", right: "You chose the lower one" };
const STRENGTHS = /** @type {const} */ (["left-much", "left-slightly", "right-slightly", "right-much"]);

/** "You chose left, slightly better." @param {Answer} what */
function inWords(what) {
  const [plain = "skip", strength] = what.split("-");
  const words = (isNarrow() ? NARROW_WORDS : WORDS)[/** @type {keyof typeof WORDS} */ (plain)];
  return `${words}${strength ? `, ${strength} better` : ""}.`;
}

/** @param {Answer} what */
const buttonOf = (what) => byId(what === "tie" || what === "skip" ? `${what}-button` : `choose-${what}`);

/** @param {Answer} what @param {UIEvent} [event] @param {string} [reason] */
function answer(what, event, reason) {
  if (pairs.current === null || stage.pair !== pairs.current || undoing || stopping) return;
  if (what === "tie" && progress.status?.ties_allowed === false) return;
  if (what === "skip" ? !stage.complete && !isBroken() : !stage.judgeable) return;
  const now = performance.now();
  const duration = shown === null ? 0 : now - shown.clock;
  if (shown !== null && (duration < TOO_SOON || isSecondClick(event, shown.clock))) return;
  performance.clearMarks("ordinate:answered");
  performance.mark("ordinate:answered");
  const pair = pairs.answer();
  answered.set(pair.id, pair);
  lastWords = inWords(what);
  if (pair.query.practice) lastWords += expectedInWords(pair.query.expected);
  setText(byId("last"), lastWords);
  const body = {
    query: pair.id,
    answer: what,
    ...(reason ? { reason } : {}),
    ...(shown ? { shown_at: shown.date.toISOString(), duration_ms: Math.round(duration) } : {}),
    answered_at: new Date().toISOString(),
    client: [`page ${version}`, stage.appearance].filter(Boolean).join("; "),
  };
  const key = outbox.add(body, pair.items);
  // A practice pair is not answered again.
  if (!pair.query.practice) setRecent([...recent, { query: pair.query, key, body }].slice(-2 * HELD));
  channel?.postMessage({ is: "answered", query: pair.id });
  next();
  buttonOf(what).animate([{ backgroundColor: "var(--chosen)", color: "var(--on-chosen)" }, {}], { duration: 400, easing: "ease-in" });
  if (pairs.held < HELD && !outbox.trouble) topUpLater();
}

/** What follows the words about an answer to a practice pair. @param {string | null | undefined} expected */
function expectedInWords(expected) {
  if (!expected) return "";
  const words = { left: isNarrow() ? "the upper one" : "left", right: isNarrow() ? "the lower one" : "right", tie: "a tie" };
  return ` The owner expects ${words[/** @type {"left" | "right" | "tie"} */ (expected)]}.`;
}

/** @param {boolean} practising */
function showPractice(practising) {
  const box = byId("practice");
  if (!box.hidden && !practising) {
    lastWords += " Practice is over; from here on your answers count.";
    setText(byId("last"), lastWords);
  }
  box.hidden = !practising;
}

// The owner may have changed it.
function showQuestion() {
  if (!question.follow()) return;
  setText(byId("last"), `${lastWords} The question has changed.`.trim());
  lastWords += ` The question has changed: ${question.words}`;
}

/** Whether it is the second of two quick clicks. @param {UIEvent | undefined} event @param {number} since */
const isSecondClick = (event, since) => event?.type === "click" && event.detail > 1 && performance.now() - since < DOUBLE_CLICK;

/** @param {Recent[]} answers */
function setRecent(answers) {
  recent = answers;
  showUndo();
  for (const id of answered.keys()) if (!recent.some(({ query }) => query.id === id)) answered.delete(id);
  // Later, since long texts take long to write, and the next pair waits.
  setTimeout(() => tab.set(`recent:${owner}`, recent));
}

// The answer's own response brings the next pairs; a request of its own is for what it could not bring.
function topUpLater() {
  setTimeout(() => {
    if (pairs.held < HELD && finished === null && !stopping) fill();
  }, pairs.held < 2 ? 0 : 400);
}

/** @param {import("./outbox.js").Entry} entry @param {any} response */
function accepted(entry, response) {
  progress.counted(response);
  progress.lookSoon();
  if (entry.undo !== undefined) {
    const pair = pairs.find(response.query.id);
    if (pair) Object.assign(pair, leaseOf(response.query.expires_at, response.serverTime));
    return;
  }
  if (!response.counts && !response.practice) tell("That answer came late, when all answers asked for were given. It is stored, but does not count.");
  question.hear(response.question_html);
  take({ queries: response.next, serverTime: response.serverTime });
  if (pairs.current === null && pairs.ahead.length > 0) next();
  // Without a pair the page has to say what follows, also where nothing does.
  if (pairs.held === 0 || (pairs.held < HELD && response.finished === null)) topUpLater();
}

/** @param {import("./outbox.js").AnswerEntry} entry @param {Refused} error */
function refused(entry, error) {
  const box = byId("refused");
  const words = `One answer did not count. ${messages.ofPair(error.message)}`;
  box.replaceChildren(
    make("span", {}, words),
    make("button", { type: "button", class: "quiet", onclick: understood }, "Understood"),
  );
  setRecent(recent.filter(({ key }) => key !== entry.key));
  // The pair comes back where the server still lists it, and is judged by the rules as they are now.
  reopenQuery(entry.body.query);
  progress.look().catch(() => {});
  fill();
}

// The button goes, and the focus stays where people judge.
function understood() {
  byId("refused").replaceChildren();
  byId(pairs.current === null ? "message" : "stage").focus({ preventScroll: true });
}

/** It may be shown again, in the other tabs, too. @param {string} query */
function reopenQuery(query) {
  pairs.reopenQuery(query);
  channel?.postMessage({ is: "undone", query });
}

/** @param {UIEvent} event */
async function skip(event) {
  const pair = pairs.current;
  if (pair === null || stage.pair !== pair || stopping) return;
  if (isBroken()) {
    // Where one item failed, the other may only be slow.
    answer("skip", event, `${NOT_LOADED}: ${(stage.failed.length > 0 ? stage.failed : stage.missing).join(", ")}`);
    return;
  }
  if (shown === null || performance.now() - shown.clock < TOO_SOON) return;
  const dialog = byId("skip", HTMLDialogElement);
  const reason = byId("reason", HTMLInputElement);
  reason.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  reason.focus();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue === "skip" && pairs.current === pair) answer("skip", undefined, reason.value.trim());
}

/** @param {UIEvent} event */
async function undo(event) {
  if (undoing || stopping || (shown !== null && isSecondClick(event, shown.clock))) return;
  const newest = recent.at(-1);
  if (newest !== undefined) {
    const pair = answered.get(newest.query.id) ?? pairs.load(newest.query, 0);
    setRecent(recent.slice(0, -1));
    outbox.takeBack(newest.key, newest.body);
    // Its lease is known once the server has taken the answer back.
    await reopen(Object.assign(pair, leaseOf(null, 0)));
    return;
  }
  undoing = true;
  try {
    // The newest answer was given elsewhere, or long ago: the server knows which one it is.
    await outbox.flush();
    if (outbox.trouble) throw outbox.trouble;
    const undone = await api.post("/undo", {});
    progress.counted(undone);
    progress.lookSoon();
    await reopen(pairs.load(undone.query, undone.serverTime));
  } catch (error) {
    if (error instanceof NoNetwork) tell("Taking back an older answer takes the network; try again when it is back.");
    else if (isTemporary(error)) tell(`Nothing was taken back; try again later. ${messages.sentence(error.message)}`);
    else if (!(error instanceof Refused)) throw error;
    else if (error.final) stop(error);
    else tell(messages.sentence(error.message));
  } finally {
    undoing = false;
  }
}

function showStatus() {
  showUndo();
  byId("tie-button").hidden = progress.status?.ties_allowed === false;
}

// It keeps the focus, so it is not disabled; pressed with nothing to take back, the server says so.
function showUndo() {
  const skips = progress.status?.your.skips ?? 0;
  byId("undo-button").setAttribute("aria-disabled", String(recent.length === 0 && progress.own + skips === 0));
}

/** @param {Pair} pair */
async function reopen(pair) {
  pairs.reopen(pair);
  channel?.postMessage({ is: "undone", query: pair.id });
  lastWords = "Taken back; here is that pair again.";
  setText(byId("last"), "Taken back");
  await putWhenReady(pair);
}

/** @param {string} words */
function tell(words) {
  setText(byId("last"), words);
  announce(words);
}

// The network, leases, other tabs -----------------------------------------------------------------------------------

/** @param {NoNetwork | Refused | null} error */
function showNetwork(error = null) {
  const waiting = outbox.entries.length;
  const trouble = error ?? outbox.trouble;
  app.dataset.waiting = String(waiting);
  let words = "";
  if (trouble instanceof NoNetwork)
    words = waiting ? `Offline, ${count(waiting, "answer")} waiting. Kept in this browser; sent when the network is back.` : "Offline.";
  else if (isTemporary(trouble)) {
    const what = trouble.temporary ? "The server is busy" : "The study cannot be reached";
    words = `${what}${waiting ? `, ${count(waiting, "answer")} waiting in this browser` : ""}. ${messages.sentence(trouble.message)}`;
  }
  else if (waiting > 0 && !browser.lasting) words = "Do not close this page yet: this browser stores nothing, and an answer is on its way.";
  setText(byId("network"), words);
  progress.show();
}

/** @param {number} most in milliseconds */
function backOnline(most) {
  return new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    setTimeout(resolve, most);
  });
}

/** @param {number} milliseconds */
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Keep the pair on the screen for whoever is at work on it; replace what has gone to somebody else.
async function watchLease() {
  pairs.dropExpired();
  const pair = pairs.current;
  if (pair === null || shown === null || stopping || document.hidden || pair.renewing || pair.span === Infinity) return;
  if (pair.until - Date.now() > pair.span / 2 || Date.now() - active > pair.span / 2) return;
  pair.renewing = true;
  try {
    const { expires_at, serverTime } = await api.post("/shown", { query: pair.id, shown_at: shown.date.toISOString() });
    Object.assign(pair, leaseOf(expires_at, serverTime));
  } catch (error) {
    // Without a network the pair stays: a late answer counts if nobody else gave one.
    if (!(error instanceof Refused)) return;
    if (error.final) stop(error);
    // Over, answered in another browser, or of a study that was put back to an earlier state.
    else if (error.settled && pairs.drop(pair.id)) replaced("The time for that pair was over; here is another one.");
  } finally {
    pair.renewing = false;
  }
}

/** @param {string} words */
function replaced(words) {
  lastWords = words;
  setText(byId("last"), words);
  next();
  fill();
}

channel?.addEventListener("message", ({ data }) => {
  if (data.is === "answered" && pairs.answeredElsewhere(data.query)) replaced("You answered that pair in another tab; here is another one.");
  if (data.is !== "undone") return;
  pairs.reopenQuery(data.query);
  setRecent(recent.filter(({ query }) => query.id !== data.query));
});

for (const event of ["keydown", "pointerdown", "pointermove", "scroll", "visibilitychange"])
  addEventListener(event, () => (active = Date.now()), { passive: true, capture: true });
addEventListener("visibilitychange", watchLease);
setInterval(watchLease, LEASE_CHECK);
setInterval(() => document.hidden || stopping || progress.lookSoon(), PROGRESS_CHECK);
addEventListener("beforeunload", (event) => {
  if (!browser.lasting && outbox.entries.length > 0) event.preventDefault();
});

// Keys and buttons --------------------------------------------------------------------------------------------------

/** @param {string} what */
const has = (what) => {
  if (what === "ties") return progress.status?.ties_allowed !== false;
  if (what === "strengths") return document.querySelector(".strength") !== null;
  if (what === "guidelines") return document.getElementById("guidelines") !== null;
  return what === "long question" ? question.isLong : stage.has(what);
};
/** @type {Record<string, (event: any) => unknown>} */
const actions = {
  ...stage.actions(),
  left: (event) => answer("left", event),
  right: (event) => answer("right", event),
  tie: (event) => answer("tie", event),
  ...Object.fromEntries(STRENGTHS.map((what) => [what, (/** @type {UIEvent} */ event) => answer(what, event)])),
  skip,
  undo,
  question: () => question.toggle(),
  guidelines: () => /** @type {HTMLDialogElement | null} */ (document.getElementById("guidelines"))?.showModal(),
  theme: () => announce(/** @type {any} */ (globalThis).switchTheme() === "dark" ? "Dark" : "Light"),
  help: () => {
    listKeys(has);
    byId("help", HTMLDialogElement).showModal();
  },
};

listenToKeys((action, event) => actions[action]?.(event), has);
document.addEventListener("click", (event) => {
  const pressed = event.target instanceof Element ? event.target.closest("[data-do]") : null;
  if (!(pressed instanceof HTMLElement)) return;
  actions[pressed.dataset.do ?? ""]?.(event);
  // After a click the space key is for a tie again; who came by keyboard stays on the button.
  if (event.detail > 0) pressed.blur();
});

progress.look().catch(() => {});
outbox.flush();
fill();
