// What takes the place of a pair: waiting, a pause, the end, an error. In plain words, with what to do.

import { byId, make } from "./dom.js";

/** @typedef {[title: string, body: Node[]]} Message */

/** @param {string} words @param {() => void} act */
const button = (words, act) => make("button", { type: "button", class: "main-button", onclick: act }, words);
/** @param {string} words */
const paragraph = (words) => make("p", {}, words);

/** @returns {Message} */
export const waitingForPairs = () => ["Getting the next pair", [paragraph("One moment.")]];

/** @returns {Message} */
export const slow = () => [
  "Getting the next pair",
  [paragraph("The server is choosing it. This takes longer than usual; the page goes on by itself.")],
];

/** @returns {Message} */
export const waitingForOthers = () => [
  "Others are judging the last pairs",
  [paragraph("There may be more for you when they are done. You may wait here: the page goes on by itself. All your answers are stored.")],
];

/** @param {number} waiting how many answers wait @returns {Message} */
export const noNetwork = (waiting) => [
  "No network",
  [
    paragraph(
      waiting
        ? "Your answers are safe: they wait in this browser and are sent when the network is back."
        : "Nothing is lost. The page goes on by itself when the network is back.",
    ),
  ],
];

/** @param {string} detail @returns {Message} */
export const busy = (detail) => ["The server has a problem", [paragraph(`${sentence(detail)} The page tries again by itself.`)]];

/** @returns {Message} */
export const paused = () => [
  "The study is paused",
  [paragraph("The owner has paused it. All your answers are stored. This page goes on by itself when the owner continues the study.")],
];

/** @param {Node[]} report @returns {Message} */
export const over = (report) => [
  "The time for this study is over",
  [
    paragraph("All your answers are stored. Thank you."),
    ...report,
    paragraph("You may close this page. Undo still takes your last answer back. Should the owner give more time, the page goes on by itself."),
  ],
];

const REASONS = {
  budget: "You have given all the answers that you were asked for.",
  "total-budget": "The study has all the answers that it asks for.",
  exhausted: "You have judged every pair that there is for you.",
};

/**
 * @param {import("./api.js").Finished} why
 * @param {Node[]} report
 * @param {() => void} again
 * @returns {Message}
 */
export const finished = (why, report, again) => [
  "Thank you, that is all",
  [
    paragraph(REASONS[why]),
    ...report,
    paragraph("You may close this page. Undo still takes your last answer back."),
    ...(why === "budget" ? [] : [button("Look for more pairs", again)]),
  ],
];

/**
 * @param {import("./api.js").Refused} error
 * @param {number} waiting how many answers wait
 * @returns {Message}
 */
export const stopped = (error, waiting) => (error.leftOut ? leftOut(error, waiting) : cannotGoOn(error, waiting));

/** @param {import("./api.js").Refused} error @param {number} waiting @returns {Message} */
const leftOut = (error, waiting) => [
  "Thank you, that is all",
  [paragraph(sentence(error.message)), ...waitingAnswers(waiting), paragraph("You may close this page. If you think that this is a mistake, ask the owner of the study.")],
];

/** @param {number} waiting */
const waitingAnswers = (waiting) =>
  waiting
    ? [paragraph(`${waiting === 1 ? "One answer waits" : `${waiting} answers wait`} in this browser and will be sent when you are in again under the same name.`)]
    : [];

/** @param {import("./api.js").Refused} error @param {number} waiting @returns {Message} */
const cannotGoOn = (error, waiting) => [
  error.otherSession
    ? "Another link was opened in this browser"
    : error.status === 401
      ? "Your link does not open this study any more"
      : "This page cannot go on",
  [
    paragraph(error.otherSession ? "A browser judges under one name at a time, and by the link that was opened last. So this page can store nothing more." : sentence(error.message)),
    ...waitingAnswers(waiting),
    paragraph(
      error.otherSession
        ? "To go on by the new link, load the page again. To go on under your own name, open your own link again."
        : error.status === 401
        ? "Ask the owner of the study for a new link, and open it in this browser."
        : "Load the page again. If that does not help, open your link again.",
    ),
    button("Load the page again", () => location.reload()),
  ],
];

/** What the server says of a query, for somebody who sees pairs. @param {string} words */
export function ofPair(words) {
  const said = words.replace(/unknown query '[^']*'/, "that pair is unknown").replace(/query '[^']*'/, "that pair");
  return sentence(said.replace(/; ask for another one$/, ""));
}

/** A capital and a full stop; the name of a file or a column that the words begin with stays. @param {string} words */
export function sentence(words) {
  const text = /^\p{L}+[\s,]/u.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** @type {Element | null} */
let focusedBefore = null;

/**
 * Show a message instead of a pair; the focus goes there, unless somebody is in a dialog.
 * @param {Message} message
 */
export function show([title, body]) {
  const box = byId("message");
  if (box.hidden) focusedBefore = document.activeElement;
  const same = !box.hidden && byId("message-title").textContent === title;
  byId("message-title").textContent = title;
  byId("message-body").replaceChildren(...body);
  setTitle(title);
  box.hidden = false;
  byId("tie-button", HTMLButtonElement).disabled = byId("skip-button", HTMLButtonElement).disabled = true;
  if (!same && !document.querySelector("dialog[open]")) box.focus({ preventScroll: true });
}

// Make room for a pair. Returns what had the focus before the message took it; null where the focus is elsewhere.
export function hide() {
  const box = byId("message");
  const focused = box.contains(document.activeElement) || document.activeElement === document.body;
  box.hidden = true;
  setTitle("Judging");
  byId("tie-button", HTMLButtonElement).disabled = byId("skip-button", HTMLButtonElement).disabled = false;
  return focused ? (focusedBefore ?? document.body) : null;
}

/** The window's title says where one is. @param {string} where */
export function setTitle(where) {
  document.title = [where, ...document.title.split(" · ").slice(1)].join(" · ");
}
