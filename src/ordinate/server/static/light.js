// Brightness, contrast and inversion of all pictures, kept for the next visit.

import { browser } from "./kept.js";
import { by } from "./dom.js";

const STEP = 1.1;
const PLAIN = { brightness: 100, contrast: 100, invert: false };

export class Light {
  #values = { ...PLAIN, ...browser.get("light") };
  #stage;

  constructor(stage) {
    this.#stage = stage;
    for (const name of ["brightness", "contrast"]) {
      by(name).addEventListener("input", (event) => this.#set({ [name]: Number(event.target.value) }));
    }
    by("invert").addEventListener("change", (event) => this.#set({ invert: event.target.checked }));
    by("light-button").addEventListener("click", () => this.#open(by("light").hidden));
    this.#set({});
  }

  // steps: how many, upwards or downwards
  change(name, steps) {
    const { min, max } = by(name);
    this.#set({ [name]: Math.round(Math.min(Math.max(this.#values[name] * STEP ** steps, min), max)) });
  }

  invert() {
    this.#set({ invert: !this.#values.invert });
  }

  reset() {
    this.#set(PLAIN);
  }

  get words() {
    const { brightness, contrast, invert } = this.#values;
    return `Brightness ${brightness} %, contrast ${contrast} %${invert ? ", inverted" : ""}`;
  }

  #open(open) {
    by("light").hidden = !open;
    by("light-button").setAttribute("aria-expanded", String(open));
  }

  #set(changes) {
    this.#values = { ...this.#values, ...changes };
    const { brightness, contrast, invert } = this.#values;
    by("brightness").value = brightness;
    by("contrast").value = contrast;
    by("invert").checked = invert;
    const plain = brightness === 100 && contrast === 100 && !invert;
    const filter = `invert(${invert ? 1 : 0}) brightness(${brightness}%) contrast(${contrast}%)`;
    this.#stage.style.setProperty("--light", plain ? "none" : filter);
    by("light-button").classList.toggle("on", !plain);
    browser.set("light", this.#values);
  }
}
