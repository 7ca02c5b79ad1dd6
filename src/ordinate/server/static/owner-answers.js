// A list of single answers, newest first: both items, who, when, how surprising; each can be taken back.

import { count, focusRow, make, percent, setText } from "./dom.js";

/** @typedef {{query: string, left: import("./api.js").Item, right: import("./api.js").Item, answer: string, annotator: string | null, at: string,
 *   duration_ms: number | null, reason: string | null, surprise: number | null}} Answer */

const STEP = 20; // answers more at a time
const SURPRISING = 0.9; // a probability of the opposite answer from which on an answer is marked

/** Which side an answer chose, whatever its strength. @param {string} answer */
export const sideOf = (answer) => (answer.startsWith("left") ? "left" : answer.startsWith("right") ? "right" : null);

/** How probable an answer is by the ordering, which is never certain. @param {number} surprise */
export const expectedInWords = (surprise) => `expected with ${surprise < 0.005 ? "more than 99\u00a0%" : surprise > 0.999 ? "less than 0.1\u00a0%" : percent(1 - surprise)} probability`;

export class AnswerList {
  #page;
  /** @type {HTMLElement} */
  #box;
  #list = make("ol", { class: "answers" });
  #words = make("p", { class: "hint", role: "status" });
  #more = make("button", { type: "button", class: "quiet small", hidden: true }, "Show more");
  #filter = "";
  #wanted = STEP;
  #changed;

  /**
   * @param {import("./owner.js").Page} page
   * @param {HTMLElement} box where it is shown
   * @param {() => unknown} changed is called after an answer was taken back
   */
  constructor(page, box, changed) {
    this.#page = page;
    this.#box = box;
    this.#changed = changed;
    this.#more.addEventListener("click", async () => {
      const first = this.#list.children.length;
      this.#wanted += STEP;
      if (await page.attempt(() => this.look())) focusRow(this.#list, first, this.#words);
    });
  }

  /** @param {"annotator" | "item"} what @param {string} name @param {string} [other] another item that answers are to be with */
  async show(what, name, other) {
    this.#filter = `${what}=${encodeURIComponent(name)}${other === undefined ? "" : `&other=${encodeURIComponent(other)}`}`;
    this.#wanted = STEP;
    this.#list.replaceChildren();
    setText(this.#words, "One moment.");
    this.#box.replaceChildren(this.#words, this.#list, this.#more);
    await this.#page.attempt(() => this.look());
  }

  async look() {
    const asked = this.#filter;
    /** @type {{answers: Answer[], total: number, next_cursor: string | null}} */
    const { answers, total, next_cursor: next } = await this.#page.api.get(`/answers?${asked}&limit=${Math.min(this.#wanted, 1000)}`);
    if (asked !== this.#filter) return;
    const shown = answers.length < total ? `, the newest ${answers.length} shown` : "";
    setText(this.#words, total === 0 ? "No answers were given here." : `${count(total, "answer")} and skips${shown}.`.replace("1 answer and skips", "1 answer or skip"));
    this.#list.replaceChildren(...answers.map((one) => this.#row(one)));
    this.#more.hidden = next === null;
  }

  /** @param {Answer} one */
  #row(one) {
    const chosen = sideOf(one.answer);
    const undo = make("button", { type: "button", class: "quiet small changes", "aria-label": `Take back: ${one.left.id} or ${one.right.id}` }, "Take back");
    undo.addEventListener("click", () => this.#discard(one.query));
    const surprising = one.surprise !== null && one.surprise >= SURPRISING;
    const facts = [
      one.annotator ?? "without a name",
      new Date(one.at).toLocaleString(),
      one.duration_ms === null ? null : `${(one.duration_ms / 1000).toFixed(1)} s`,
      one.surprise === null ? null : expectedInWords(one.surprise),
    ];
    return make(
      "li",
      { class: surprising ? "surprising" : "" },
      make("div", { class: "both" }, side(one.left, chosen === "left"), side(one.right, chosen === "right")),
      make("p", {}, make("strong", {}, inWords(one)), ` · ${facts.filter((fact) => fact !== null).join(" · ")}`),
      undo,
    );
  }

  /** @param {string} query */
  async #discard(query) {
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/answers/discard", { queries: [query] });
      await this.look();
      await this.#changed();
    });
    if (!done) return;
    this.#page.announce("The answer is taken back.");
    // The button that was pressed is gone.
    this.#words.tabIndex = -1;
    this.#words.focus();
  }
}

/** @param {import("./api.js").Item} item @param {boolean} chosen */
function side(item, chosen) {
  const picture = item.thumbnail_url ? make("img", { src: item.thumbnail_url, alt: "", loading: "lazy", decoding: "async" }) : null;
  const words = picture ? item.id : (item.text?.slice(0, 160) ?? item.id);
  return make("div", { class: `small-item${chosen ? " won" : ""}` }, picture, make("span", { dir: "auto" }, chosen ? `✓ ${words}` : words));
}

/** @param {Answer} one */
function inWords({ answer, reason }) {
  if (answer === "skip") return reason ? `Skipped: ${reason}` : "Skipped";
  const [where, how] = answer.split("-");
  if (answer === "both-bad") return "Both bad";
  return `${(where ?? "").replace(/^./, (letter) => letter.toUpperCase())}${how ? `, ${how}` : ""}`;
}
