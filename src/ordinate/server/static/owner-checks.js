// Whether the order can be relied on: one sentence, and what each check of the answers found.

import { byId, make, setText } from "./dom.js";

/** @typedef {{check: string, state: "passed" | "failed" | "not run", found: string, advice: string}} Check */

const STATES = { passed: "✓ passed", failed: "✗ failed", "not run": "– not run" };

export class Checks {
  #page;
  #box = byId("checks", HTMLDetailsElement);
  #looks = 0; // how often it was opened: what was overtaken is not shown

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#box.addEventListener("toggle", () => this.#box.open && this.#look());
  }

  async #look() {
    const look = ++this.#looks;
    setText(byId("checks-words"), "One moment; in a large study this takes seconds.");
    const done = await this.#page.attempt(async () => {
      /** @type {{sentence: string, checks: Check[]}} */
      const { sentence, checks } = await this.#page.api.get("/check");
      if (look !== this.#looks) return;
      setText(byId("checks-words"), sentence);
      byId("checks-rows").replaceChildren(...checks.map(row));
      byId("checks-table").hidden = false;
    });
    if (!done && look === this.#looks) setText(byId("checks-words"), "Not known now; close this and open it again.");
  }
}

/** @param {Check} one */
function row({ check, state, found, advice }) {
  return make("tr", { class: state === "failed" ? "noticeable" : "" }, make("th", { scope: "row" }, `${STATES[state]}: ${check}`), make("td", {}, found), make("td", {}, advice));
}
