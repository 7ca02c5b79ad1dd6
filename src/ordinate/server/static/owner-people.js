// Who answers: how much, how fast, how evenly, how consistently; what looks odd; and what the owner may do about it.

import { byId, count, make, percent, setText } from "./dom.js";
import { AnswerList } from "./owner-answers.js";

/** @typedef {{name: string | null, answers: number, skips: number, open: number, repeats: number, repeats_agreed: number, excluded: boolean,
 *   resting: boolean, median_ms: number | null, decided: number, left: number, last_answer: string | null, practised: number, practice_known: number,
 *   practice_right: number, model: string | null}} Annotator */
/** @typedef {{annotator: string | null, answers: number}[]} VeryFast very fast answers by annotator */
/** @typedef {{name: string | null, with_ordering: number | null, coin: number | null, length_lean: number, with_people: number | null,
 *   with_people_low: number | null, with_people_high: number | null}} Quality */

const AT_FIRST = 100; // rows; a table of thousands takes the browser long
const FEW = 20; // decided answers; of fewer, no side can be told
const OFTEN = 0.1; // share of very fast answers that is mentioned
const NOTICED = 0.2; // a lean by length: the one of two equal items that is twice as long is chosen 55 % of the time
const LIKELY = 0.5; // probability of coin tosses from which on it is mentioned
const QUALITY_EVERY = 20_000; // what the answers say of each takes some fits; in milliseconds

/** @typedef {{one: Annotator, cells: HTMLElement[], button: HTMLButtonElement, row: HTMLElement}} Row */

