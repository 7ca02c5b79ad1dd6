// The place where a pair is shown: its two sides, what keeps it from being answered, and how one looks at it.

import { Appearance } from "./appearance.js";
import { messageOf } from "./api.js";
import { byId } from "./dom.js";
import { Scrolling } from "./scrolling.js";
import { browser } from "./storage.js";
import { Zoom } from "./zoom.js";

/** @typedef {import("./content.js").Content} Content */
/** @typedef {import("./content.js").SideName} SideName */
/** @typedef {(words: string) => void} Announce says something to those who listen */

export const SIDES = /** @type {const} */ (["left", "right"]);
// Whether one item is above the other: the same conditions as in style.css.
export const isNarrow = () =>
  matchMedia("(max-width: 44rem)").matches && !matchMedia("(max-height: 30rem) and (min-width: 32rem)").matches;

export class Stage {
  #element = byId("stage");
  #boxes = SIDES.map((name) => /** @type {HTMLElement} */ (byId(name).querySelector(".content")));
  #zoom = new Zoom();
  #scrolling = new Scrolling();
  #announce;
  #appearance;
  #flips = false; // both items in one place, one of them in front
  #front = 0;
  #sawBoth = false;
  /** @type {Content | null} */
  pair = null;

  /**
   * @param {Announce} announce
   * @param {string} study
   * @param {Partial<import("./appearance.js").Settings>} appearance what the owner of the study set
   */
  constructor(announce, study, appearance) {
    this.#announce = announce;
    this.#appearance = new Appearance(this.#element, browser, study, appearance);
    this.#setTogether(browser.get("together") ?? true);
    this.#setKept(browser.get("keep-zoom") ?? false);
    const full = document.documentElement.requestFullscreen !== undefined && document.fullscreenEnabled;
    byId("full-button").hidden = !full;
  }

  /** Whether the pair on the screen has what a key or tool is for. @param {string} what */
  has(what) {
    if (what === "pictures") return this.#zoom.any;
    if (what === "texts") return this.#scrolling.any;
    if (what === "moving") return this.#zoom.any || this.#scrolling.any;
    return what === "players" && this.#sides.some((side) => side.player);
  }

