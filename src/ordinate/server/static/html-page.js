// An HTML page that is an item, in a frame from which nothing gets out: no script runs in it, it loads nothing, it cannot
// reach the page around it, and it keeps no key press to itself.

import { make } from "./dom.js";

/**
 * @param {string} address of the page
 * @param {string} title what a screen reader calls it
 * @param {Record<string, unknown>} [more] attributes of the frame
 */
export function htmlPage(address, title, more = {}) {
  const frame = make("iframe", { src: address, sandbox: "", title, tabindex: "-1", referrerpolicy: "no-referrer", ...more });
  const alone = make("a", { href: address, target: "_blank", rel: "noopener noreferrer", class: "alone" }, "Open it alone", make("span", { class: "unseen" }, `: ${title}`));
  return make("div", { class: "html-page" }, frame, alone);
}

// A click gives a frame the focus, and with it all keys, which nobody would hear there.
globalThis.addEventListener?.("blur", () =>
  setTimeout(() => {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLIFrameElement)) return;
    focused.blur();
    globalThis.focus();
  }),
);
