// The place where a pair is shown: its two sides, and how one looks at them.

import { by, say } from "./dom.js";
import { browser } from "./kept.js";
import { Light } from "./light.js";
import { Scrolling } from "./scrolling.js";
import { Zoom } from "./zoom.js";

const SIDES = ["left", "right"];

export class Stage {
  #element = by("stage");
  #boxes = SIDES.map((side) => by(side).querySelector(".content"));
  #zoom = new Zoom();
  #scrolling = new Scrolling();
  #light = new Light(this.#element);
  #say;
  #pair = null;

  constructor(saying) {
    this.#say = saying;
    this.#setTogether(browser.get("together") ?? true);
    const full = document.documentElement.requestFullscreen !== undefined && document.fullscreenEnabled;
    by("full-button").hidden = !full;
  }

  // What the keys and tools are there for.
  has(what) {
    if (what === "pictures") return this.#zoom.any;
    if (what === "texts") return this.#scrolling.any;
    if (what === "moving") return this.#zoom.any || this.#scrolling.any;
    return what === "players" && this.#sides.some((side) => side.player);
  }

  show(pair) {
    this.#stop();
    this.#pair = pair;
    this.#sides.forEach((side, place) => this.#boxes[place].replaceChildren(side.element));
    this.#zoom.show(this.#sides.flatMap((side) => side.picture ?? []));
    this.#scrolling.show(this.#sides.flatMap((side) => side.text ?? []));
    by("image-tools").hidden = !this.#zoom.any;
    if (!this.#zoom.any) by("light").hidden = true;
    by("together-button").hidden = !this.has("moving");
    this.#element.hidden = false;
    this.#element.classList.toggle("reading", !this.#zoom.any && this.#scrolling.any);
    // Begins the short fade anew; without it one may not notice that a similar pair came.
    this.#element.getAnimations().forEach((animation) => animation.cancel());
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches)
      this.#element.animate([{ opacity: 0.35 }, { opacity: 1 }], { duration: 120, easing: "ease-out" });
  }

  hide() {
    this.#stop();
    this.#pair = null;
    this.#element.hidden = true;
    by("image-tools").hidden = true;
    by("together-button").hidden = true;
    by("light").hidden = true;
  }

  get words() {
    const [left, right] = this.#sides.map((side) => side.words);
    const [first, second] = matchMedia("(max-width: 44rem)").matches ? ["Upper", "Lower"] : ["Left", "Right"];
    return `${first}: ${left}. ${second}: ${right}.`;
  }

  play(side) {
    const player = this.#pair?.[side].player;
    if (!player) return;
    if (!player.paused) {
      player.pause();
      return;
    }
    for (const other of this.#sides) if (other.player !== player) other.player?.pause();
    player.play().catch((error) => this.#say(`This does not play: ${error.message}`));
  }

  // Arrows, and keys that scroll.
  scroll(event) {
    const down = event.key.endsWith("Down") ? 1 : -1;
    if (this.#scrolling.by(down * (event.key.startsWith("Page") ? 0.85 : 0.15))) event.preventDefault();
  }

  move(event) {
    if (this.#zoom.isWhole) return;
    event.preventDefault();
    const [x, y] = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    this.#zoom.move(x, y);
  }

  actions() {
    const light = (name, steps) => () => {
      this.#light.change(name, steps);
      this.#say(this.#light.words);
    };
    return {
      "zoom-in": () => this.#zoom.in(),
      "zoom-out": () => this.#zoom.out(),
      "zoom-reset": () => this.#zoom.reset(),
      "play-left": () => this.play("left"),
      "play-right": () => this.play("right"),
      brighter: light("brightness", 1),
      darker: light("brightness", -1),
      "more-contrast": light("contrast", 1),
      "less-contrast": light("contrast", -1),
      invert: () => {
        this.#light.invert();
        this.#say(this.#light.words);
      },
      "light-reset": () => {
        this.#light.reset();
        this.#say(this.#light.words);
      },
      together: () => {
        this.#setTogether(!this.#zoom.together);
        this.#say(this.#zoom.together ? "Both move together" : "Each moves alone");
      },
      "full-screen": () => this.#fullScreen(),
      move: (event) => this.move(event),
      scroll: (event) => this.scroll(event),
    };
  }

  get #sides() {
    return this.#pair === null ? [] : SIDES.map((side) => this.#pair[side]);
  }

  #stop() {
    for (const side of this.#sides) side.player?.pause();
  }

  #setTogether(together) {
    this.#zoom.together = this.#scrolling.together = together;
    by("together-button").setAttribute("aria-pressed", String(together));
    browser.set("together", together);
  }

  #fullScreen() {
    const change = document.fullscreenElement
      ? document.exitFullscreen()
      : document.documentElement.requestFullscreen?.();
    change?.catch((error) => this.#say(`Full screen is not possible here: ${error.message}`));
  }
}

// What happened, for those who listen and, in short, for those who look.
export function announcer() {
  const live = by("live");
  return (words) => say(live, words);
}
