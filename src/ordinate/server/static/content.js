// The two items of a pair as elements: pictures, videos, sounds, texts, pages, links. They load before the pair is shown.

import { make, setMarkup, setText, sizeInWords } from "./dom.js";
import { htmlPage } from "./html-page.js";
import { settingOf, withoutFences } from "./texts.js";

/** @typedef {import("./texts.js").Setting} Setting */
/** @typedef {"left" | "right"} SideName */
/** @typedef {"loading" | "shown" | "failed"} State */

let tells = false; // whether this browser says what status the page of a frame had
const SLOW = 10_000; // milliseconds after which the server is asked for a page that has not come, and how long it may take to say

export class Side {
  element = make("div", { class: "item" });
  // What a screen reader is told of the item.
  words = "";
  /** @type {import("./zoom.js").Picture | null} */
  picture = null;
  /** @type {HTMLMediaElement | null} */
  player = null;
  /** @type {HTMLElement | null} the box that scrolls */
  text = null;
  /** @type {State} whether everything of the item can be seen */
  state = "shown";
  // Called when the state changes.
  onchange = () => {};
  /** @type {Promise<void>} settles when the picture, if there is one, is decoded or has failed */
  ready = Promise.resolve();
  #note = make("p", { class: "loading-note" }, "Loading");
  #address = "";
  /** @type {HTMLElement | null} the box of the HTML page */
  #page = null;
  #loads = 0; // how often it was loaded: only the last time counts
  #awaited = () => {};
  /** @type {Map<string, State>} of each part that loads */
  #states = new Map();

  /** @param {import("./api.js").Item} item @param {SideName} name @param {Setting} setting */
  constructor(item, name, setting) {
    if (item.image_url) this.#addImage(item.image_url, item.text ?? `The ${name} picture`);
    if (item.video_url) this.#addPlayer(make("video", { src: item.video_url, controls: true, playsinline: true, preload: "auto" }), name);
    if (item.audio_url) this.#addPlayer(make("audio", { src: item.audio_url, controls: true, preload: "auto" }), name);
    if (item.html_url) this.#addPage(item.html_url, name);
    if (item.text != null) this.#addText(item.text, name, setting, item.text_html);
    if (item.link) this.#addLink(item.link);
    // An id may give the answer away ("good-17"), so it is shown only where nothing else is.
    if (!this.element.hasChildNodes()) this.#addText(item.id, name, setting);
  }

  // It is on the screen now. A frame loads its page only there, and anew each time.
  arrive() {
    this.#awaited();
  }

  // Say how large the picture is that is still loading.
  async showSize() {
    if (this.state !== "loading" || this.#address === "") return;
    const bytes = await sizeOf(this.#address);
    if (bytes > 0) this.#note.textContent = `Loading ${sizeInWords(bytes)}`;
  }

  /** @param {"picture" | "player" | "page"} part of the item @param {State} state */
  #become(part, state) {
    this.#states.set(part, state);
    const states = [...this.#states.values()];
    const whole = /** @type {const} */ (["failed", "loading"]).find((one) => states.includes(one)) ?? "shown";
    if (this.state === whole) return;
    this.state = whole;
    this.onchange();
  }

  /** @param {string} address @param {string} description */
  #addImage(address, description) {
    const image = make("img", { alt: description, decoding: "async", draggable: "false" });
    const box = make("div", { class: "picture" }, image);
    this.picture = { box, image };
    this.element.append(box);
    this.words = "a picture";
    this.#address = address;
    this.ready = this.#load(image, box, address);
  }

  /** @param {HTMLImageElement} image @param {HTMLElement} box @param {string} address */
  async #load(image, box, address) {
    this.#become("picture", "loading");
    box.classList.add("loading");
    box.append(this.#note);
    image.src = address;
    try {
      await image.decode();
      image.style.setProperty("--ratio", String(image.naturalWidth / image.naturalHeight || 1));
      box.classList.toggle("tiny", image.naturalWidth < 200 && image.naturalHeight < 200);
      box.classList.remove("loading");
      this.#note.remove();
      this.#become("picture", "shown");
    } catch {
      this.#note.remove();
      const again = make("button", { type: "button" }, "Load it again");
      const failure = make("div", { class: "failure" }, make("p", {}, "This picture did not load."), again);
      box.append(failure);
      again.addEventListener("click", () => {
        failure.remove();
        const retried = new URL(address, location.href);
        retried.searchParams.set("again", String(Date.now()));
        this.#load(image, box, retried.href);
      });
      this.#become("picture", "failed");
    }
  }

  /** @param {HTMLMediaElement} player @param {SideName} name */
  #addPlayer(player, name) {
    const kind = player.localName === "video" ? "video" : "sound";
    player.setAttribute("aria-label", `The ${name} ${kind}`);
    player.addEventListener("error", () => {
      if (this.state !== "failed") player.after(make("p", { class: "failure" }, `This ${kind} does not play here.`));
      this.#become("player", "failed");
    });
    this.player = player;
    this.words ||= `a ${kind}`;
    this.element.append(player);
  }

