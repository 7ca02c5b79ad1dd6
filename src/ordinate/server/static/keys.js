// One key for everything. Keys can be switched off, for those whose device types by itself.

import { byId, make } from "./dom.js";
import { browser } from "./storage.js";

/** @typedef {{keys: string[], does?: string, shown: string, words: string, where?: string, holds?: boolean}} Row */

/**
 * keys, what they do, how they are called, for which pairs they are there, and whether holding the key repeats it
 * @type {Row[]}
 */
const TABLE = [
  { keys: ["ArrowLeft"], does: "left", shown: "←", words: "choose the left (or upper) one" },
  { keys: ["ArrowRight"], does: "right", shown: "→", words: "choose the right (or lower) one" },
  { keys: ["4"], does: "left-much", shown: "4", words: "the left (or upper) one, much better", where: "strengths" },
  { keys: ["5"], does: "left-slightly", shown: "5", words: "the left (or upper) one, slightly better", where: "strengths" },
  { keys: ["6"], does: "right-slightly", shown: "6", words: "the right (or lower) one, slightly better", where: "strengths" },
  { keys: ["7"], does: "right-much", shown: "7", words: "the right (or lower) one, much better", where: "strengths" },
  { keys: [" "], does: "tie", shown: "Space", words: "a tie", where: "ties" },
  { keys: ["s", "S"], does: "skip", shown: "S", words: "skip this pair" },
  { keys: ["u", "U", "Backspace"], does: "undo", shown: "U, Backspace", words: "take the last answer back" },
  { keys: ["1"], does: "play-left", shown: "1", words: "play or pause the left one", where: "players" },
  { keys: ["2"], does: "play-right", shown: "2", words: "play or pause the right one", where: "players" },
  { keys: ["+", "="], does: "zoom-in", shown: "+", words: "enlarge; also wheel, pinch, double click", where: "pictures", holds: true },
  { keys: ["-"], does: "zoom-out", shown: "−", words: "make smaller", where: "pictures", holds: true },
  { keys: ["0"], does: "zoom-reset", shown: "0", words: "whole picture", where: "pictures" },
  { keys: [], shown: "Shift + arrows", words: "move the enlarged picture; also drag", where: "pictures" },
  { keys: ["v"], does: "flip", shown: "V", words: "show one over the other; press again to switch", where: "pictures" },
  { keys: ["V"], does: "flip-off", shown: "Shift + V", words: "side by side again", where: "pictures" },
  { keys: ["z", "Z"], does: "keep-zoom", shown: "Z", words: "enlarge the next pairs as this one", where: "pictures" },
  { keys: ["b"], does: "brighter", shown: "B", words: "brighter", where: "pictures", holds: true },
  { keys: ["B"], does: "darker", shown: "Shift + B", words: "darker", where: "pictures", holds: true },
  { keys: ["c"], does: "more-contrast", shown: "C", words: "more contrast", where: "pictures", holds: true },
  { keys: ["C"], does: "less-contrast", shown: "Shift + C", words: "less contrast", where: "pictures", holds: true },
  { keys: ["i", "I"], does: "invert", shown: "I", words: "invert, like a negative", where: "pictures" },
  { keys: ["g", "G"], does: "ground", shown: "G", words: "another ground behind transparent pictures", where: "pictures" },
  { keys: ["r", "R"], does: "appearance-reset", shown: "R", words: "pictures as the study shows them at first", where: "pictures" },
  { keys: [], shown: "↑ ↓", words: "scroll the texts", where: "texts" },
  { keys: ["l", "L"], does: "together", shown: "L", words: "move both together, or each alone", where: "moving" },
  { keys: ["q", "Q"], does: "question", shown: "Q", words: "show the whole question", where: "long question" },
  { keys: ["h", "H"], does: "guidelines", shown: "H", words: "the guidelines", where: "guidelines" },
  { keys: ["f", "F"], does: "full-screen", shown: "F", words: "full screen" },
  { keys: ["d", "D"], does: "theme", shown: "D", words: "light or dark" },
  { keys: ["?"], does: "help", shown: "?", words: "this help" },
];
// These use keys of their own.
const TYPING = "input:not([type=checkbox]), textarea, select, audio, video";
const PRESSED = "button, a, summary, input[type=checkbox]";
const SCROLLING = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"];

/** @typedef {(what: string) => boolean} Has whether the pair on the screen has what a key is for */

/** The keys that do something now. @param {Has} has */
export const rowsFor = (has) => TABLE.filter(({ where }) => where === undefined || has(where));

/** What a key does now, if anything. @param {string} key @param {Has} has */
export const rowOf = (key, has) => rowsFor(has).find(({ keys }) => keys.includes(key));

/** @param {(action: string, event: KeyboardEvent) => void} act @param {Has} has */
export function listenToKeys(act, has) {
  const on = byId("keys-on", HTMLInputElement);
  on.checked = browser.get("keys") ?? true;
  on.addEventListener("change", () => browser.set("keys", on.checked));

  addEventListener("keydown", (event) => {
    const focused = document.activeElement;
    const typing = focused?.matches(TYPING) ?? false;
    // Held down, these would press a focused button again and again.
    if (event.repeat && !typing && (event.key === "Enter" || event.key === " ")) event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || typing || !on.checked) return;
    if (event.key === " " && focused?.matches(PRESSED)) return;
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      act("move", event);
      return;
    }
    if (SCROLLING.includes(event.key)) {
      if (focused?.id !== "question") act("scroll", event);
      return;
    }
    const row = rowOf(event.key, has);
    if (row?.does === undefined) return;
    event.preventDefault();
    // A key held down is one answer, not twenty.
    if (!event.repeat || row.holds) act(row.does, event);
  });
}

/** @param {Has} has */
export function listKeys(has) {
  byId("keys").replaceChildren(
    ...rowsFor(has).map(({ shown, words }) => make("tr", {}, make("th", { scope: "row" }, shown), make("td", {}, words))),
  );
}
