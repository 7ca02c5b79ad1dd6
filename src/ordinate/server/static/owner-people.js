// Who answers: how much, how consistently, how fast, and whether it counts.

import { byId, count, make, percent, setText } from "./dom.js";

/** @typedef {{name: string | null, answers: number, skips: number, repeats: number, repeats_agreed: number, excluded: boolean}} Annotator */
/** @typedef {{annotator: string | null, answers: number}[]} VeryFast very fast answers by annotator */

const AT_FIRST = 100; // rows; a table of thousands takes the browser long

/** @typedef {{one: Annotator, cells: HTMLElement[], button: HTMLButtonElement, row: HTMLElement}} Row */

export class People {
  #page;
  /** @type {Map<string, Row>} */
  #rows = new Map();
  #most = AT_FIRST;
  #due = 0;
  #all = byId("all-people");

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#all.addEventListener("click", () => {
      this.#most = Infinity;
      this.#due = 0;
      page.attempt(page.look);
    });
  }

  /** @param {VeryFast} veryFast */
  async look(veryFast) {
    // Thousands of people are looked at less often.
    if (Date.now() < this.#due) return;
    const began = Date.now();
    /** @type {{annotators: Annotator[]}} */
    const { annotators } = await this.#page.api.get("/annotators");
    const quick = new Map(veryFast.map(({ annotator, answers }) => [annotator, answers]));
    // A row that is there stays.
    const shown = annotators.filter((one, place) => place < this.#most || this.#rows.has(one.name ?? ""));
    for (const one of shown) this.#show(one, quick.get(one.name) ?? 0);
    this.#due = Date.now() + 20 * (Date.now() - began);
    this.#all.hidden = shown.length === annotators.length;
    setText(this.#all, `Show all ${count(annotators.length, "annotator")}`);
    const none = "Nobody yet. Hand out a link.";
    const words = "“Same again” counts pairs asked twice, with sides swapped. “Very fast” answers came within half a second, before most people can see both items.";
    setText(byId("people-words"), annotators.length === 0 ? none : words);
  }

  /** Rows stay the same elements, so the focus stays where it is. @param {Annotator} one @param {number} veryFast */
  #show(one, veryFast) {
    const known = this.#rows.get(one.name ?? "") ?? this.#add(one);
    known.one = one;
    const again = one.repeats === 0 ? "–" : `${one.repeats_agreed} of ${one.repeats} (${percent(one.repeats_agreed / one.repeats)})`;
    const values = [one.answers.toLocaleString("en"), one.skips.toLocaleString("en"), veryFast.toLocaleString("en"), again];
    values.forEach((value, place) => setText(/** @type {HTMLElement} */ (known.cells[place]), value));
    known.cells[2]?.classList.toggle("noticeable", veryFast > 0);
    setText(known.button, one.excluded ? "Count again" : "Leave out");
    known.button.setAttribute("aria-label", `${known.button.textContent}: ${one.name ?? "without a name"}`);
    known.button.hidden = one.name === null;
    known.row.classList.toggle("out", one.excluded);
  }

  /** @param {Annotator} one */
  #add(one) {
    const cells = ["number", "number", "number", "", ""].map((kind) => make("td", { class: kind }));
    const button = make("button", { type: "button", class: "quiet small" });
    cells.at(-1)?.append(button);
    const row = make("tr", {}, make("th", { scope: "row" }, one.name ?? "without a name"), ...cells);
    /** @type {Row} */
    const known = { one, cells, button, row };
    button.addEventListener("click", () => this.#change(known.one));
    this.#rows.set(one.name ?? "", known);
    byId("people").append(row);
    return known;
  }

  /** @param {Annotator} one */
  async #change({ name, excluded }) {
    if (!excluded && !(await this.#page.sure(`Leave out ${name}?`, "Their answers do not count any more, and they get no pairs. You can take this back.", "Leave out"))) return;
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/exclusions", { annotator: name, excluded: !excluded });
      this.#due = 0;
      await this.#page.look();
    });
    if (done) this.#page.announce(excluded ? `${name} counts again.` : `${name} is left out.`);
  }
}
