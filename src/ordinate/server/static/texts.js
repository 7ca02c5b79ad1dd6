// How the texts of a pair are set: short ones large, code in a fixed pitch, all others as prose.

/** @typedef {"short" | "code" | "prose"} Setting */

const SHORT = 80; // characters
const SHORT_LINES = 3;
// Ways in which a line of code ends or begins that lines of prose seldom do.
const CODE = /^(\s{2,}|\t)\S|[{};]$|^(def|class|import|from|function|const|let|var|return|if|for|while|#include|public|private|SELECT)\b.*[:;({)]|^\s*(\/\/|#!|<\/?\w+>)/;

/**
 * Both texts of a pair are set in the same way, or the setting would sway the choice.
 * @param {string[]} texts
 * @returns {Setting}
 */
export function settingOf(texts) {
  if (texts.some(isCode)) return "code";
  return texts.every(isShort) ? "short" : "prose";
}

/** @param {string} text */
function isShort(text) {
  return text.length <= SHORT && text.split("\n").length <= SHORT_LINES;
}

/** Code between fences, or two lines and more of which most look like code. @param {string} text */
function isCode(text) {
  if (/^\s*```[\s\S]*```\s*$/.test(text)) return true;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.length > 1 && lines.filter((line) => CODE.test(line.trimEnd())).length > lines.length / 2;
}

/** The text without the fences around it. @param {string} text */
export const withoutFences = (text) => text.replace(/^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/, "$1");
