// The rules that an owner may change while people judge. Only what was changed is sent.

import { by, say } from "./dom.js";

// How a rule is shown in its field, and read from it; empty means no limit.
const plain = { show: (value) => value ?? "", read: (field) => (field.value === "" ? null : Number(field.value)) };
const times = (factor) => ({
  show: (value) => (value === null ? "" : Number((value * factor).toPrecision(10))),
  read: (field) => (field.value === "" ? null : Number((Number(field.value) / factor).toPrecision(10))),
});
const FIELDS = {
  budget: plain,
  annotator_budget: plain,
  repeat: { ...times(100), read: (field) => Number(field.value) / 100 },
  lease: times(1 / 60),
  theme: { show: (value) => value, read: (field) => field.value },
  ties: { show: (value) => value, read: (field) => field.checked },
  again: { show: (value) => value, read: (field) => field.checked },
};

export class Rules {
  #page;
  #shown = {};
  #showPaused;

  constructor(page, showPaused) {
    this.#page = page;
    this.#showPaused = showPaused;
    by("rules-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
    by("rules-form").addEventListener("input", () => say(by("rules-saved"), "Not saved yet"));
  }

  async look() {
    this.#show(await this.#page.api.get("/rules"));
  }

  #show(rules) {
    this.#showPaused(rules.paused);
    for (const [name, { show, read }] of Object.entries(FIELDS)) {
      const field = by(`rule-${name}`);
      if (field.type === "checkbox") field.checked = show(rules[name]);
      else field.value = show(rules[name]);
      this.#shown[name] = read(field);
    }
  }

  async #save() {
    const read = Object.entries(FIELDS).map(([name, field]) => [name, field.read(by(`rule-${name}`))]);
    const changes = Object.fromEntries(read.filter(([name, value]) => value !== this.#shown[name]));
    const done = await this.#page.attempt(async () => this.#show(await this.#page.api.patch("/rules", changes)));
    say(by("rules-saved"), done ? "Saved" : "Not saved");
    if (done) this.#page.announce("The rules are saved.");
  }
}
