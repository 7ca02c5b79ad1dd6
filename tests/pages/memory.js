// A browser's storage that holds so many characters.

/** @implements {Storage} */
export class MemoryStorage {
  /** @type {Map<string, string>} */
  #kept = new Map();
  #most;

  constructor(most = Infinity) {
    this.#most = most;
  }

  get length() {
    return this.#kept.size;
  }

  /** @param {number} place */
  key(place) {
    return [...this.#kept.keys()][place] ?? null;
  }

  /** @param {string} name */
  getItem(name) {
    return this.#kept.get(name) ?? null;
  }

  /** @param {string} name @param {string} value */
  setItem(name, value) {
    const others = [...this.#kept].filter(([other]) => other !== name).map(([other, text]) => other.length + text.length);
    if (others.reduce((sum, size) => sum + size, name.length + value.length) > this.#most) throw new Error("the disk is full");
    this.#kept.set(name, value);
  }

  /** @param {string} name */
  removeItem(name) {
    this.#kept.delete(name);
  }

  clear() {
    this.#kept.clear();
  }
}