  /** @param {Content} pair @param {() => void} onchange called when an item is loaded, or fails */
  show(pair, onchange) {
    this.#leave();
    this.pair = pair;
    this.#sides.forEach((side, place) => {
      this.#boxes[place]?.replaceChildren(side.element);
      side.arrive();
      side.onchange = onchange;
      if (side.state === "loading") setTimeout(() => this.pair === pair && side.showSize(), 300);
    });
    this.#zoom.show(this.#sides.flatMap((side) => side.picture ?? []));
    this.#scrolling.show(this.#sides.flatMap((side) => side.text ?? []));
    byId("image-tools").hidden = !this.#zoom.any;
    this.#appearance.has(this.#zoom.any);
    byId("together-button").hidden = !this.has("moving");
    byId("keep-button").hidden = byId("flip-button").hidden = !this.#zoom.any;
    this.#setFlips(this.#flips && this.#zoom.any);
    this.#element.hidden = false;
    this.#element.classList.toggle("reading", !this.#zoom.any && this.#scrolling.any);
    // A short fade; without it one may not notice that a similar pair came.
    this.#element.getAnimations().forEach((animation) => animation.cancel());
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
      this.#element.animate([{ opacity: 0.35 }, { opacity: 1 }], { duration: 120, easing: "ease-out" });
  }

  hide() {
    this.#leave();
    this.pair = null;
    this.#element.hidden = true;
    byId("image-tools").hidden = true;
    for (const id of ["together-button", "keep-button", "flip-button"]) byId(id).hidden = true;
    this.#appearance.has(false);
  }

  // Whether both items can be seen.
  get complete() {
    return this.pair !== null && this.#sides.every((side) => side.state === "shown");
  }

  // Whether the pair can be judged: in one place, the item behind must have been in front.
  get judgeable() {
    return this.complete && (!this.#flips || this.#sawBoth);
  }

  // The sides whose item cannot be seen.
  get missing() {
    return SIDES.filter((name) => this.pair && this.pair[name].state !== "shown");
  }

  // The sides whose item did not load.
  get failed() {
    return SIDES.filter((name) => this.pair?.[name].state === "failed");
  }

  get words() {
    const [left, right] = this.#sides.map((side) => side.words);
    const [first, second] = isNarrow() ? ["Upper", "Lower"] : ["Left", "Right"];
    return `${first}: ${left}. ${second}: ${right}.`;
  }

  // How the pictures on the screen differ from their files, and how they are placed, in words.
  get appearance() {
    return [this.#appearance.words, this.#flips ? "in one place" : ""].filter(Boolean).join("; ");
  }

  /** @param {SideName} name */
  play(name) {
    const player = this.pair?.[name].player;
    if (!player) return;
    if (!player.paused) {
      player.pause();
      return;
    }
    for (const other of this.#sides) if (other.player !== player) other.player?.pause();
    player.play().catch((error) => this.#announce(`This does not play: ${messageOf(error)}`));
  }

  /** @param {KeyboardEvent} event of an arrow or a page key */
  scroll(event) {
    const down = event.key.endsWith("Down") ? 1 : -1;
    if (this.#scrolling.scrollBy(down * (event.key.startsWith("Page") ? 0.85 : 0.15))) event.preventDefault();
  }

  /** @param {KeyboardEvent} event of an arrow */
  move(event) {
    if (this.#zoom.isWhole) return;
    event.preventDefault();
    /** @type {Record<string, [number, number]>} */
    const steps = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    this.#zoom.move(...(steps[event.key] ?? [0, 0]));
  }

  /** @returns {Record<string, (event: any) => void>} */
  actions() {
    const appearance = this.#appearance;
    /** @param {() => void} change */
    const changing = (change) => () => {
      change();
      this.#announce(appearance.words || "The pictures are as their files have them");
    };
    return {
      "zoom-in": () => this.#zoom.in(),
      "zoom-out": () => this.#zoom.out(),
      "zoom-reset": () => this.#zoom.reset(),
      "play-left": () => this.play("left"),
      "play-right": () => this.play("right"),
      brighter: changing(() => appearance.change("brightness", 1)),
      darker: changing(() => appearance.change("brightness", -1)),
      "more-contrast": changing(() => appearance.change("contrast", 1)),
      "less-contrast": changing(() => appearance.change("contrast", -1)),
      invert: changing(() => appearance.invert()),
      ground: changing(() => appearance.nextGround()),
      "appearance-reset": changing(() => appearance.reset()),
      together: () => {
        this.#setTogether(!this.#zoom.together);
        this.#announce(this.#zoom.together ? "Both move together" : "Each moves alone");
      },
      flip: () => this.#flip(),
      "flip-off": () => {
        this.#setFlips(false);
        this.#announce("Side by side");
        this.pair?.left.onchange();
      },
      "keep-zoom": () => {
        this.#setKept(!this.#zoom.keeps);
        this.#announce(this.#zoom.keeps ? "The next pairs are enlarged as this one" : "The next pairs are whole");
      },
      "full-screen": () => this.#fullScreen(),
      move: (event) => this.move(event),
      scroll: (event) => this.scroll(event),
    };
  }

  get #sides() {
    const pair = this.pair;
    return pair === null ? [] : SIDES.map((name) => pair[name]);
  }

  #leave() {
    for (const side of this.#sides) {
      side.player?.pause();
      side.onchange = () => {};
    }
  }

  // Into one place at first, then to the other item and back: what differs between them moves.
  #flip() {
    if (!this.#zoom.any) return;
    if (!this.#flips) {
      this.#setFlips(true);
      this.#announce("Both in one place. V shows the other one; Shift V puts them side by side.");
      this.pair?.left.onchange();
      return;
    }
    this.#front = 1 - this.#front;
    this.#sawBoth = true;
    this.#paintFront();
    this.pair?.left.onchange();
  }

  /** @param {boolean} flips */
  #setFlips(flips) {
    this.#flips = flips;
    this.#front = 0;
    this.#sawBoth = false;
    this.#element.classList.toggle("flips", flips);
    byId("flip-button").setAttribute("aria-pressed", String(flips));
    this.#paintFront();
  }

  #paintFront() {
    SIDES.forEach((name, place) => byId(name).classList.toggle("behind", this.#flips && place !== this.#front));
  }

  /** @param {boolean} keeps */
  #setKept(keeps) {
    this.#zoom.keeps = keeps;
    byId("keep-button").setAttribute("aria-pressed", String(keeps));
    browser.set("keep-zoom", keeps);
  }

  /** @param {boolean} together */
  #setTogether(together) {
    this.#zoom.together = this.#scrolling.together = together;
    byId("together-button").setAttribute("aria-pressed", String(together));
    browser.set("together", together);
  }

  #fullScreen() {
    const change = document.fullscreenElement
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen?.();
    change?.catch((error) => this.#announce(`Full screen is not possible here: ${messageOf(error)}`));
  }
}
