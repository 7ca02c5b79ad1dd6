// Two texts that scroll together: both are as far through, however long they are.

export class Scrolling {
  #texts = [];
  #leader = null;
  #release;
  together = true;

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

  // Returns whether there was anything to scroll.
  by(pages) {
    const long = this.#texts.filter((text) => text.scrollHeight > text.clientHeight + 1);
    const text = long.sort((one, other) => other.scrollHeight - one.scrollHeight)[0];
    if (text === undefined) return false;
    for (const moved of this.together ? [text] : long) moved.scrollTop += pages * moved.clientHeight;
    return true;
  }

  #follow(text) {
    // A text that follows scrolls, too; only the one that began may lead.
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