export class People {
  #page;
  /** @type {Map<string, Row>} */
  #rows = new Map();
  #most = AT_FIRST;
  #due = 0;
  /** @type {Map<string, Quality>} */
  #quality = new Map();
  #qualityDue = 0;
  #qualityOf = ""; // the basis of what is shown of it
  /** @type {Map<string | null, number>} very fast answers by annotator */
  #quick = new Map();
  #all = byId("all-people");
  #answers;
  /** @type {Annotator | null} whose answers are shown */
  #open = null;

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#answers = new AnswerList(page, byId("person-answers"), () => this.#again());
    this.#all.addEventListener("click", async () => {
      const first = this.#rows.size;
      this.#most = Infinity;
      this.#due = 0;
      await page.attempt(page.look);
      [...this.#rows.values()][first]?.button.focus();
    });
    byId("person-rest").addEventListener("click", () => this.#rest());
    byId("person-exclude").addEventListener("click", () => this.#exclude());
    byId("person-undo-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#undoSince();
    });
  }

  /** @param {VeryFast} veryFast @param {Pick<import("./api.js").Status, "answers" | "basis">} study */
  async look(veryFast, { answers, basis }) {
    // Thousands of people are looked at less often.
    if (Date.now() < this.#due) return;
    const began = Date.now();
    /** @type {{annotators: Annotator[]}} */
    const { annotators } = await this.#page.api.get("/annotators");
    this.#quick = new Map(veryFast.map(({ annotator, answers }) => [annotator, answers]));
    // Nobody who has not answered yet clutters the list. A row that is there stays.
    const present = annotators.filter((one) => one.answers + one.skips + one.practised > 0 || one.excluded || one.resting || this.#rows.has(one.name ?? ""));
    const shown = present.filter((one, place) => place < this.#most || this.#rows.has(one.name ?? ""));
    for (const one of shown) this.#show(one);
    this.#due = Date.now() + 20 * (Date.now() - began);
    this.#all.hidden = shown.length === present.length;
    setText(this.#all, `Show all ${count(present.length, "annotator")}`);
    setText(byId("people-words"), wordsAbout(annotators.length, annotators.length - present.length));
    if (answers > 0) this.#lookAtQuality(basis);
  }

  get haveAnswered() {
    return [...this.#rows.values()].some(({ one }) => one.answers > 0);
  }

  /** Nobody waits for this: it may take seconds. @param {string} basis */
  async #lookAtQuality(basis) {
    if (basis === this.#qualityOf || Date.now() < this.#qualityDue) return;
    const began = Date.now();
    this.#qualityDue = Infinity;
    await this.#page.attemptAgain(async () => {
      /** @type {{annotators: Quality[]}} */
      const { annotators } = await this.#page.api.get("/annotators/quality");
      this.#quality = new Map(annotators.map((one) => [one.name ?? "", one]));
      this.#qualityOf = basis;
      for (const { one } of this.#rows.values()) this.#show(one);
    });
    this.#qualityDue = Date.now() + Math.max(QUALITY_EVERY, 20 * (Date.now() - began));
  }

  /** Rows stay the same elements, so the focus stays where it is. @param {Annotator} one */
  #show(one) {
    const known = this.#rows.get(one.name ?? "") ?? this.#add(one);
    known.one = one;
    if (this.#open?.name === one.name) this.#fill(one);
    const quality = this.#quality.get(one.name ?? "");
    const odd = oddities(one, this.#quick.get(one.name) ?? 0, quality?.coin ?? null, quality?.length_lean ?? 0);
    const values = [
      one.answers.toLocaleString("en"),
      one.skips.toLocaleString("en"),
      one.median_ms === null ? "–" : `${(one.median_ms / 1000).toFixed(1)} s`,
      one.decided === 0 ? "–" : percent(one.left / one.decided),
      one.repeats === 0 ? "–" : `${one.repeats_agreed} of ${one.repeats}`,
      quality?.with_ordering == null ? "–" : percent(quality.with_ordering),
      one.last_answer === null ? "–" : ago(one.last_answer),
      odd.join(", "),
    ];
    values.forEach((value, place) => setText(/** @type {HTMLElement} */ (known.cells[place]), value));
    known.cells[7]?.classList.toggle("noticeable", odd.length > 0);
    known.button.hidden = one.name === null;
    known.row.classList.toggle("out", one.excluded);
  }

  /** @param {Annotator} one */
  #add(one) {
    const cells = ["number", "number", "number", "number", "number", "number", "", "", ""].map((kind) => make("td", { class: kind }));
    const button = make("button", { type: "button", class: "quiet small", "aria-label": `Open: ${one.name ?? "without a name"}` }, "Open");
    cells.at(-1)?.append(button);
    const row = make("tr", {}, make("th", { scope: "row" }, one.name ?? "without a name", ...modelNote(one)), ...cells);
    /** @type {Row} */
    const known = { one, cells, button, row };
    button.addEventListener("click", () => this.#enlarge(known.one));
    this.#rows.set(one.name ?? "", known);
    byId("people").append(row);
    return known;
  }

  /** @param {Annotator} one */
  #enlarge(one) {
    this.#open = one;
    setText(byId("person-title"), one.name ?? "");
    this.#fill(one);
    byId("person", HTMLDialogElement).showModal();
    this.#answers.show("annotator", one.name ?? "");
  }

  /** @param {Annotator} one */
  #fill(one) {
    setText(byId("person-rest"), one.resting ? "Give pairs again" : "Give no pairs for now");
    setText(byId("person-exclude"), one.excluded ? "Count the answers again" : "Leave out");
    const state = one.excluded ? "The answers do not count. " : one.resting ? "Gets no pairs for now; the answers count. " : "";
    setText(byId("person-words"), modelInWords(one, this.#quality.get(one.name ?? "")) + state + practiceInWords(one));
  }

  async #again() {
    this.#due = 0;
    await this.#page.look();
  }

  /** @param {() => Promise<unknown>} act @param {string} words */
  async #do(act, words) {
    const done = await this.#page.attempt(async () => {
      await act();
      await this.#again();
    });
    if (done) this.#page.announce(words);
    else byId("person", HTMLDialogElement).close();
    return done;
  }

  async #rest() {
    if (this.#open === null) return;
    const { name, resting } = this.#open;
    await this.#do(() => this.#page.api.post("/annotators/rest", { annotator: name, resting: !resting }), resting ? `${name} gets pairs again.` : `${name} gets no pairs for now.`);
    if (this.#open) this.#open = this.#rows.get(name ?? "")?.one ?? null;
  }

  async #exclude() {
    if (this.#open === null) return;
    const { name, excluded } = this.#open;
    if (!excluded && !(await this.#page.sure(`Leave out ${name}?`, "Their answers do not count any more, and they get no pairs. You can take this back.", "Leave out"))) return;
    await this.#do(() => this.#page.api.post("/exclusions", { annotator: name, excluded: !excluded }), excluded ? `${name} counts again.` : `${name} is left out.`);
    this.#open = this.#rows.get(name ?? "")?.one ?? null;
  }

  async #undoSince() {
    if (this.#open === null) return;
    const { name } = this.#open;
    const since = byId("person-since", HTMLInputElement).value;
    const from = since ? ` from ${new Date(since).toLocaleString()} on` : "";
    if (!(await this.#page.sure(`Take back the answers of ${name}${from}?`, "Their pairs may be asked again. The log keeps the answers, but they cannot be brought back here.", "Take them back"))) return;
    let taken = 0;
    const done = await this.#do(async () => {
      ({ discarded: taken } = await this.#page.api.post("/answers/discard", { annotator: name, ...(since ? { since: new Date(since).toISOString() } : {}) }));
      await this.#answers.look();
    }, "");
    if (done) this.#page.announce(`${count(taken, "answer")} taken back.`);
  }
}

/**
 * What deserves a look.
 * @param {Annotator} one
 * @param {number} veryFast
 * @param {number | null} coin the probability that the answers are coin tosses; null: too few answers
 * @param {number} lengthLean what the fit adds for an item that is twice as long, compared with others
 */
export function oddities({ answers, decided, left, resting, excluded }, veryFast, coin, lengthLean = 0) {
  const found = [];
  if (excluded) found.push("left out");
  if (resting) found.push("rests");
  if (coin !== null && coin >= LIKELY) found.push(`may toss coins (${percent(coin)})`);
  if (answers > 0 && veryFast / answers >= OFTEN) found.push(`${veryFast} very fast`);
  // Three standard deviations of a fair choice.
  if (decided >= FEW && Math.abs(left - decided / 2) > 1.5 * Math.sqrt(decided)) found.push(left > decided / 2 ? "mostly left" : "mostly right");
  if (Math.abs(lengthLean) >= NOTICED) found.push(lengthLean > 0 ? "prefers long" : "prefers short");
  return found;
}

/** Stands by the name of a model. @param {{name: string | null, model: string | null}} one */
const modelNote = ({ name, model }) => (model === null ? [] : [" ", make("span", { class: "kind" }, model === name ? "model" : `model ${model}`)]);

/**
 * @param {{model: string | null}} one
 * @param {Pick<Quality, "with_people" | "with_people_low" | "with_people_high">} [quality]
 */
export function modelInWords({ model }, quality) {
  if (model === null) return "";
  const { with_people: share = null, with_people_low: low = null, with_people_high: high = null } = quality ?? {};
  const people = share === null || low === null || high === null ? "" : `It agrees with people on ${percent(share)} of the pairs that both decided (${percent(low)} to ${percent(high)}). `;
  return `The model ${model} answers under this name. ${people}`;
}

/** How somebody did on the practice pairs. @param {{practised: number, practice_known: number, practice_right: number}} one */
export function practiceInWords({ practised, practice_known: known, practice_right: right }) {
  if (practised === 0) return "";
  return `Practice, which does not count: ${count(practised, "pair")}${known ? `, ${right} of ${known} as expected` : ""}.`;
}

/** @param {number} all @param {number} waiting */
function wordsAbout(all, waiting) {
  if (all === 0) return "Nobody yet. Hand out a link.";
  const others = waiting === 0 ? "" : ` ${count(waiting, "more")} had pairs and gave no answer yet.`.replace("mores", "more");
  return `“Time” is the median of an answer. “Left” is how often the left one was chosen; about half is usual. “Same again” counts pairs asked twice, with sides swapped. “Agrees” is the share of answers that agree with what all other answers say; 50 % is what coin tosses give. “Very fast” answers came within half a second, before most people can see both items.${others}`;
}

/** @param {string} time */
function ago(time) {
  const minutes = Math.max(Math.round((Date.now() - Date.parse(time)) / 60_000), 0);
  if (minutes < 1) return "now";
  if (minutes < 90) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : new Date(time).toLocaleDateString();
}
