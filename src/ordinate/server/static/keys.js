// One key for everything. Keys that answer can be switched off, for those whose device types by itself.

import { browser } from "./kept.js";
import { by, make } from "./dom.js";

// keys, what they do, how they are called, and for which pairs they are there
const TABLE = [
  { keys: ["ArrowLeft"], does: "left", shown: "←", words: "the left (or upper) one" },
  { keys: ["ArrowRight"], does: "right", shown: "→", words: "the right (or lower) one" },
  { keys: [" "], does: "tie", shown: "Space", words: "a tie", where: "ties" },
  { keys: ["s", "S"], does: "skip", shown: "S", words: "skip this pair" },
  { keys: ["u", "U", "Backspace"], does: "undo", shown: "U, Backspace", words: "take the last answer back" },
  { keys: ["1"], does: "play-left", shown: "1", words: "play or pause the left one", where: "players" },
  { keys: ["2"], does: "play-right", shown: "2", words: "play or pause the right one", where: "players" },
  { keys: ["+", "="], does: "zoom-in", shown: "+", words: "enlarge; also wheel, pinch, double click", where: "pictures" },
  { keys: ["-"], does: "zoom-out", shown: "−", words: "make smaller", where: "pictures" },
  { keys: ["0"], does: "zoom-reset", shown: "0", words: "whole picture", where: "pictures" },
  { keys: [], shown: "Shift + arrows", words: "move the enlarged picture; also drag", where: "pictures" },
  { keys: ["b"], does: "brighter", shown: "B", words: "brighter", where: "pictures" },
  { keys: ["B"], does: "darker", shown: "Shift + B", words: "darker", where: "pictures" },
  { keys: ["c"], does: "more-contrast", shown: "C", words: "more contrast", where: "pictures" },
  { keys: ["C"], does: "less-contrast", shown: "Shift + C", words: "less contrast", where: "pictures" },
  { keys: ["i", "I"], does: "invert", shown: "I", words: "invert, like a negative", where: "pictures" },
  { keys: ["r", "R"], does: "light-reset", shown: "R", words: "brightness and contrast as they were", where: "pictures" },
  { keys: [], shown: "↑ ↓", words: "scroll the texts", where: "texts" },
  { keys: ["l", "L"], does: "together", shown: "L", words: "move both together, or each alone", where: "moving" },
  { keys: ["f", "F"], does: "full-screen", shown: "F", words: "full screen" },
  { keys: ["d", "D"], does: "theme", shown: "D", words: "light or dark" },
  { keys: ["?"], does: "help", shown: "?", words: "this help" },
];
// These use keys of their own.
const TYPING = "input:not([type=checkbox]), textarea, select, audio, video";
const PRESSED = "button, a, summary, input[type=checkbox]";

export function listenToKeys(act, has) {
  const on = by("keys-on");
  on.checked = browser.get("keys") ?? true;
  on.addEventListener("change", () => browser.set("keys", on.checked));

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const focused = document.activeElement;
    if (document.querySelector("dialog[open]") || focused?.matches(TYPING) || !on.checked) return;
    if (event.key === " " && focused?.matches(PRESSED)) return;
    if (event.shiftKey && event.key.startsWith("Arrow")) {
      act("move", event);
      return;
    }
    if (["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key)) {
      act("scroll", event);
      return;
    }
    const row = TABLE.find(({ keys, where }) => keys.includes(event.key) && (where === undefined || has(where)));
    if (row === undefined) return;
    event.preventDefault();
    // A key held down is one answer, not twenty.
    if (event.repeat && !/^(zoom|brighter|darker|more|less)/.test(row.does)) return;
    act(row.does, event);
  });
}

export function listKeys(has) {
  const rows = TABLE.filter(({ where }) => where === undefined || has(where));
  by("keys").replaceChildren(
    ...rows.map(({ shown, words }) => make("tr", {}, make("th", { scope: "row" }, shown), make("td", {}, words))),
  );
}
