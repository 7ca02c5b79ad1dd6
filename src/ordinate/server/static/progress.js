// What judging has achieved so far: answers given, the goal, and how the ordering's expected error falls.

import { drawChart, errorInWords, errorTable, upToNow } from "./chart.js";
import { by, count, make, percent } from "./dom.js";

const PAUSE = 4000; // between looks at the study, in milliseconds

export class Progress {
  #api;
  #waiting;
  #looking = false;
  #due = 0;
  #timer;
  status = null;

  // waiting(): how many answers of this browser the server has not got yet
  constructor(api, waiting) {
    this.#api = api;
    this.#waiting = waiting;
    by("progress-button").addEventListener("click", () => this.#open());
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
      const status = await this.#api.get("");
      this.status = { ...status, ...this.#newer };
      this.show();
    } finally {
      this.#looking = false;
    }
    return this.status;
  }

  #newer = null;

  // The server took an answer, or gave one back, and says how many there are now: also newer than a look under way.
  counted({ answers, your_answers }) {
    if (this.status === null) return;
    this.#newer = { answers, your: { ...this.status.your, answers: your_answers } };
    this.status = { ...this.status, ...this.#newer };
    this.show();
  }

  // The annotator's own answers, those on their way included.
  get own() {
    return (this.status?.your.answers ?? 0) + this.#waiting();
  }

  get history() {
    return this.status === null ? [] : upToNow(this.status);
  }

  // Whether the expected error is that after all answers.
  get upToDate() {
    return (this.history.at(-1)?.[0] ?? -1) >= (this.status?.answers ?? 0);
  }

  show() {
    if (this.status === null) return;
    const { your, goal, answers } = this.status;
    const own = this.own;
    const [reached, asked] = your.budget === null ? [answers + this.#waiting(), goal] : [own, your.budget];
    by("progress-text").textContent =
      your.budget !== null
        ? `${own} of ${count(your.budget, "answer")}`
        : goal !== null
          ? `${count(own, "answer")} of yours, ${Math.min(reached, goal)} of ${goal} in all`
          : count(own, "answer");
    by("meter-fill").parentElement.hidden = asked === null;
    if (asked !== null) by("meter-fill").style.width = `${Math.min((100 * reached) / Math.max(asked, 1), 100)}%`;
    const error = this.history.length ? make("span", { class: "error-now" }, `${percent(this.history.at(-1)[1])} error`) : null;
    by("spark").replaceChildren(...(this.history.length > 1 ? [drawChart(this.history, { small: true, goal })] : []), ...(error ? [error] : []));
    if (by("details").open) this.#fill();
  }

  // The same at length, for the dialog and the last page.
  report() {
    if (this.status === null) return [make("p", {}, "The server has not said yet.")];
    const { your, goal, answers, items } = this.status;
    const own = `You gave ${count(this.own, "answer")}${your.budget === null ? "" : ` of the ${your.budget} you are asked for`}`;
    const all = `${answers.toLocaleString("en")}${goal === null ? "" : ` of ${goal.toLocaleString("en")}`}`;
    return [
      make("p", {}, `${own}. All together: ${all}, about ${count(items, "item")}.`),
      make("p", {}, errorInWords(this.history)),
      ...(this.history.length > 1
        ? [drawChart(this.history, { goal }), make("details", {}, make("summary", {}, "The numbers"), errorTable(this.history))]
        : []),
    ];
  }

  #open() {
    this.#fill();
    by("details").showModal();
    this.look().catch(() => {});
  }

  #fill() {
    by("details-body").replaceChildren(...this.report());
  }
}
