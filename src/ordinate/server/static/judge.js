// The judging page: pairs come from the server ahead of time, answers leave through the outbox, keys and buttons act.

import { connect, NoNetwork, Refused } from "./api.js";
import { makePair } from "./content.js";
import { by, count, make, say } from "./dom.js";
import { browser } from "./kept.js";
import { listKeys, listenToKeys } from "./keys.js";
import * as messages from "./messages.js";
import { Outbox } from "./outbox.js";
import { HELD, Pairs, tabName, timed } from "./pairs.js";
import { Progress } from "./progress.js";
import { announcer, Stage } from "./stage.js";

const LOOK_AGAIN = 5000; // while the study is paused, or when it has ended
const LAST_LOOKS = 6;
const WATCH = 5000; // how often leases are looked after
const LOOK = 30_000; // how often progress is, at least

const app = by("app");
const { study, csrf, version, name } = app.dataset;
const api = connect({ study, csrf });
const channel = globalThis.BroadcastChannel ? new BroadcastChannel(`ordinate:${study}:${name}`) : null;
const tabIs = await tabName(channel);
const announce = announcer();
const stage = new Stage(announce);
const pairs = new Pairs(makePair);
// Pairs that were answered lately: an undo that needs no server shows them again.
const lately = new Map();
const outbox = new Outbox(api, `${study}:${name}`, {
  // The answer itself closes its pair; others on their way still count as open.
  dress: (body) => ({ ...body, tab: tabIs, count: pairs.wanted(outbox.entries.length - 1) }),
  accepted,
  refused,
  stopped: stop,
  changed: showNetwork,
});
const progress = new Progress(api, () => outbox.entries.filter(({ body }) => body.answer !== "skip").length);

let filling = null; // the request for pairs that is running
let stopping = false; // the link does not count any more
let undoing = false;
let finished = null;
let shownAt = null;
let active = Date.now();
let doubtful = null; // an undo of which it is not known whether the server did it

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
    // The first pair is asked for alone: the others would only keep it waiting.
    const count = pairs.wanted(outbox.entries.length, pairs.held === 0 ? 1 : HELD);
    let given;
    try {
      given = await api.post("/queries", { count, tab: tabIs });
    } catch (error) {
      if (!(error instanceof NoNetwork) && !error.passing) {
        if (!(error instanceof Refused)) throw error;
        stop(error);
        return;
      }
      showNetwork(error);
      if (pairs.held === 0) messages.show(error instanceof NoNetwork ? messages.noNetwork(outbox.entries.length) : messages.busy(error.message));
      await backOnline(error.retryAfter ? 1000 * error.retryAfter : pause);
      pause = Math.min(2 * pause, 15_000);
      continue;
    }
    showNetwork();
    const added = take(given);
    if (pairs.current === null) await next();
    if (pairs.held === 0) {
      if (given.paused) {
        messages.show(messages.paused());
        announce("The study is paused.");
        await sleep(LOOK_AGAIN);
        continue;
      }
      if (given.finished !== null) {
        await end(given.finished);
        return;
      }
      // All that the server listed waits in the outbox.
      await sleep(500);
    } else if (given.queries.length < count) return;
    else if (added === 0) await sleep(500);
  }
}

function take(given) {
  const added = pairs.add(given, (id) => outbox.has(id));
  app.dataset.ahead = pairs.ahead.length;
  return added;
}

// Put the next pair on the screen, as soon as its pictures can be painted.
async function next() {
  const pair = pairs.advance();
  app.dataset.ahead = pairs.ahead.length;
  if (pair === null) {
    stage.hide();
    messages.show(outbox.trouble instanceof NoNetwork ? messages.noNetwork(outbox.entries.length) : messages.waitingForPairs());
    setTimeout(() => {
      if (pairs.current === null && filling && !outbox.trouble && by("message-title").textContent === messages.slow()[0])
        messages.show(messages.slow());
    }, 4000);
    return;
  }
  await Promise.race([pair.ready, sleep(3000)]);
  if (pairs.current === pair) put(pair);
}

function put(pair) {
  finished = null;
  const unfocused = messages.hide();
  stage.show(pair);
  by("tie-button").hidden = progress.status?.ties_allowed === false;
  if (unfocused && !document.querySelector("dialog[open]"))
    (unfocused.matches("button:enabled") ? unfocused : by("stage")).focus({ preventScroll: true });
  shownAt = new Date();
  announce(`${lastWords} ${stage.words}`.trim());
  requestAnimationFrame(() => requestAnimationFrame(() => measure()));
}

