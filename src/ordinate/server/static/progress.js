// How far judging is: answers and the goal in the header; in the dialog also how the ordering's expected error falls.
// The error is not in the header: there it reads as the annotator's own.

import { doubt, drawChart, errorInWords, errorTable, upToNow } from "./chart.js";
import { byId, count, make } from "./dom.js";

const PAUSE = 4000; // between looks at the study, in milliseconds

export class Progress {
  #api;
  #pending;
  #shown;
  #failed;
  #looking = false;
  #due = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {import("./api.js").Status | null} */
  status = null;
  /** @type {Partial<import("./api.js").Status> | null} counts that are newer than a look under way */
  #newer = null;

  /**
   * @param {import("./api.js").Api} api
   * @param {() => number} pending how many answers of this browser the server has not got yet
   * @param {() => void} shown called after the numbers were shown
   * @param {(error: unknown) => void} failed called where the server does not say how far it is
   */
  constructor(api, pending, shown, failed) {
    this.#api = api;
    this.#failed = failed;
    this.#shown = shown;
    this.#pending = pending;
    byId("progress-button").addEventListener("click", () => this.#open());
  }

  // Look soon; at most every few seconds.
  lookSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look().catch(() => {}), Math.max(this.#due - Date.now(), 0));
  }

  // Raises what the API raises.
  async look() {
    if (this.#looking) return this.status;
    this.#looking = true;
    this.#due = Date.now() + PAUSE;
    try {
      this.#newer = null;
      /** @type {import("./api.js").Status} */
      const status = await this.#api.get("");
      this.status = Object.assign(status, this.#newer);
      this.show();
    } catch (error) {
      this.#failed(error);
      throw error;
    } finally {
      this.#looking = false;
    }
    return this.status;
  }

  /** The server took an answer, or gave one back, and says how many there are now. @param {import("./api.js").Counts} counts */
  counted({ answers, your_answers }) {
    if (this.status === null) return;
    this.#newer = { answers, your: { ...this.status.your, answers: your_answers } };
    this.status = { ...this.status, ...this.#newer };
    this.show();
  }

  // The annotator's own answers, those on their way included.
  get own() {
    return (this.status?.your.answers ?? 0) + this.#pending();
  }

  get history() {
    return this.status === null ? [] : upToNow(this.status);
  }

  get #doubtful() {
    return this.status !== null && doubt(this.status) !== null;
  }

  // Whether the expected error is that after all answers.
  get upToDate() {
    return this.#doubtful || (this.history.at(-1)?.[0] ?? -1) >= (this.status?.answers ?? 0);
  }

  show() {
    if (this.status === null) return;
    this.#shown();
    const { your, goal, answers } = this.status;
    const own = this.own;
    const [reached, asked] = your.budget === null ? [answers + this.#pending(), goal] : [own, your.budget];
    byId("progress-text").textContent =
      your.budget !== null
        ? `${own} of ${count(your.budget, "answer")}`
        : goal !== null
          ? `You: ${own} · all: ${Math.min(reached, goal)} of ${goal}`
          : count(own, "answer");
    byId("meter").hidden = asked === null;
    if (asked !== null) byId("meter-fill").style.width = `${Math.min((100 * reached) / Math.max(asked, 1), 100)}%`;
    if (byId("details", HTMLDialogElement).open) this.#fill();
  }

  /** The same at length, for the dialog and the last page. @returns {Node[]} */
  report() {
    if (this.status === null) return [make("p", {}, "The server has not answered yet.")];
    const { your, goal, answers, items } = this.status;
    const own = `You gave ${count(this.own, "answer")}${your.budget === null ? "" : ` of the ${your.budget} you are asked for`}`;
    const all = `${answers.toLocaleString("en")} that ${answers === 1 ? "counts" : "count"}${goal === null ? "" : `, of ${goal.toLocaleString("en")} wanted`}`;
    return [
      make("p", {}, `${own}. Everybody together gave ${all}, to pairs of ${count(items, "item")}.`),
      make("p", {}, this.#doubtful ? "How good the ordering is cannot be said at the moment." : errorInWords(this.history)),
      ...(this.history.length > 1
        ? [drawChart(this.history, goal), make("details", {}, make("summary", {}, "The numbers"), errorTable(this.history))]
        : []),
    ];
  }

  #open() {
    this.#fill();
    byId("details", HTMLDialogElement).showModal();
    this.look().catch(() => {});
  }

  #fill() {
    byId("details-body").replaceChildren(...this.report());
  }
}
