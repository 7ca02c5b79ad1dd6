// Two texts that scroll together, each to the same share of its length.

export class Scrolling {
  /** @type {HTMLElement[]} */
  #texts = [];
  /** @type {HTMLElement | null} the text that was scrolled; the others follow it */
  #leader = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #release;
  together = true;

  /** @param {HTMLElement[]} texts */
  show(texts) {
    this.#texts = texts;
    for (const text of texts) {
      text.scrollTop = 0;
      if (text.dataset.listening) continue;
      text.dataset.listening = "yes";
      text.addEventListener("scroll", () => this.#follow(text), { passive: true });
    }
  }

  get any() {
    return this.#texts.length > 0;
  }

  /** Returns whether there was anything to scroll. @param {number} pages how far; negative: upwards */
  scrollBy(pages) {
    const long = this.#texts.filter((text) => text.scrollHeight > text.clientHeight + 1);
    const text = long.sort((one, other) => other.scrollHeight - one.scrollHeight)[0];
    if (text === undefined) return false;
    for (const moved of this.together ? [text] : long) moved.scrollTop += pages * moved.clientHeight;
    return true;
  }

  /** @param {HTMLElement} text */
  #follow(text) {
    // A text that follows gets scroll events, too; only the one that began may lead.
    if (!this.together || (this.#leader !== null && this.#leader !== text)) return;
    this.#leader = text;
    clearTimeout(this.#release);
    this.#release = setTimeout(() => {
      this.#leader = null;
    }, 120);
    const share = text.scrollTop / Math.max(text.scrollHeight - text.clientHeight, 1);
    for (const other of this.#texts) {
      if (other !== text) other.scrollTop = share * (other.scrollHeight - other.clientHeight);
    }
  }
}