  /** @param {string} text @param {SideName} name @param {Setting} setting @param {string | null} [html] cleaned by the server */
  #addText(text, name, setting, html) {
    const words = make("div", { class: `words ${html ? "markdown" : setting}`, dir: setting === "code" && !html ? "ltr" : "auto" });
    if (html) setMarkup(words, html);
    else words.textContent = setting === "code" ? withoutFences(text) : text;
    const shown = words.textContent ?? "";
    this.text = make("div", { class: "text", tabindex: "0", role: "group", "aria-label": `The ${name} text` }, words);
    this.words ||= shown.length > 300 ? `${shown.slice(0, 300)} …` : shown;
    this.element.append(this.text);
  }

  /** @param {string} address @param {SideName} name */
  #addPage(address, name) {
    this.words ||= "a page";
    this.#page = make("div", { class: "page" });
    this.element.append(this.#page);
    this.#awaited = () => this.#loadPage(address, name);
    this.#become("page", "loading");
  }

  /** @param {string} address @param {SideName} name */
  async #loadPage(address, name) {
    this.#become("page", "loading");
    const loads = ++this.#loads;
    performance.clearResourceTimings(); // a full list takes no more
    const words = make("p", {}, "This page takes long to load.");
    const again = make("button", { type: "button", onclick: () => this.#loadPage(address, name) }, "Load it again");
    const note = make("div", { class: "failure" }, words, again);
    const framed = new Promise((resolve) => this.#page?.replaceChildren(htmlPage(address, `The ${name} page`, { onload: () => resolve(true) })));
    let came, found;
    do {
      came = await Promise.race([framed, new Promise((resolve) => setTimeout(resolve, SLOW))]);
      found = await isThere(address);
      if (loads !== this.#loads || !this.element.isConnected) return;
      // A frame whose page was cut off never loads, and does not fail either.
      if (found && !came) this.#page?.append(note);
    } while (found && !came);
    if (found) note.remove();
    else {
      setText(words, "This page did not load.");
      this.#page?.replaceChildren(note);
    }
    this.#become("page", found ? "shown" : "failed");
  }

  /** @param {string} address */
  #addLink(address) {
    if (!/^https?:\/\//i.test(address)) return;
    const attributes = { href: address, target: "_blank", rel: "noopener noreferrer", class: "outside" };
    this.words ||= "a link";
    this.element.append(make("a", attributes, "Open it in a new tab"));
  }
}

/** @typedef {{id: string, query: import("./api.js").Query, left: Side, right: Side, ready: Promise<unknown>}} Content */

/** @param {import("./api.js").Query} query @returns {Content} `ready` settles when the pair can be shown at once */
export function makeContent(query) {
  const setting = settingOf([query.left, query.right].map((item) => item.text ?? "").filter((text) => text !== ""));
  const [left, right] = [new Side(query.left, "left", setting), new Side(query.right, "right", setting)];
  return { id: query.id, query, left, right, ready: Promise.all([left.ready, right.ready]) };
}

/**
 * Whether a page could be loaded. Its frame does not say, but the list of what the browser has loaded may. Where that does
 * not say either, the server is asked for the page without its content.
 * @param {string} address
 */
async function isThere(address) {
  const entries = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByName(new URL(address, location.href).href, "resource"));
  const entry = entries.findLast(({ initiatorType }) => initiatorType === "iframe");
  // The status of a page that could not be fetched is 0, as all are where a browser does not tell them.
  tells ||= Boolean(entry?.responseStatus);
  if (entry && tells) return entry.responseStatus > 0 && entry.responseStatus < 400;
  return fetch(address, { method: "HEAD", cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout?.(SLOW) }).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** The size of a file in bytes, without loading it; 0 where the server does not say. @param {string} address */
async function sizeOf(address) {
  try {
    const response = await fetch(address, { headers: { Range: "bytes=0-0" }, cache: "no-store", credentials: "same-origin", signal: AbortSignal.timeout?.(SLOW) });
    await response.body?.cancel();
    const [, whole] = response.headers.get("Content-Range")?.split("/") ?? [];
    return Number(whole ?? response.headers.get("Content-Length")) || 0;
  } catch {
    return 0; // The size is only a courtesy; that the picture does not load is said where it is loaded.
  }
}
