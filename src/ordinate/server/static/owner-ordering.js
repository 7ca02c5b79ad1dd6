// The ordering as a list of pictures or texts, best first; a press on one shows it large.

import { byId, count, fixed, focusRow, make, setMarkup } from "./dom.js";
import { htmlPage } from "./html-page.js";
import { AnswerList } from "./owner-answers.js";
import { Comparing } from "./owner-compare.js";

/** @typedef {import("./api.js").Item} Item */
/** @typedef {{rank: number, group: string | null, score: number, standard_error: number, rank_low: number, rank_high: number, rank_tied_low: number, rank_tied_high: number, part: number | null, membership: number | null, item: Item}} Row */
/** @typedef {{aim: string[], wanted: number, measure: "recall" | "right side" | "right grade", expected: number | null, expected_low: number | null, expected_high: number | null, withheld: string | null}} Selection */
/** @typedef {{element: HTMLElement, button: HTMLButtonElement, face: HTMLElement, words: HTMLElement, bar: HTMLElement, shown: string | null}} Card */

const STEP = 24; // items more at a time
const EVERY = 3000; // the ordering is computed at most so often, in milliseconds
const PAUSE = 250; // after the last letter of a search
/** @typedef {"highest" | "middle" | "lowest"} Part */

export class OrderingList {
  #page;
  #answers;
  #comparing;
  #wanted = STEP;
  /** @type {Part} */
  #part = "highest";
  /** @type {Row[]} */
  #rows = [];
  /** @type {Card[]} */
  #cards = [];
  /** @type {Selection | null} */
  #selection = null;
  #due = 0;
  #looks = 0;
  /** @type {Row | null} the one that is shown large */
  #open = null;
  /** @type {Set<string>} items that were left out since the page was opened */
  #left = new Set();

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#answers = new AnswerList(page, byId("item-answers"), () => this.look(true));
    this.#comparing = new Comparing(page);
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
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    byId("find-item").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => this.#begin(this.#part), PAUSE);
    });
    byId("find-group").addEventListener("change", () => this.#begin(this.#part));
    for (const part of /** @type {Part[]} */ (["highest", "middle", "lowest"])) byId(`to-${part}`).addEventListener("click", () => this.#begin(part));
  }

  /** Without answers there is no ranking: only what to do is shown. @param {boolean} any whether there are answers */
  showAny(any) {
    byId("no-answers").hidden = any;
    byId("ranking").hidden = byId("refresh").hidden = !any;
  }

  /** Show another part of the list, or that which is searched for. @param {Part} part */
  #begin(part) {
    this.#part = part;
    this.#wanted = STEP;
    for (const one of ["highest", "middle", "lowest"]) byId(`to-${one}`).setAttribute("aria-pressed", String(one === part));
    this.#page.attempt(() => this.look(true));
  }

  /** @param {string} more of the address */
  #get(more) {
    const group = byId("find-group", HTMLSelectElement).value;
    const search = byId("find-item", HTMLInputElement).value.trim();
    const filter = `${search && `&search=${encodeURIComponent(search)}`}${group && `&group=${encodeURIComponent(group)}`}`;
    /** @type {Promise<{ordering: Row[], total: number, next_cursor: string | null, groups: string[], excluded: string[], selection: Selection | null}>} */
    const got = this.#page.api.get(`/ordering?${more}${filter}`);
    return got;
  }

  /** Returns whether it looked: not before some time has passed, unless `now`. */
  async look(now = false) {
    if (!now && Date.now() < this.#due) return false;
    const began = Date.now();
    const mine = ++this.#looks;
    /** @type {Row[]} */
    const rows = [];
    // Where the part begins follows from how many there are.
    let start = 0;
    if (this.#part !== "highest") {
      const { total } = await this.#get("limit=1");
      start = Math.max(Math.round(this.#part === "middle" ? (total - this.#wanted) / 2 : total - this.#wanted), 0);
    }
    /** @type {string | null} */
    let cursor = String(start);
    let total = 0;
    while (cursor !== null && rows.length < this.#wanted) {
      const part = await this.#get(`limit=${Math.min(this.#wanted - rows.length, 1000)}&cursor=${cursor}`);
      rows.push(...part.ordering);
      total = part.total;
      this.#selection = part.selection;
      cursor = part.next_cursor;
      this.#showAside(part.groups, part.excluded);
    }
    // Another part may have been asked for meanwhile.
    if (mine !== this.#looks) return true;
    this.#rows = rows;
    // A large study takes long to order, so it is looked at less often.
    this.#due = Date.now() + Math.max(EVERY, 5 * (Date.now() - began));
    this.#show(total, start === 0 && cursor === null);
    byId("more").hidden = rows.length >= total;
    return true;
  }

  /** @param {string[]} groups @param {string[]} excluded */
  #showAside(groups, excluded) {
    byId("group-field").hidden = groups.length < 2;
    const select = byId("find-group", HTMLSelectElement);
    if (select.options.length !== groups.length + 1) {
      select.replaceChildren(make("option", { value: "" }, "all"), ...groups.map((group) => make("option", { value: group }, group)));
    }
    byId("left-out").hidden = excluded.length === 0;
    byId("left-out-words").textContent = `${count(excluded.length, "item")} left out`;
    // Rows stay the same elements, so the focus stays where it is.
    const list = byId("left-out-list");
    const rows = new Map([...list.children].map((row) => [row.firstElementChild?.textContent ?? "", row]));
    for (const [id, row] of rows) if (!excluded.includes(id)) row.remove();
    list.append(...excluded.filter((id) => !rows.has(id)).map((id) => this.#leftOut(id)));
  }

  /** @param {string} id */
  #leftOut(id) {
    const back = make("button", { type: "button", class: "quiet small changes", "aria-label": `Take in again: ${id}` }, "Take in again");
    const row = make("li", { class: "row" }, make("span", {}, id), back);
    back.addEventListener("click", async () => {
      const list = byId("left-out-list");
      const place = [...list.children].indexOf(row);
      if (await this.#change(id, false)) focusRow(list, place, byId("ordering-title"));
    });
    return row;
  }

  /** @param {number} total @param {boolean} all whether all are listed */
  #show(total, all) {
    const which = { highest: "The first", middle: "The middle", lowest: "The last" }[this.#part];
    const words = all ? count(total, "item") : `${which} ${this.#rows.length} of ${count(total, "item")}`;
    const found = this.#selection === null ? "" : ` ${foundInWords(this.#selection)}`;
    byId("ordering-words").textContent = `${words}, highest first. In parentheses are the ranks that are likely (90\u00a0%). The bar shows the score and how sure it is.${found}`;
    const low = Math.min(...this.#rows.map((row) => row.score - row.standard_error));
    const high = Math.max(...this.#rows.map((row) => row.score + row.standard_error));
    // A place in the list keeps its element, and stays in the page, so the focus stays where it is when items move.
    for (const { element } of this.#cards.splice(this.#rows.length)) element.remove();
    while (this.#cards.length < this.#rows.length) this.#cards.push(this.#card(this.#cards.length));
    byId("ordering").append(...this.#cards.map(({ element }) => element).filter((element) => !element.isConnected));
    this.#rows.forEach((row, place) => fillCard(/** @type {Card} */ (this.#cards[place]), row, low, high - low || 1, this.#selection));
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
        item.html_url && htmlPage(item.html_url, `The page of ${item.id}`),
        item.text && wholeText(item),
        item.link && /^https?:\/\//i.test(item.link) && make("a", { href: item.link, target: "_blank", rel: "noopener noreferrer" }, "Open it in a new tab"),
        make("p", {}, `Rank ${row.rank}${row.group == null ? "" : ` in group ${row.group}`}, likely ${span(row.rank_low, row.rank_high)}; score ${fixed(row.score)} ± ${row.standard_error.toFixed(2)}.`),
      ].flatMap((element) => element || []),
    );
    this.#label();
    byId("item", HTMLDialogElement).showModal();
    this.#comparing.begin(item.id, this.#rows.map((one) => one.item.id));
    this.#answers.show("item", item.id);
  }

  #label() {
    byId("item-exclude").textContent = this.#open && this.#left.has(this.#open.item.id) ? "Take it in again" : "Leave it out of the study";
  }

  async #exclude() {
    if (this.#open === null) return;
    const { id } = this.#open.item;
    const excluded = !this.#left.has(id);
    if (await this.#change(id, excluded)) this.#label();
    else byId("item", HTMLDialogElement).close();
  }

  /** @param {string} id @param {boolean} excluded */
  async #change(id, excluded) {
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/exclusions", { item: id, excluded });
      await this.look(true);
    });
    if (!done) return false;
    if (excluded) this.#left.add(id);
    else this.#left.delete(id);
    this.#page.announce(excluded ? `${id} is left out.` : `${id} is in again.`);
    return true;
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

/** What the study's aim has found: "Aim: top:10. About 84 % of the wanted items ...". @param {Selection} selection */
export function foundInWords({ aim, wanted, measure, expected, expected_low: low, expected_high: high, withheld }) {
  const said = `Aim: ${aim.join(", ")}.`;
  if (expected === null || low === null || high === null) return `${said} How much of it is found is not known: ${withheld}.`;
  const [about, from, to] = [expected, low, high].map((share) => Math.round(100 * share));
  const of = {
    recall: `of the wanted items are among the ${wanted} that are marked`,
    "right side": "of the items are on the right side of the mark",
    "right grade": "of the items are in the right grade",
  };
  return `${said} About ${about}\u00a0% ${of[measure]} (${from} to ${to}\u00a0%).`;
}

/** "wanted, 93 %", "not wanted, 4 %", "grade 2, 83 %"; "" without an aim. @param {Row} row @param {Selection | null} selection */
export function partInWords({ part, membership }, selection) {
  if (selection === null || part === null || membership === null) return "";
  const shown = selection.measure === "right grade" ? `grade ${part}` : part === 1 ? "wanted" : "not wanted";
  return `${shown}, ${Math.round(100 * membership)}\u00a0%`;
}

/** @param {Card} card @param {Row} row @param {number} low the lower end of all bars @param {number} width @param {Selection | null} selection */
function fillCard(card, row, low, width, selection) {
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
  const likely = span(row.rank_low, row.rank_high);
  const sure = likely === String(row.rank);
  card.words.replaceChildren(make("b", {}, `${group}${row.rank}${sure ? "" : ` (${likely.replace(" to ", "–")})`}`), make("span", {}, `${fixed(row.score)} ± ${row.standard_error.toFixed(2)}`));
  if (item.thumbnail_url) card.words.append(make("span", { class: "item-id" }, item.id));
  const part = partInWords(row, selection);
  if (part) card.words.append(make("span", { class: "part" }, part));
  card.button.setAttribute("aria-label", `Rank ${group}${row.rank}${sure ? "" : `, likely ${likely}`}: ${item.text?.slice(0, 80) ?? item.id}, score ${fixed(row.score)}, standard error ${row.standard_error.toFixed(2)}${part && `, ${part}`}`);
  const range = /** @type {HTMLElement} */ (card.bar.firstElementChild);
  range.style.left = `${(100 * (row.score - row.standard_error - low)) / width}%`;
  range.style.width = `${(200 * row.standard_error) / width}%`;
}
