// Pictures side by side, moved and enlarged together: wheel, pinch, drag, double click, keys.

/** @typedef {{scale: number, x: number, y: number}} View x, y: how far it is moved, in shares of the box it is seen in */
/** @typedef {{box: HTMLElement, image: HTMLElement}} Picture */
/** @typedef {{clientX: number, clientY: number}} Place */

export const LARGEST = 20;
const STEP = 1.35;
const DOUBLE = 3;
/** @type {View} */
export const WHOLE = { scale: 1, x: 0, y: 0 };

export class Zoom {
  /** @type {Picture[]} */
  #pictures = [];
  /** @type {Map<Picture, View>} */
  #views = new Map();
  /** @type {Map<number, {picture: Picture, event: Place}>} the pointers that are down */
  #pointers = new Map();
  /** @type {{picture: Picture, at: number} | null} */
  #tap = null;
  /** @type {WeakSet<Picture>} */
  #listening = new WeakSet();
  #enlargedAt = -Infinity;
  together = true;
  keeps = false; // whether the next pair is seen as this one

  /** @param {Picture[]} pictures those of the pair on the screen */
  show(pictures) {
    this.#pictures = pictures;
    this.#pointers.clear();
    for (const picture of pictures) {
      if (!this.#listening.has(picture)) this.#listen(picture);
      this.#listening.add(picture);
    }
    const before = [...this.#views.values()];
    this.#views = new Map(pictures.map((picture, place) => [picture, (this.keeps && before[place]) || WHOLE]));
    this.#paint();
  }

  get any() {
    return this.#pictures.length > 0;
  }

  get isWhole() {
    return [...this.#views.values()].every((view) => view.scale === 1);
  }

  in() {
    this.#each((view) => scaled(view, STEP, 0, 0));
  }

  out() {
    this.#each((view) => scaled(view, 1 / STEP, 0, 0));
  }

  reset() {
    this.#each(() => WHOLE);
  }

  /** @param {number} x @param {number} y in shares of the box */
  move(x, y) {
    this.#each((view) => bounded({ ...view, x: view.x + x, y: view.y + y }));
  }

  /** @param {(view: View) => View} change */
  #each(change) {
    for (const [picture, view] of this.#views) this.#views.set(picture, change(view));
    this.#paint();
  }

  /**
   * A gesture on one picture; the others follow where they move together.
   * @param {Picture} picture
   * @param {(view: View) => View} change
   */
  #change(picture, change) {
    const before = this.#views.get(picture);
    if (before === undefined) return;
    const view = change(before);
    for (const other of this.together ? this.#pictures : [picture]) this.#views.set(other, view);
    this.#paint();
  }

  #paint() {
    for (const [{ box, image }, { scale, x, y }] of this.#views) {
      image.style.transform = scale === 1 ? "" : `translate(${100 * x}cqw, ${100 * y}cqh) scale(${scale})`;
      box.classList.toggle("zoomed", scale > 1);
    }
  }

  /** @param {Picture} picture */
  #listen(picture) {
    const { box } = picture;
    box.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 * event.deltaY : event.deltaY;
        const factor = Math.exp(-Math.max(-120, Math.min(120, lines)) / 300);
        this.#change(picture, (view) => scaled(view, factor, ...within(box, event)));
      },
      { passive: false },
    );
    box.addEventListener("dblclick", (event) => this.#enlarge(picture, event));
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || (event.target instanceof Element && event.target.closest("button"))) return;
      this.#pointers.set(event.pointerId, { picture, event });
      if (event.pointerType !== "touch") box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => this.#moved(picture, event));
    box.addEventListener("pointerup", (event) => {
      this.#pointers.delete(event.pointerId);
      if (event.pointerType === "touch") this.#tapped(picture, event);
    });
    box.addEventListener("pointercancel", (event) => this.#pointers.delete(event.pointerId));
    box.addEventListener("lostpointercapture", (event) => this.#pointers.delete(event.pointerId));
  }

  /** @param {Picture} picture @param {PointerEvent} event */
  #moved(picture, event) {
    const pointer = this.#pointers.get(event.pointerId);
    if (pointer === undefined || pointer.picture !== picture) return;
    const { box } = picture;
    const [x, y] = within(box, event);
    const [beforeX, beforeY] = within(box, pointer.event);
    const other = [...this.#pointers.entries()].find(([id, one]) => id !== event.pointerId && one.picture === picture)?.[1];
    pointer.event = event;
    this.#tap = Math.hypot(x - beforeX, y - beforeY) > 0.02 ? null : this.#tap;
    if (other === undefined) {
      this.#change(picture, (view) => bounded({ ...view, x: view.x + x - beforeX, y: view.y + y - beforeY }));
      return;
    }
    const [otherX, otherY] = within(box, other.event);
    const size = box.getBoundingClientRect();
    /** @param {number} fromX @param {number} fromY */
    const distance = (fromX, fromY) => Math.hypot((fromX - otherX) * size.width, (fromY - otherY) * size.height);
    const factor = distance(x, y) / Math.max(distance(beforeX, beforeY), 1);
    const [middleX, middleY] = [(x + otherX) / 2, (y + otherY) / 2];
    this.#change(picture, (view) => {
      const moved = { ...view, x: view.x + (x - beforeX) / 2, y: view.y + (y - beforeY) / 2 };
      return scaled(moved, factor, middleX, middleY);
    });
  }

  /** Two taps are a double click where the browser gives none. @param {Picture} picture @param {PointerEvent} event */
  #tapped(picture, event) {
    const tap = { picture, at: event.timeStamp };
    const twice = this.#tap?.picture === picture && tap.at - this.#tap.at < 350;
    this.#tap = twice ? null : tap;
    if (twice) this.#enlarge(picture, event);
  }

  /** @param {Picture} picture @param {MouseEvent} event */
  #enlarge(picture, event) {
    // A double tap comes once as taps and perhaps again as a double click.
    if (event.timeStamp - this.#enlargedAt < 400) return;
    this.#enlargedAt = event.timeStamp;
    const place = within(picture.box, event);
    this.#change(picture, (view) => (view.scale > 1 ? WHOLE : scaled(view, DOUBLE, ...place)));
  }
}

/**
 * Where an event is, in shares of the box from its middle.
 * @param {HTMLElement} box
 * @param {Place} place
 * @returns {[x: number, y: number]}
 */
function within(box, place) {
  const { left, top, width, height } = box.getBoundingClientRect();
  return [(place.clientX - left) / width - 0.5, (place.clientY - top) / height - 0.5];
}

/**
 * The view enlarged by a factor around a place of the box, which stays where it is.
 * @param {View} view
 * @param {number} factor
 * @param {number} x
 * @param {number} y
 * @returns {View}
 */
export function scaled(view, factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, 1), LARGEST);
  const change = scale / view.scale;
  return bounded({ scale, x: x - (x - view.x) * change, y: y - (y - view.y) * change });
}

/**
 * The view moved back as far as it takes for the picture to cover its box.
 * @param {View} view
 * @returns {View}
 */
export function bounded({ scale, x, y }) {
  const most = (scale - 1) / 2;
  /** @param {number} value */
  const limit = (value) => Math.min(Math.max(value, -most), most);
  return { scale, x: limit(x), y: limit(y) };
}
