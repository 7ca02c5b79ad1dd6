// Rows of cells as an owner types them: a row on each line, with bars between its cells. A cell that has a bar itself
// stands in quotation marks, and its own quotation marks are doubled: photo-01 | "a | b" | left

const CELL = /[ \t]*(?:"((?:[^"]|"")*)"[ \t]*(?=[|\n]|$)|([^|\n]*))(\||\n|$)/y;

/** Empty lines are left out. @param {string} text @returns {string[][]} */
export function parsed(text) {
  /** @type {string[][]} */
  const rows = [];
  /** @type {string[]} */
  let row = [];
  CELL.lastIndex = 0;
  for (let more = true; more; ) {
    const [, quoted, plain = "", end] = CELL.exec(text) ?? [];
    row.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    more = end === "|" || CELL.lastIndex < text.length;
    if (end === "|") continue;
    if (row.some((cell) => cell !== "")) rows.push(row);
    row = [];
  }
  return rows;
}

/** What `parsed` reads as these rows. @param {string[][]} rows */
export const written = (rows) => rows.map((row) => row.map(quoted).join(" | ")).join("\n");

/** @param {string} cell */
const quoted = (cell) => (/[|"\n]|^\s|\s$|^$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
