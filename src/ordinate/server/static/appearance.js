// Brightness, contrast and inversion of all pictures, and the ground behind transparent ones. The owner of a study sets
// how they are at first; what an annotator changes is kept for each study.

import { byId, setText } from "./dom.js";

const STEP = 1.1;
export const GROUNDS = ["checkerboard", "white", "grey", "black"];
/** @typedef {{brightness: number, contrast: number, invert: boolean, ground: string}} Settings */
/** @type {Settings} as the files have them */
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
  /** @type {Settings} what the owner set */
  #first;
  /** @type {Settings} */
  #settings;
  #panel = byId("appearance");
  #button = byId("appearance-button", HTMLButtonElement);
  #any = false;

  /**
   * @param {HTMLElement} stage
   * @param {import("./storage.js").Kept} kept
   * @param {string} study
   * @param {Partial<Settings>} first what the owner set
   */
  constructor(stage, kept, study, first) {
    this.#stage = stage;
    this.#kept = kept;
    this.#name = `appearance:${study}`;
    this.#first = { ...UNCHANGED, ...first };
    this.#settings = { ...this.#first, ...kept.get(this.#name) };
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
    this.#set(this.#first);
  }

  // How the pictures on the screen differ from their files, in words; empty where they do not, or where there are none.
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
    this.#kept.set(this.#name, Object.fromEntries(this.#changes()));
    this.#show();
  }

  // What differs from what the owner set.
  #changes() {
    return Object.entries(this.#settings).filter(([name, value]) => value !== this.#first[/** @type {keyof Settings} */ (name)]);
  }

  #show() {
    const own = this.#any && this.#changes().length > 0;
    const words = this.words || (own ? "as their files have them" : "");
    this.#button.classList.toggle("on", words !== "");
    byId("changed").hidden = words === "" || !this.#panel.hidden;
    byId("changed-reset").hidden = !own;
    setText(byId("changed-words"), words && `${own ? "You changed the pictures" : "The owner of the study set the pictures"}: ${words}.`);
    if (!this.#any) {
      this.#panel.hidden = true;
      this.#button.setAttribute("aria-expanded", "false");
    }
  }
}
