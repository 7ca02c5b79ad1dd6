// Links: to make, to copy, to revoke.

import { by, make, say } from "./dom.js";

export class Links {
  #page;

  constructor(page) {
    this.#page = page;
    const role = by("link-role");
    role.addEventListener("change", () => this.#askForName());
    // Something may have been chosen before this ran.
    this.#askForName();
    by("link-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#make();
    });
  }

  #askForName() {
    const named = by("link-role").value === "named";
    by("link-name-field").hidden = !named;
    by("link-name").required = named;
  }

  async look(newest = null) {
    const { links } = await this.#page.api.get("/links");
    // Links for annotators are handed out most, so they come first; revoked ones last.
    const order = (link) => (link.revoked ? 2 : link.role === "owner" ? 1 : 0);
    const sorted = [...links].sort((one, other) => order(one) - order(other));
    by("links").replaceChildren(...sorted.map((link) => this.#row(link)));
    if (newest) document.querySelector(`[data-link="${CSS.escape(newest)}"] button`)?.focus();
  }

  #row(link) {
    const title = titleOf(link);
    const until = link.expires_at === null ? "" : `, until ${new Date(link.expires_at).toLocaleString()}`;
    if (link.revoked) return make("li", { class: "out" }, make("p", {}, `${title}${until}: revoked`));
    const address = make("input", { readonly: true, value: link.url, "aria-label": `Address of the link ${title}` });
    address.addEventListener("focus", () => address.select());
    const state = make("span", { class: "hint", role: "status" });
    const copy = make("button", { type: "button", class: "main-button small", "aria-label": `Copy the link ${title}` }, "Copy");
    copy.addEventListener("click", async () => say(state, (await copied(address)) ? "Copied" : "Press Ctrl+C to copy"));
    const revoke = make("button", { type: "button", class: "quiet small", "aria-label": `Revoke the link ${title}` }, "Revoke");
    revoke.addEventListener("click", () => this.#revoke(link, title));
    return make("li", { "data-link": link.id }, make("p", {}, `${title}${until}`), address, make("div", { class: "row" }, copy, revoke, state));
  }

  async #make() {
    const role = by("link-role").value;
    const days = Number(by("link-days").value);
    const wanted = { role: role === "owner" ? "owner" : "annotator" };
    if (role === "named") wanted.annotator = by("link-name").value.trim();
    if (days > 0) wanted.expires_at = new Date(Date.now() + days * 86_400_000).toISOString();
    const done = await this.#page.attempt(async () => {
      const { id } = await this.#page.api.post("/links", wanted);
      await this.look(id);
    });
    if (!done) return;
    by("link-form").reset();
    this.#askForName();
    this.#page.announce("The link is made.");
  }

  async #revoke(link, title) {
    const warning = link.role === "owner" ? " If it is the one that you came by, you are out, too." : "";
    if (!(await this.#page.sure("Revoke this link?", `The link ${title}: whoever came by it is out at once. This cannot be taken back.${warning}`, "Revoke it"))) return;
    const done = await this.#page.attempt(async () => {
      await this.#page.api.post(`/links/${encodeURIComponent(link.id)}/revoke`);
      await this.look();
    });
    if (done) this.#page.announce("The link is revoked.");
  }
}

function titleOf(link) {
  if (link.role === "owner") return link.annotator === null || link.annotator === "owner" ? "for an owner" : `for the owner ${link.annotator}`;
  return link.annotator === null ? "for annotators" : `for ${link.annotator}`;
}

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
