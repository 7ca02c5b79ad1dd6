// What takes the place of a pair: waiting, a pause, the end, an error. In plain words, with what to do.

import { by, make } from "./dom.js";

const button = (words, act) => make("button", { type: "button", class: "main-button", onclick: act }, words);
const paragraph = (words) => make("p", {}, words);

export const waitingForPairs = () => ["Getting the next pair", [paragraph("One moment.")]];

export const slow = () => [
  "Getting the next pair",
  [paragraph("The server is choosing it. This takes longer than usual; the page goes on by itself.")],
];

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

export const busy = (detail) => ["The server does not answer properly just now", [paragraph(`${sentence(detail)} The page tries again by itself.`)]];

export const paused = () => [
  "The study is paused",
  [paragraph("The owner has paused it. All your answers are stored. This page goes on by itself as soon as the owner lets it.")],
];

const REASONS = {
  budget: "You have given all the answers that you were asked for.",
  "total-budget": "The study has all the answers that it asks for.",
  exhausted: "You have judged every pair that there is for you.",
};

export const finished = (why, report, again) => [
  "Thank you, that is all",
  [
    paragraph(REASONS[why]),
    ...report,
    paragraph("You may close this page. Undo still takes your last answer back."),
    ...(why === "budget" ? [] : [button("Look for more pairs", again)]),
  ],
];

export const stopped = (error, waiting) => [
  error.status === 401 ? "Your link does not open this study any more" : "This page cannot go on",
  [
    paragraph(sentence(error.message)),
    ...(waiting
      ? [paragraph(`${waiting === 1 ? "One answer waits" : `${waiting} answers wait`} in this browser and will be sent when you are in again under the same name.`)]
      : []),
    paragraph(
      error.status === 401
        ? "Ask the owner of the study for a new link, and open it in this browser."
        : "Load the page again. If that does not help, open your link again.",
    ),
    button("Load the page again", () => location.reload()),
  ],
];

export function sentence(words) {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

let focusedBefore = null;

// Show a message instead of a pair; the focus goes there, unless somebody is in a dialog.
export function show([title, body], { focus = true } = {}) {
  const message = by("message");
  if (message.hidden) focusedBefore = document.activeElement;
  const same = !message.hidden && by("message-title").textContent === title;
  by("message-title").textContent = title;
  by("message-body").replaceChildren(...body);
  message.hidden = false;
  by("tie-button").disabled = by("skip-button").disabled = true;
  if (focus && !same && !document.querySelector("dialog[open]")) message.focus({ preventScroll: true });
}

// Make room for a pair. Gives back what had the focus before the message took it; null where the focus is elsewhere.
export function hide() {
  const message = by("message");
  const focused = message.contains(document.activeElement) || document.activeElement === document.body;
  message.hidden = true;
  by("tie-button").disabled = by("skip-button").disabled = false;
  return focused ? (focusedBefore ?? document.body) : null;
}
