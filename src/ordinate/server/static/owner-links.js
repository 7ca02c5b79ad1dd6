// Links: to make, to copy, to revoke.

import { copying, loopbackNote } from "./copying.js";
import { byId, count, focusRow, make, setText } from "./dom.js";

/** @typedef {{id: string, role: "owner" | "viewer" | "annotator", annotator: string | null, expires_at: string | null, revoked: boolean,
 *   url: string | null, shared: string | null, names: number | null}} Link */

const STEP = 20; // names more at a time

export class Links {
  #page;
  #role = byId("link-role", HTMLSelectElement);
  #name = byId("link-name", HTMLInputElement);

  /** @param {import("./owner.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#role.addEventListener("change", () => this.#askForName());
    // Something may have been chosen before this ran.
    this.#askForName();
    this.#listen("many-form", () => this.#makeMany());
    this.#listen("link-form", () => this.#make());
  }

  /** A double click makes links once. @param {string} form @param {() => Promise<void>} make */
  #listen(form, make) {
    let running = false;
    byId(form).addEventListener("click", (event) => event.detail > 1 && event.preventDefault());
    byId(form).addEventListener("submit", (event) => {
      event.preventDefault();
      if (running) return;
      running = true;
      make().finally(() => (running = false));
    });
  }

  #askForName() {
    const role = this.#role.value;
    byId("link-name-field").hidden = role === "shared";
    byId("link-name-optional").hidden = role === "named";
    this.#name.required = role === "named";
  }

  /** @param {string | null} newest the link that was just made gets the focus */
  async look(newest = null) {
    /** @type {{links: Link[]}} */
    const { links } = await this.#page.api.get("/links");
    // Links for annotators are handed out most, so they come first; revoked ones last.
    /** @param {Link} link */
    const order = (link) => (link.revoked ? 2 : link.role === "annotator" ? 0 : 1);
    const sorted = [...links].sort((one, other) => order(one) - order(other));
    byId("links").replaceChildren(...sorted.map((link) => this.#row(link)));
    const url = sorted.find((link) => link.url !== null && !link.revoked)?.url;
    const note = url ? loopbackNote(url) : null;
    byId("links-loopback").hidden = note === null;
    setText(byId("links-loopback"), note?.textContent ?? "");
    const button = newest && document.querySelector(`[data-link="${CSS.escape(newest)}"] button`);
    if (button instanceof HTMLElement) button.focus();
    showForNewcomers(sorted.find((link) => link.role === "annotator" && link.annotator === null && !link.revoked));
  }

  /** @param {Link} link @param {() => Promise<void>} again looks at the list again */
  #row(link, again = () => this.look()) {
    const title = titleOf(link);
    const until = link.expires_at === null ? "" : `, until ${new Date(link.expires_at).toLocaleString()}`;
    const names = link.names ? this.#names(link, link.names) : null;
    if (link.revoked || link.url === null) return make("li", { class: "out" }, make("p", {}, `${title}${until}: revoked`), names);
    const { address, copy, state } = copying(link.url, `the link ${title}`);
    const revoke = make("button", { type: "button", class: "quiet small", "aria-label": `Revoke the link ${title}` }, "Revoke");
    const row = make("li", { "data-link": link.id }, make("p", {}, `${title}${until}`), address, make("div", { class: "row" }, copy, revoke, state), this.#code(link, title), names);
    revoke.addEventListener("click", () => this.#revoke(link, title, row, again));
    return row;
  }

  /** The link as a QR code, loaded once it is wanted. @param {Link} link @param {string} title */
  #code(link, title) {
    const box = make("details", {}, make("summary", {}, "QR code"));
    box.addEventListener("toggle", () => {
      if (box.open && !box.querySelector("img")) box.append(make("img", { class: "qr", alt: `QR code of the link ${title}`, src: this.#page.api.address(`/links/${encodeURIComponent(link.id)}/qr.svg`) }));
    });
    return box;
  }

  /**
   * The names that were given by a shared link, each with its own link: to find, to hand out, to revoke.
   * @param {Link} link
   * @param {number} many
   */
  #names(link, many) {
    const list = make("ul", { class: "links" });
    const state = make("p", { class: "hint", role: "status" });
    const showMore = async () => {
      const first = shown;
      await look(shown + STEP);
      if (shown > first) focusRow(list, first, state);
    };
    const more = make("button", { type: "button", hidden: true, onclick: showMore }, "Show more");
    const search = make("input", { type: "search", "aria-label": "Find a name", placeholder: "Find a name", maxlength: 200, oninput: () => look(STEP) });
    const words = make("p", { class: "hint" }, "Whoever opens the link of a name goes on under it: for somebody who changes to another browser.");
    let shown = 0;
    let newest = 0;
    /** @param {number} wanted */
    const look = async (wanted) => {
      const mine = ++newest;
      await this.#page.attempt(async () => {
        const part = encodeURIComponent(search.value.trim());
        /** @type {{names: Link[], total: number}} */
        const { names, total } = await this.#page.api.get(`/links/${encodeURIComponent(link.id)}/names?limit=${Math.min(wanted, 1000)}&search=${part}`);
        // An answer may come after that to a later search.
        if (mine !== newest) return;
        shown = names.length;
        list.replaceChildren(...names.map((one) => this.#row(one, () => look(wanted))));
        setText(state, total === 0 ? "No name has this in it." : shown < total ? `The newest ${shown} of ${total.toLocaleString("en")}` : "");
        more.hidden = shown === total;
      });
    };
    const box = make("details", { class: "names" }, make("summary", {}, `${count(many, "name")} given by this link`), make("div", { class: "stack" }, words, search, list, state, more));
    box.addEventListener("toggle", () => box.open && shown === 0 && look(STEP));
    return box;
  }

  async #make() {
    const role = this.#role.value;
    const days = Number(byId("link-days", HTMLInputElement).value);
    /** @type {{role: string, annotator?: string, expires_at?: string}} */
    const wanted = { role: role === "owner" || role === "viewer" ? role : "annotator" };
    const name = this.#name.value.trim();
    if (role !== "shared" && name) wanted.annotator = name;
    if (days > 0) wanted.expires_at = new Date(Date.now() + days * 86_400_000).toISOString();
    const done = await this.#page.attempt(async () => {
      const { id } = await this.#page.api.post("/links", wanted);
      await this.look(id);
    });
    if (!done) return;
    byId("link-form", HTMLFormElement).reset();
    this.#askForName();
    this.#page.announce("The link is made.");
  }

  async #makeMany() {
    const field = byId("many-names", HTMLTextAreaElement);
    const annotators = field.value.split("\n").map((name) => name.trim()).filter((name) => name !== "");
    const days = Number(byId("many-days", HTMLInputElement).value);
    const until = days > 0 ? { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() } : {};
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post("/links/many", { annotators, ...until });
      await this.look();
    });
    if (!done) return;
    byId("many-form", HTMLFormElement).reset();
    this.#page.announce(`${count(annotators.length, "link")} made.`);
  }

  /** @param {Link} link @param {string} title @param {HTMLElement} row @param {() => Promise<void>} again */
  async #revoke(link, title, row, again) {
    const warning = link.role === "owner" ? " If you came by this link, you are out, too." : "";
    if (!(await this.#page.sure("Revoke this link?", `Everybody who came by the link ${title} is out at once. This cannot be taken back.${warning}`, "Revoke it"))) return;
    const list = row.parentElement ?? byId("links");
    const place = [...list.children].indexOf(row);
    /** @type {Link[]} */
    let others = [];
    const done = await this.#page.attempt(async () => {
      ({ others } = await this.#page.api.post(`/links/${encodeURIComponent(link.id)}/revoke`));
      await again();
    });
    if (!done) return;
    this.#page.announce(`The link is revoked.${othersNote(others)}`);
    focusRow(list, place, byId("links-title"));
  }
}

/** That somebody whose link was revoked still has others, by which they come in. @param {Pick<Link, "annotator" | "role">[]} others */
export function othersNote(others) {
  if (!others.length) return "";
  const roles = others.map((one) => one.role).join(", ");
  return ` ${others[0].annotator} still has ${count(others.length, "link")}: ${roles}.`;
}

/** While there are no answers, the link to hand out stands where the ordering will be. @param {Link | undefined} link */
function showForNewcomers(link) {
  const box = byId("first-link");
  if (!link?.url) {
    box.replaceChildren(make("p", {}, "Make a link for annotators and hand it out."));
    return;
  }
  const { address, copy, state } = copying(link.url, "the first link");
  box.replaceChildren(address, make("div", { class: "row" }, copy, state));
}

/** @param {Link} link */
function titleOf(link) {
  if (link.role === "owner") return link.annotator === null || link.annotator === "owner" ? "for an owner" : `for the owner ${link.annotator}`;
  if (link.role === "viewer") return link.annotator === null ? "to see the results" : `for the viewer ${link.annotator}`;
  if (link.shared !== null) return `of ${link.annotator}`;
  return link.annotator === null ? "for annotators" : `for ${link.annotator}`;
}
