// The ordering as a list of pictures or texts, best first; a press on one shows it large.

import { byId, count, make, setMarkup } from "./dom.js";
import { AnswerList } from "./owner-answers.js";

/** @typedef {import("./api.js").Item} Item */
/** @typedef {{rank: number, group: string | null, score: number, standard_error: number, rank_low: number, rank_high: number, rank_tied_low: number, rank_tied_high: number, item: Item}} Row */
/** @typedef {{element: HTMLElement, button: HTMLButtonElement, face: HTMLElement, words: HTMLElement, bar: HTMLElement, shown: string | null}} Card */

const STEP = 24; // items more at a time
const EVERY = 15_000; // the ordering is computed at most so often, in milliseconds

export class OrderingList {
  #page;
  #answers;
  #wanted = STEP;
  /** @type {Row[]} */
  #rows = [];
  /** @type {Card[]} */
  #cards = [];
  #due = 0;
  /** @type {Row | null} the one that is shown large */
  #open = null;
  /** @type {Set<string>} items that were left out since the page was opened */
  #left = new Set();

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#answers = new AnswerList(page, byId("item-answers"), () => this.look(true));
    byId("more").addEventListener("click", async () => {
      const first = this.#rows.length;
      this.#wanted += STEP;
      await page.attempt(() => this.look(true));
      this.#cards[first]?.button.focus();
    });
    byId("refresh").addEventListener("click", async () => {
      if (await page.attempt(() => this.look(true))) page.announce("The ordering is up to date.");
    });
    byId("item-exclude").addEventListener("click", () => this.#exclude());
  }

  /** Without answers there is no ranking: only what to do is shown. @param {boolean} any whether there are answers */
  showAny(any) {
    byId("no-answers").hidden = any;
    byId("ranking").hidden = byId("refresh").hidden = !any;
  }