function measure() {
  if (performance.getEntriesByName("ordinate:answered").length === 0) return;
  performance.measure("ordinate:next-pair", "ordinate:answered");
  performance.clearMarks("ordinate:answered");
}

async function end(why) {
  stage.hide();
  finished = why;
  await outbox.flush();
  await progress.look().catch(() => {});
  if (finished !== why || pairs.current !== null) return;
  messages.show(messages.finished(why, progress.report(), again));
  announce("Finished. Thank you.");
  // What the last answers changed is known a little later.
  for (let looks = 0; looks < LAST_LOOKS && !progress.upToDate; looks++) {
    await sleep(LOOK_AGAIN);
    await progress.look().catch(() => {});
    if (finished !== why || pairs.current !== null || stopping) return;
    messages.show(messages.finished(why, progress.report(), again));
  }
}

function again() {
  messages.show(messages.waitingForPairs());
  fill();
}

function stop(error) {
  stopping = true;
  stage.hide();
  messages.show(messages.stopped(error, outbox.entries.length));
  announce(error.message);
}

// Answers -----------------------------------------------------------------------------------------------------------

let lastWords = "";
const WORDS = { left: "You chose left.", right: "You chose right.", tie: "You said it is a tie.", skip: "Skipped." };
const NARROW = { left: "You chose the upper one.", right: "You chose the lower one." };

function answer(what, reason) {
  if (pairs.current === null || by("stage").hidden || undoing || stopping) return;
  if (what === "tie" && progress.status?.ties_allowed === false) return;
  performance.clearMarks("ordinate:answered");
  performance.mark("ordinate:answered");
  const pair = pairs.tell();
  lately.set(pair.id, pair);
  if (lately.size > 2 * HELD) lately.delete(lately.keys().next().value);
  const now = new Date();
  lastWords = (matchMedia("(max-width: 44rem)").matches && NARROW[what]) || WORDS[what];
  say(by("last"), lastWords);
  outbox.add({
    query: pair.id,
    answer: what,
    ...(reason ? { reason } : {}),
    shown_at: shownAt.toISOString(),
    answered_at: now.toISOString(),
    duration_ms: Math.max(now - shownAt, 0),
    client: `page ${version}`,
  });
  channel?.postMessage({ is: "told", query: pair.id });
  next();
  if (pairs.held < HELD && !outbox.trouble) topUpLater();
}

// The answer's own response brings the next pairs; a request of its own is for what it could not bring.
function topUpLater() {
  setTimeout(() => {
    if (pairs.held < HELD && finished === null && !stopping) fill();
  }, pairs.held < 2 ? 0 : 400);
}

function accepted(entry, response) {
  progress.counted(response);
  take({ queries: response.next, serverTime: response.serverTime });
  if (pairs.current === null && pairs.ahead.length > 0) next();
  if (pairs.held < HELD && response.finished === null) topUpLater();
  progress.lookSoon();
}

function refused(entry, error) {
  const box = by("refused");
  const words = `One answer did not count. ${messages.sentence(error.message)}`;
  box.replaceChildren(
    make("span", {}, words),
    make("button", { type: "button", class: "quiet", onclick: () => box.replaceChildren() }, "Understood"),
  );
  lately.delete(entry.body.query);
  fill();
}

async function skip() {
  if (pairs.current === null || stopping) return;
  const dialog = by("skip");
  const pair = pairs.current;
  by("reason").value = "";
  dialog.returnValue = "";
  dialog.showModal();
  by("reason").focus();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  if (dialog.returnValue === "skip" && pairs.current === pair) answer("skip", by("reason").value.trim());
}

async function undo() {
  if (undoing || stopping) return;
  undoing = true;
  try {
    const local = outbox.takeBack();
    if (local !== undefined && lately.has(local)) {
      reopen(lately.get(local));
      return;
    }
    if (outbox.trouble) {
      tell("Your last answer may have reached the server already; it can be taken back when the network is back.");
      return;
    }
    await outbox.flush();
    if (outbox.trouble) return;
    // An undo whose answer got lost may have been done: twice would take two answers back.
    if (doubtful !== null) {
      const open = await api.post("/queries", { count: 20, tab: tabIs });
      const done = open.queries.find(({ id }) => id === doubtful);
      if (done) {
        doubtful = null;
        reopen(pairs.find(done.id) ?? timedPair(done, open.serverTime));
        return;
      }
    }
    doubtful = [...lately.keys()].at(-1) ?? null;
    const undone = await api.post("/undo", {});
    const { query, serverTime } = undone;
    doubtful = null;
    progress.counted(undone);
    progress.lookSoon();
    reopen(lately.get(query.id) ?? timedPair(query, serverTime));
  } catch (error) {
    if (error instanceof NoNetwork || error.passing) tell("Undo takes the network; try again when it is back.");
    else if (error.status === 401 || error.status === 403) stop(error);
    else if (error instanceof Refused) {
      doubtful = null;
      tell(messages.sentence(error.message));
    } else throw error;
  } finally {
    undoing = false;
  }
}

