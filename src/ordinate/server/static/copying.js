// An address to hand out, with a button that copies it.

import { make, setText } from "./dom.js";

/** @param {string} url @param {string} title */
export function copying(url, title) {
  const address = make("input", { readonly: true, value: url, "aria-label": `Address of ${title}` });
  address.addEventListener("focus", () => address.select());
  const state = make("span", { class: "hint", role: "status" });
  const copy = make("button", { type: "button", class: "main-button small", "aria-label": `Copy ${title}` }, "Copy");
  copy.addEventListener("click", async () => setText(state, (await copied(address)) ? "Copied" : "Press Ctrl+C to copy"));
  return { address, copy, state };
}

/** A line where nobody on another computer can open this address; null otherwise. @param {string} url */
export const loopbackNote = (url) =>
  /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
    ? make("p", { class: "notice" }, "This link works on this computer only. To let others in, start the server with --host 0.0.0.0 and --url (docs/server.md).")
    : null;

/** @param {HTMLInputElement} input */
async function copied(input) {
  input.focus();
  input.select();
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    // Without TLS there is no clipboard but this old way.
    return document.execCommand("copy");
  }
}
