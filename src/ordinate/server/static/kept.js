// What this browser keeps, under names that begin with "ordinate:". Where nothing can be kept, memory does until the
// page is left.

function open(area) {
  try {
    const storage = globalThis[area];
    storage.setItem("ordinate:try", "1");
    storage.removeItem("ordinate:try");
    return storage;
  } catch {
    return null;
  }
}

class Kept {
  #storage;
  #memory = new Map();

  constructor(area) {
    this.#storage = open(area);
  }

  get lasting() {
    return this.#storage !== null;
  }

  get(name) {
    const text = this.#storage?.getItem(`ordinate:${name}`) ?? this.#memory.get(name);
    return text == null ? undefined : JSON.parse(text);
  }

  // A full disk leaves it in memory.
  set(name, value) {
    const text = JSON.stringify(value);
    try {
      if (!this.#storage) throw new Error("nothing is kept here");
      this.#storage.setItem(`ordinate:${name}`, text);
      this.#memory.delete(name);
    } catch {
      this.#memory.set(name, text);
    }
  }

  remove(name) {
    this.#storage?.removeItem(`ordinate:${name}`);
    this.#memory.delete(name);
  }

  names(start) {
    const names = [...this.#memory.keys()];
    for (let place = 0; place < (this.#storage?.length ?? 0); place++) {
      const key = this.#storage.key(place);
      if (key.startsWith("ordinate:")) names.push(key.slice("ordinate:".length));
    }
    return names.filter((name) => name.startsWith(start));
  }
}

export const browser = new Kept("localStorage");
export const tab = new Kept("sessionStorage");

// A name that nothing else has. crypto.randomUUID is missing where a phone reaches a laptop by plain HTTP.
export function unique() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
