// Links: to make, to copy, to revoke.

import { byId, make, setText } from "./dom.js";

/** @typedef {{id: string, role: "owner" | "annotator", annotator: string | null, expires_at: string | null, revoked: boolean,
 *   url: string | null, shared: string | null}} Link */

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
    byId("link-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make();
    });
  }

  #askForName() {
    const named = this.#role.value === "named";
    byId("link-name-field").hidden = !named;
    this.#name.required = named;
  }

  /** @param {string | null} newest the link that was just made gets the focus */
  async look(newest = null) {
    /** @type {{links: Link[]}} */
    const { links } = await this.#page.api.get("/links");
    // Links for annotators are handed out most, so they come first; those of names that annotators gave, and revoked ones, last.
    /** @param {Link} link */
    const order = (link) => (link.revoked ? 3 : link.shared !== null ? 2 : link.role === "owner" ? 1 : 0);
    const sorted = [...links].sort((one, other) => order(one) - order(other));
    byId("links").replaceChildren(...sorted.map((link) => this.#row(link)));
    const button = newest && document.querySelector(`[data-link="${CSS.escape(newest)}"] button`);
    if (button instanceof HTMLElement) button.focus();
    showForNewcomers(sorted.find((link) => link.role === "annotator" && link.annotator === null && !link.revoked));
  }

  /** @param {Link} link */
  #row(link) {
    const title = titleOf(link);
    const until = link.expires_at === null ? "" : `, until ${new Date(link.expires_at).toLocaleString()}`;
    if (link.revoked || link.url === null) return make("li", { class: "out" }, make("p", {}, `${title}${until}: revoked`));
    const { address, copy, state } = copying(link.url, `the link ${title}`);
    const revoke = make("button", { type: "button", class: "quiet small", "aria-label": `Revoke the link ${title}` }, "Revoke");
    revoke.addEventListener("click", () => this.#revoke(link, title));
    return make("li", { "data-link": link.id }, make("p", {}, `${title}${until}`), address, make("div", { class: "row" }, copy, revoke, state));
  }

  async #make() {
    const role = this.#role.value;
    const days = Number(byId("link-days", HTMLInputElement).value);
    /** @type {{role: string, annotator?: string, expires_at?: string}} */
    const wanted = { role: role === "owner" ? "owner" : "annotator" };
    if (role === "named") wanted.annotator = this.#name.value.trim();
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

  /** @param {Link} link @param {string} title */
  async #revoke(link, title) {
    const warning = link.role === "owner" ? " If you came by this link, you are out, too." : "";
    if (!(await this.#page.sure("Revoke this link?", `Everybody who came by the link ${title} is out at once. This cannot be taken back.${warning}`, "Revoke it"))) return;
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post(`/links/${encodeURIComponent(link.id)}/revoke`);
      await this.look();
    });
    if (done) this.#page.announce("The link is revoked.");
  }
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

/** An address with a button that copies it. @param {string} url @param {string} title */
function copying(url, title) {
  const address = make("input", { readonly: true, value: url, "aria-label": `Address of ${title}` });
  address.addEventListener("focus", () => address.select());
  const state = make("span", { class: "hint", role: "status" });
  const copy = make("button", { type: "button", class: "main-button small", "aria-label": `Copy ${title}` }, "Copy");
  copy.addEventListener("click", async () => setText(state, (await copied(address)) ? "Copied" : "Press Ctrl+C to copy"));
  return { address, copy, state };
}

/** @param {Link} link */
function titleOf(link) {
  if (link.role === "owner") return link.annotator === null || link.annotator === "owner" ? "for an owner" : `for the owner ${link.annotator}`;
  if (link.shared !== null) return `of ${link.annotator}, who came by a link for annotators`;
  return link.annotator === null ? "for annotators" : `for ${link.annotator}`;
}

/** @param {HTMLInputElement} input */
async function copied(input) {
  input.focus();
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    // Without TLS there is no clipboard but this old way.
    return document.execCommand("copy");
  }
}
