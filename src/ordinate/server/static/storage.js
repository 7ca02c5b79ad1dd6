// What this browser keeps, under names that begin with "ordinate:". Where the browser stores nothing, it is kept in
// memory until the page is left.

const PREFIX = "ordinate:";

export class Kept {
  #storage;
  /** @type {Map<string, string>} */
  #memory = new Map();

  /** @param {Storage | null} storage null: the browser stores nothing */
  constructor(storage) {
    this.#storage = storage;
  }

  // Whether what is kept outlasts the page.
  get lasting() {
    return this.#storage !== null;
  }

  /** @param {string} name @returns {any} undefined where nothing is kept */
  get(name) {
    const text = this.#memory.get(name) ?? this.#storage?.getItem(PREFIX + name);
    return text == null ? undefined : JSON.parse(text);
  }

  /** A full disk leaves it in memory. @param {string} name @param {unknown} value */
  set(name, value) {
    const text = JSON.stringify(value);
    try {
      if (!this.#storage) throw new Error("this browser stores nothing");
      this.#storage.setItem(PREFIX + name, text);
      this.#memory.delete(name);
    } catch {
      this.#memory.set(name, text);
    }
  }

  /** @param {string} name */
  remove(name) {
    this.#storage?.removeItem(PREFIX + name);
    this.#memory.delete(name);
  }

  /** @param {string} start @returns {string[]} */
  names(start) {
    const names = new Set(this.#memory.keys());
    for (let place = 0; place < (this.#storage?.length ?? 0); place++) {
      const key = this.#storage?.key(place);
      if (key?.startsWith(PREFIX)) names.add(key.slice(PREFIX.length));
    }
    return [...names].filter((name) => name.startsWith(start));
  }
}

/** @param {"localStorage" | "sessionStorage"} area */
function open(area) {
  try {
    const storage = globalThis[area];
    storage.setItem(`${PREFIX}try`, "1");
    storage.removeItem(`${PREFIX}try`);
    return storage;
  } catch {
    return null;
  }
}

export const browser = new Kept(open("localStorage"));
export const tab = new Kept(open("sessionStorage"));

// A name that nothing else has. crypto.randomUUID is missing where a phone reaches a laptop by plain HTTP.
export function unique() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
