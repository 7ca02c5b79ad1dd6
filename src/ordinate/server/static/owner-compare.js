// Two items side by side: how sure their order is, and which answers say so.

import { byId, count, make, setText } from "./dom.js";
import { htmlPage } from "./html-page.js";
import { AnswerList } from "./owner-answers.js";

/** @typedef {import("./api.js").Item} Item */
/** @typedef {{item: Item, left_won: number, left_answers: number, right_won: number, right_answers: number}} Through */
/** @typedef {{left: Item, right: Item, higher: string, probability: number, left_won: number, right_won: number, ties: number,
 *   through: Through[], through_in_all: number}} Compared */

export class Comparing {
  #page;
  #answers;
  #list = make("div", { class: "stack" });
  #with = byId("compare-with", HTMLInputElement);
  #item = "";
  #looks = 0; // how often it was looked: an answer that was overtaken by another one is not shown

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#answers = new AnswerList(page, this.#list, () => this.#look());
    byId("compare-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#look();
    });
  }

  /** The item beside which another one is put. @param {string} item @param {string[]} others ids to offer */
  begin(item, others) {
    this.#item = item;
    this.#looks++;
    this.#with.value = "";
    setText(byId("compare-words"), "");
    byId("compare-body").replaceChildren();
    byId("compare-ids").replaceChildren(...others.filter((one) => one !== item).map((value) => make("option", { value })));
  }

  async #look() {
    const [left, right] = [this.#item, this.#with.value.trim()];
    const look = ++this.#looks;
    setText(byId("compare-words"), "One moment.");
    byId("compare-body").replaceChildren();
    const done = await this.#page.attempt(async () => {
      /** @type {Compared} */
      const found = await this.#page.api.get(`/compare?left=${encodeURIComponent(left)}&right=${encodeURIComponent(right)}`);
      if (look !== this.#looks) return;
      setText(byId("compare-words"), comparedInWords(found));
      const both = make("div", { class: "both large-both" }, face(found.left, found.higher), face(found.right, found.higher));
      byId("compare-body").replaceChildren(both, ...throughTable(found), this.#list);
      await this.#answers.show("item", left, right);
    });
    // What is wrong stands above the page, which the dialog covers.
    if (!done && look === this.#looks) setText(byId("compare-words"), byId("trouble").textContent ?? "");
  }
}

/** @param {Compared} found */
export function comparedInWords({ left, right, higher, probability, left_won: wins, right_won: losses, ties, through_in_all: third }) {
  const lower = higher === left.id ? right.id : left.id;
  const sure = Math.min(Math.round(100 * probability), 99);
  const asked = wins + losses + ties;
  const direct = asked === 0 ? "They were not compared with each other" : `Compared with each other ${count(asked, "time")}: ${left.id} won ${wins}, ${right.id} won ${losses}${ties ? `, ${count(ties, "tie")}` : ""}`;
  return `${higher} is above ${lower} with a probability of ${sure}\u00a0%, if people answered sensibly. ${direct}; ${count(third, "other item")} stood against both.`;
}

/** @param {Item} item @param {string} higher */
function face(item, higher) {
  const page = item.html_url && htmlPage(item.html_url, `The page of ${item.id}`);
  const picture = item.image_url ? make("img", { src: item.image_url, alt: `The picture of ${item.id}` }) : page || make("p", { class: "words", dir: "auto" }, item.text ?? item.id);
  return make("div", { class: `small-item${item.id === higher ? " won" : ""}` }, picture, make("span", { dir: "auto" }, item.id === higher ? `✓ ${item.id}` : item.id));
}

/** @param {Compared} found */
function throughTable({ left, right, through }) {
  if (through.length === 0) return [];
  const table = make(
    "div",
    { class: "scrolled", tabindex: "0", role: "group", "aria-label": "Items that both were compared with" },
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, "Items that both were compared with"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Against"), make("th", { scope: "col" }, `${left.id} won`), make("th", { scope: "col" }, `${right.id} won`))),
      make("tbody", {}, ...through.map((one) => make("tr", {}, make("th", { scope: "row" }, one.item.id), make("td", {}, `${one.left_won} of ${one.left_answers}`), make("td", {}, `${one.right_won} of ${one.right_answers}`)))),
    ),
  );
  return [table];
}
