// Pictures side by side, moved and enlarged together: wheel, pinch, drag, double click, keys.
// A view is {scale, x, y}: x and y are how far the picture is moved, in shares of its box, so boxes may differ in size.

const LARGEST = 20;
const STEP = 1.35;
const DOUBLE = 3;
const WHOLE = { scale: 1, x: 0, y: 0 };

export class Zoom {
  #boxes = [];
  #views = new Map();
  #fingers = new Map();
  #tap = null;
  together = true;

  // The pictures of the pair on the screen, each {box, image}.
  show(pictures) {
    this.#boxes = pictures;
    this.#fingers.clear();
    for (const picture of pictures) {
      if (!picture.listening) this.#listen(picture);
      picture.listening = true;
    }
    this.#views = new Map(pictures.map((picture) => [picture, WHOLE]));
    this.#paint();
  }

  get any() {
    return this.#boxes.length > 0;
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

  move(x, y) {
    this.#each((view) => held({ ...view, x: view.x + x, y: view.y + y }));
  }

  #each(change) {
    for (const [picture, view] of this.#views) this.#views.set(picture, change(view));
    this.#paint();
  }

  // A gesture on one picture; the others follow where they move together.
  #change(picture, change) {
    if (!this.#views.has(picture)) return;
    const view = change(this.#views.get(picture));
    for (const other of this.together ? this.#boxes : [picture]) this.#views.set(other, view);
    this.#paint();
  }

  #paint() {
    for (const [{ box, image }, { scale, x, y }] of this.#views) {
      image.style.transform = scale === 1 ? "" : `translate(${100 * x}%, ${100 * y}%) scale(${scale})`;
      box.classList.toggle("zoomed", scale > 1);
    }
  }

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
      if (event.button !== 0 || event.target.closest("button")) return;
      this.#fingers.set(event.pointerId, { picture, event });
      if (event.pointerType !== "touch") box.setPointerCapture(event.pointerId);
    });
    box.addEventListener("pointermove", (event) => this.#moved(picture, event));
    box.addEventListener("pointerup", (event) => {
      this.#fingers.delete(event.pointerId);
      if (event.pointerType === "touch") this.#tapped(picture, event);
    });
    for (const end of ["pointercancel", "lostpointercapture"]) {
      box.addEventListener(end, (event) => this.#fingers.delete(event.pointerId));
    }
  }

  #moved(picture, event) {
    const finger = this.#fingers.get(event.pointerId);
    if (finger === undefined || finger.picture !== picture) return;
    const { box } = picture;
    const [x, y] = within(box, event);
    const [beforeX, beforeY] = within(box, finger.event);
    const other = [...this.#fingers.entries()].find(([id, one]) => id !== event.pointerId && one.picture === picture)?.[1];
    finger.event = event;
    this.#tap = Math.hypot(x - beforeX, y - beforeY) > 0.02 ? null : this.#tap;
    if (other === undefined) {
      this.#change(picture, (view) => held({ ...view, x: view.x + x - beforeX, y: view.y + y - beforeY }));
      return;
    }
    const [otherX, otherY] = within(box, other.event);
    const size = box.getBoundingClientRect();
    const apart = (fromX, fromY) => Math.hypot((fromX - otherX) * size.width, (fromY - otherY) * size.height);
    const factor = apart(x, y) / Math.max(apart(beforeX, beforeY), 1);
    const [middleX, middleY] = [(x + otherX) / 2, (y + otherY) / 2];
    this.#change(picture, (view) => {
      const moved = { ...view, x: view.x + (x - beforeX) / 2, y: view.y + (y - beforeY) / 2 };
      return scaled(moved, factor, middleX, middleY);
    });
  }

  // Two taps are a double click where the browser gives none.
  #tapped(picture, event) {
    const tap = { picture, at: event.timeStamp };
    const twice = this.#tap?.picture === picture && tap.at - this.#tap.at < 350;
    this.#tap = twice ? null : tap;
    if (twice) this.#enlarge(picture, event);
  }

  #enlarge(picture, event) {
    // A double tap comes once as taps and perhaps again as a double click.
    if (picture.enlargedAt && event.timeStamp - picture.enlargedAt < 400) return;
    picture.enlargedAt = event.timeStamp;
    const place = within(picture.box, event);
    this.#change(picture, (view) => (view.scale > 1 ? WHOLE : scaled(view, DOUBLE, ...place)));
  }
}

// Where an event is, in shares of the box from its middle.
function within(box, event) {
  const { left, top, width, height } = box.getBoundingClientRect();
  return [(event.clientX - left) / width - 0.5, (event.clientY - top) / height - 0.5];
}

// The view enlarged around the place (x, y), which stays where it is.
function scaled(view, factor, x, y) {
  const scale = Math.min(Math.max(view.scale * factor, 1), LARGEST);
  const change = scale / view.scale;
  return held({ scale, x: x - (x - view.x) * change, y: y - (y - view.y) * change });
}

// The view with the picture's edges no further in than those of its box.
function held({ scale, x, y }) {
  const most = (scale - 1) / 2;
  const limit = (value) => Math.min(Math.max(value, -most), most);
  return { scale, x: limit(x), y: limit(y) };
}
