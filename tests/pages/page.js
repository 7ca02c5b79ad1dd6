// A window for scripts that make elements or store something. Import it before the script.

import { Window } from "happy-dom";

const window = new Window({ url: "http://127.0.0.1/judge/study" });
const names = [
  "document", "navigator", "localStorage", "sessionStorage", "location", "matchMedia", "addEventListener", "dispatchEvent",
  "Element", "HTMLElement", "HTMLInputElement", "HTMLButtonElement", "HTMLSelectElement", "HTMLTextAreaElement", "HTMLDialogElement", "HTMLDetailsElement", "Event",
  "KeyboardEvent",
];
for (const name of names) {
  const value = /** @type {any} */ (window)[name];
  const bound = typeof value === "function" && /^[a-z]/.test(name) ? value.bind(window) : value;
  Object.defineProperty(globalThis, name, { value: bound, configurable: true, writable: true });
}

/** What the page holds from now on. @param {string} html */
export function show(html) {
  document.body.innerHTML = html;
}
