// The question above the pair. A long one is folded; it scrolls by keyboard, and a button shows more of it.

import { byId, make, setMarkup } from "./dom.js";

export class Question {
  #element = byId("question");
  #button = byId("question-button", HTMLButtonElement);
  #open = false;
  #newest = ""; // as HTML; nothing was heard yet

  constructor() {
    new ResizeObserver(() => this.#measure()).observe(this.#element);
    this.#measure();
  }

  // Whether it does not fit into its place.
  get isLong() {
    return !this.#button.hidden;
  }

  /** What the question is by now; nobody's question changes under their eyes. @param {string} html cleaned by the server */
  hear(html) {
    this.#newest = html;
  }

  // Show the newest question, above a new pair. True where it is another one than before.
  follow() {
    if (!this.#newest) return false;
    const heard = make("div", {});
    setMarkup(heard, this.#newest);
    if (heard.innerHTML === this.#element.innerHTML) return false;
    this.#element.replaceChildren(...heard.childNodes);
    this.#measure();
    return true;
  }

  get words() {
    return this.#element.textContent.trim();
  }

  toggle() {
    this.#open = !this.#open;
    this.#element.classList.toggle("open", this.#open);
    this.#measure();
  }

  #measure() {
    const { scrollHeight, clientHeight } = this.#element;
    const scrolls = scrollHeight > clientHeight + 1;
    this.#button.hidden = !scrolls && !this.#open;
    this.#button.setAttribute("aria-expanded", String(this.#open));
    this.#button.textContent = this.#open ? "Less" : "More";
    // What scrolls must be reachable by keyboard; what does not need not stand in the way.
    if (scrolls) this.#element.tabIndex = 0;
    else this.#element.removeAttribute("tabindex");
  }
}