  /** Returns whether it looked: not before some time has passed, unless `now`. */
  async look(now = false) {
    if (!now && Date.now() < this.#due) return false;
    const began = Date.now();
    this.#rows = [];
    /** @type {string | null} */
    let cursor = "";
    let total = 0;
    while (cursor !== null && this.#rows.length < this.#wanted) {
      const limit = Math.min(this.#wanted - this.#rows.length, 1000);
      /** @type {{ordering: Row[], total: number, next_cursor: string | null}} */
      const part = await this.#page.api.get(`/ordering?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      this.#rows.push(...part.ordering);
      total = part.total;
      cursor = part.next_cursor;
    }
    // A large study takes long to order, so it is looked at less often.
    this.#due = Date.now() + Math.max(EVERY, 5 * (Date.now() - began));
    this.#show(total, cursor === null);
    return true;
  }

  /** @param {number} total @param {boolean} all whether all are listed */
  #show(total, all) {
    const words = all ? count(total, "item") : `The first ${this.#rows.length} of ${count(total, "item")}`;
    byId("ordering-words").textContent = `${words}, highest first. Items that share ranks cannot be told apart yet. The bar shows the score and how sure it is.`;
    byId("more").hidden = all;
    const low = Math.min(...this.#rows.map((row) => row.score - row.standard_error));
    const high = Math.max(...this.#rows.map((row) => row.score + row.standard_error));
    // A place in the list keeps its element, so the focus stays where it is when items move.
    while (this.#cards.length < this.#rows.length) this.#cards.push(this.#card(this.#cards.length));
    this.#cards.splice(this.#rows.length);
    this.#rows.forEach((row, place) => fillCard(/** @type {Card} */ (this.#cards[place]), row, low, high - low || 1));
    byId("ordering").replaceChildren(...this.#cards.map((card) => card.element));
  }

  /** @param {number} place @returns {Card} */
  #card(place) {
    const face = make("span", { class: "face" });
    const words = make("span", { class: "under" });
    const bar = make("span", { class: "range", "aria-hidden": "true" }, make("span"));
    const button = make("button", { type: "button", class: "item-card", onclick: () => this.#enlarge(/** @type {Row} */ (this.#rows[place])) }, face, words, bar);
    return { element: make("li", {}, button), button, face, words, bar, shown: null };
  }

  /** @param {Row} row */
  #enlarge(row) {
    this.#open = row;
    const { item } = row;
    byId("item-title").textContent = item.id;
    byId("item-body").replaceChildren(
      ...[
        item.image_url && make("img", { src: item.image_url, alt: item.text ?? `The picture of ${item.id}`, class: "large" }),
        item.video_url && make("video", { src: item.video_url, controls: true, playsinline: true, "aria-label": `The video of ${item.id}` }),
        item.audio_url && make("audio", { src: item.audio_url, controls: true, "aria-label": `The sound of ${item.id}` }),
        item.text && wholeText(item),
        item.link && /^https?:\/\//i.test(item.link) && make("a", { href: item.link, target: "_blank", rel: "noopener noreferrer" }, "Open it in a new tab"),
        make("p", {}, `Rank ${span(row.rank_tied_low, row.rank_tied_high)}${row.group == null ? "" : ` in group ${row.group}`}; likely ranks ${span(row.rank_low, row.rank_high)}; score ${row.score.toFixed(2)} ± ${row.standard_error.toFixed(2)}.`),
      ].flatMap((element) => element || []),
    );
    this.#label();
    byId("item", HTMLDialogElement).showModal();
    this.#answers.show("item", item.id);
  }

  #label() {
    byId("item-exclude").textContent = this.#open && this.#left.has(this.#open.item.id) ? "Take it in again" : "Leave it out of the study";
  }

  async #exclude() {
    if (this.#open === null) return;
    const { id } = this.#open.item;
    const excluded = !this.#left.has(id);
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/exclusions", { item: id, excluded });
      await this.look(true);
    });
    if (!done) {
      byId("item", HTMLDialogElement).close();
      return;
    }
    if (excluded) this.#left.add(id);
    else this.#left.delete(id);
    this.#label();
    this.#page.announce(excluded ? `${id} is left out.` : `${id} is in again.`);
  }
}

/** @param {Item} item */
function wholeText({ text, text_html: html }) {
  const attributes = { tabindex: "0", role: "group", "aria-label": "The text", dir: "auto" };
  const words = make("div", { class: `scrolled words${html ? " markdown" : ""}`, ...attributes }, html ? "" : (text ?? ""));
  if (html) setMarkup(words, html);
  return words;
}

/** Where the server cannot make a thumbnail the browser may still be able to show the picture. @param {Item} item */
const showWhole = (item) => (/** @type {{currentTarget: HTMLImageElement}} */ { currentTarget }) => {
  const whole = new URL(item.image_url ?? "", location.href).href;
  if (currentTarget.src !== whole) currentTarget.src = whole;
};

/** @param {number} low @param {number} high */
const span = (low, high) => (low === high ? `${low}` : `${low} to ${high}`);

/** @param {Card} card @param {Row} row @param {number} low the lower end of all bars @param {number} width */
function fillCard(card, row, low, width) {
  const { item } = row;
  if (card.shown !== item.id) {
    card.shown = item.id;
    card.face.replaceChildren(
      item.thumbnail_url
        ? make("img", { src: item.thumbnail_url, alt: "", loading: "lazy", decoding: "async", onerror: showWhole(item) })
        : make("span", { class: "excerpt", dir: "auto" }, (item.text ?? item.id).slice(0, 200)),
    );
  }
  const group = row.group == null ? "" : `${row.group} · `;
  const shared = span(row.rank_tied_low, row.rank_tied_high);
  card.words.replaceChildren(make("b", {}, `${group}${shared.replace(" to ", "–")}`), make("span", {}, `${row.score.toFixed(2)} ± ${row.standard_error.toFixed(2)}`));
  card.button.setAttribute("aria-label", `Rank ${group}${shared}: ${item.text?.slice(0, 80) ?? item.id}, score ${row.score.toFixed(2)}, standard error ${row.standard_error.toFixed(2)}`);
  const range = /** @type {HTMLElement} */ (card.bar.firstElementChild);
  range.style.left = `${(100 * (row.score - row.standard_error - low)) / width}%`;
  range.style.width = `${(200 * row.standard_error) / width}%`;
}