function timedPair(query, serverTime) {
  const pair = makePair(query);
  timed(pair, query.expires_at, serverTime);
  return pair;
}

async function reopen(pair) {
  lately.delete(pair.id);
  pairs.reopen(pair);
  channel?.postMessage({ is: "undone", query: pair.id });
  lastWords = "Taken back; here is that pair again.";
  say(by("last"), "Taken back");
  await Promise.race([pair.ready, sleep(3000)]);
  if (pairs.current === pair) put(pair);
}

function tell(words) {
  say(by("last"), words);
  announce(words);
}

// The network, leases, other tabs -----------------------------------------------------------------------------------

function showNetwork(error = null) {
  const waiting = outbox.entries.length;
  const trouble = error ?? outbox.trouble;
  app.dataset.waiting = waiting;
  let words = "";
  if (trouble instanceof NoNetwork)
    words = `Offline, ${count(waiting, "answer")} waiting.${waiting ? " Kept in this browser; sent when the network is back." : ""}`;
  else if (trouble?.passing) words = `The server is busy, ${count(waiting, "answer")} waiting. ${messages.sentence(trouble.message)}`;
  else if (waiting > 0 && !browser.lasting) words = "Do not close this page yet: this browser keeps nothing, and an answer is on its way.";
  say(by("network"), words);
  progress.show();
}

function backOnline(most) {
  return new Promise((resolve) => {
    addEventListener("online", resolve, { once: true });
    setTimeout(resolve, most);
  });
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// Keep the pair on the screen for whoever is at work on it; replace what has gone to somebody else.
async function watchLease() {
  pairs.dropExpired();
  const pair = pairs.current;
  if (pair === null || stopping || document.hidden || pair.renewing) return;
  if (pair.until - Date.now() > pair.span / 2 || Date.now() - active > pair.span / 2) return;
  pair.renewing = true;
  try {
    const { expires_at, serverTime } = await api.post("/shown", { query: pair.id, shown_at: shownAt.toISOString() });
    timed(pair, expires_at, serverTime);
  } catch (error) {
    // Without a network the pair stays: a late answer counts if nobody else gave one.
    if (!(error instanceof Refused)) return;
    if (error.status === 401) stop(error);
    else if (error.status === 409 && pairs.drop(pair.id)) replaced("The time for that pair was over; here is another one.");
  } finally {
    pair.renewing = false;
  }
}

function replaced(words) {
  lastWords = words;
  say(by("last"), words);
  next();
  fill();
}

channel?.addEventListener("message", ({ data }) => {
  if (data.is === "told" && pairs.toldElsewhere(data.query)) replaced("You answered that pair in another tab; here is another one.");
  if (data.is === "undone") pairs.undoneElsewhere(data.query);
});

for (const event of ["keydown", "pointerdown", "pointermove", "scroll", "visibilitychange"])
  addEventListener(event, () => (active = Date.now()), { passive: true, capture: true });
addEventListener("visibilitychange", watchLease);
setInterval(watchLease, WATCH);
setInterval(() => document.hidden || stopping || progress.lookSoon(), LOOK);
addEventListener("beforeunload", (event) => {
  if (!browser.lasting && outbox.entries.length > 0) event.preventDefault();
});

// Keys and buttons --------------------------------------------------------------------------------------------------

const has = (what) => (what === "ties" ? progress.status?.ties_allowed !== false : stage.has(what));
const actions = {
  ...stage.actions(),
  left: () => answer("left"),
  right: () => answer("right"),
  tie: () => answer("tie"),
  skip,
  undo,
  theme: () => announce(globalThis.switchTheme() === "dark" ? "Dark" : "Light"),
  help: () => {
    listKeys(has);
    by("help").showModal();
  },
};

listenToKeys((what, event) => actions[what](event), has);
document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-do]");
  if (pressed === null) return;
  actions[pressed.dataset.do](event);
  // After a click the space key is for a tie again; who came by keyboard stays on the button.
  if (event.detail > 0) pressed.blur();
});

progress.look().then(
  () => (by("tie-button").hidden = !progress.status.ties_allowed),
  (error) => {
    if (error.status === 401) stop(error);
  },
);
outbox.flush();
fill();
