// Who answers: how much, how consistently, and whether it counts.

import { by, make, percent, say } from "./dom.js";

export class People {
  #page;
  #rows = new Map();

  constructor(page) {
    this.#page = page;
  }

  async look() {
    const { annotators } = await this.#page.api.get("/annotators");
    for (const one of annotators) this.#show(one);
    say(by("people-words"), annotators.length === 0 ? "Nobody yet. Hand out a link." : "“Same answer again” is about pairs asked twice, with sides swapped.");
  }

  // Rows stay the same elements, so the focus stays where it is.
  #show(one) {
    const key = one.name ?? "";
    if (!this.#rows.has(key)) {
      const cells = ["number", "number", "", ""].map((kind) => make("td", { class: kind }));
      const button = make("button", { type: "button", class: "quiet small", onclick: () => this.#change(key) });
      cells[3].append(button);
      const row = make("tr", {}, make("th", { scope: "row" }, one.name ?? "without a name"), ...cells);
      this.#rows.set(key, { cells, button, row });
      by("people").append(row);
    }
    const known = this.#rows.get(key);
    known.one = one;
    const [answers, skips, again] = known.cells;
    say(answers, one.answers.toLocaleString("en"));
    say(skips, one.skips.toLocaleString("en"));
    say(again, one.repeats === 0 ? "–" : `${one.repeats_agreed} of ${one.repeats} (${percent(one.repeats_agreed / one.repeats)})`);
    say(known.button, one.excluded ? "Count again" : "Leave out");
    known.button.setAttribute("aria-label", `${known.button.textContent}: ${one.name ?? "without a name"}`);
    known.button.hidden = one.name === null;
    known.row.classList.toggle("out", one.excluded);
  }

  async #change(key) {
    const { one } = this.#rows.get(key);
    const { name, excluded } = one;
    if (!excluded && !(await this.#page.sure(`Leave out ${name}?`, "Their answers do not count any more, and they get no pairs. You can take this back.", "Leave out"))) return;
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/exclusions", { annotator: name, excluded: !excluded });
      await this.look();
    });
    if (done) this.#page.announce(excluded ? `${name} counts again.` : `${name} is left out.`);
  }
}
