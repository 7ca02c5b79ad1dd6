// Brightness, contrast and inversion of all pictures, and the ground behind transparent ones. Kept for each study.

import { byId, setText } from "./dom.js";

const STEP = 1.1;
export const GROUNDS = ["checkerboard", "white", "grey", "black"];
/** @typedef {{brightness: number, contrast: number, invert: boolean, ground: string}} Settings */
/** @type {Settings} */
export const UNCHANGED = { brightness: 100, contrast: 100, invert: false, ground: "checkerboard" };

/** What is not as the files have it, in words; empty where nothing is changed. @param {Settings} settings */
export function inWords({ brightness, contrast, invert, ground }) {
  return [
    brightness === UNCHANGED.brightness ? "" : `brightness ${brightness} %`,
    contrast === UNCHANGED.contrast ? "" : `contrast ${contrast} %`,
    invert ? "inverted" : "",
    ground === UNCHANGED.ground ? "" : `${ground} ground`,
  ]
    .filter(Boolean)
    .join(", ");
}

export class Appearance {
  #stage;
  #kept;
  #name;
  /** @type {Settings} */
  #settings;
  #panel = byId("appearance");
  #button = byId("appearance-button", HTMLButtonElement);
  #any = false;

  /**
   * @param {HTMLElement} stage
   * @param {import("./storage.js").Kept} kept
   * @param {string} study
   */
  constructor(stage, kept, study) {
    this.#stage = stage;
    this.#kept = kept;
    this.#name = `appearance:${study}`;
    this.#settings = { ...UNCHANGED, ...kept.get(this.#name) };
    for (const name of /** @type {const} */ (["brightness", "contrast"])) {
      const slider = byId(name, HTMLInputElement);
      slider.addEventListener("input", () => this.#set({ [name]: Number(slider.value) }));
    }
    const invert = byId("invert", HTMLInputElement);
    invert.addEventListener("change", () => this.#set({ invert: invert.checked }));
    const ground = byId("ground", HTMLSelectElement);
    ground.addEventListener("change", () => this.#set({ ground: ground.value }));
    this.#button.addEventListener("click", () => {
      this.#panel.hidden = !this.#panel.hidden;
      this.#button.setAttribute("aria-expanded", String(!this.#panel.hidden));
      this.#show();
    });
    this.#set({});
  }

  /** @param {"brightness" | "contrast"} name @param {number} steps upwards or downwards */
  change(name, steps) {
    const { min, max } = byId(name, HTMLInputElement);
    const wanted = this.#settings[name] * STEP ** steps;
    this.#set({ [name]: Math.round(Math.min(Math.max(wanted, Number(min)), Number(max))) });
  }

  invert() {
    this.#set({ invert: !this.#settings.invert });
  }

  nextGround() {
    this.#set({ ground: GROUNDS[(GROUNDS.indexOf(this.#settings.ground) + 1) % GROUNDS.length] ?? UNCHANGED.ground });
  }

  reset() {
    this.#set(UNCHANGED);
  }

  // What is changed for the pictures on the screen, in words; empty where nothing is, or where there are none.
  get words() {
    return this.#any ? inWords(this.#settings) : "";
  }

  /** @param {boolean} any whether there are pictures on the screen */
  has(any) {
    this.#any = any;
    this.#show();
  }

  /** @param {Partial<Settings>} changes */
  #set(changes) {
    this.#settings = { ...this.#settings, ...changes };
    const { brightness, contrast, invert, ground } = this.#settings;
    byId("brightness", HTMLInputElement).value = String(brightness);
    byId("contrast", HTMLInputElement).value = String(contrast);
    byId("invert", HTMLInputElement).checked = invert;
    byId("ground", HTMLSelectElement).value = ground;
    const filtered = brightness !== 100 || contrast !== 100 || invert;
    const filter = `invert(${invert ? 1 : 0}) brightness(${brightness}%) contrast(${contrast}%)`;
    this.#stage.style.setProperty("--filter", filtered ? filter : "none");
    this.#stage.dataset.ground = ground;
    this.#kept.set(this.#name, this.#settings);
    this.#show();
  }

  #show() {
    const words = this.words;
    this.#button.classList.toggle("on", words !== "");
    byId("changed").hidden = words === "" || !this.#panel.hidden;
    setText(byId("changed-words"), words && `Pictures are changed: ${words}.`);
    if (!this.#any) {
      this.#panel.hidden = true;
      this.#button.setAttribute("aria-expanded", "false");
    }
  }
}
