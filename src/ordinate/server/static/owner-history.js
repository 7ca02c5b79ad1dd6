// What owners changed, and who did it.

import { byId, focusRow, make } from "./dom.js";

/** @typedef {{at: string, by: string | null, what: string}} Change */

const STEP = 30; // changes more at a time

export class History {
  #page;
  #wanted = STEP;

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    const box = byId("history", HTMLDetailsElement);
    box.addEventListener("toggle", () => box.open && this.#look());
    byId("history-more").addEventListener("click", async () => {
      const list = byId("history-list");
      const first = list.children.length;
      this.#wanted += STEP;
      await this.#look();
      if (list.children.length > first) focusRow(list, first, byId("history-title"));
    });
  }

  async #look() {
    await this.#page.attempt(async () => {
      /** @type {{changes: Change[], next_cursor: string | null}} */
      const { changes, next_cursor: next } = await this.#page.api.get(`/changes?limit=${Math.min(this.#wanted, 1000)}`);
      byId("history-list").replaceChildren(...changes.map(row));
      byId("history-more").hidden = next === null;
    });
  }
}

/** @param {Change} change */
function row({ at, by, what }) {
  const when = make("time", { datetime: at }, new Date(at).toLocaleString());
  return make("li", {}, when, make("strong", { dir: "auto" }, by ?? "A command or a program"), ` ${what}`);
}
