// Small ways to make elements. Text is only ever set as text, so nothing in an item or a name can become markup; what is
// Markdown comes as HTML that the server has cleaned.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>} Attributes */
/** @typedef {Node | string | null | undefined} Child */

/**
 * @template {Element} T
 * @param {T} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice("on".length), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

/**
 * A new HTML element. An attribute that is a function listens: {onclick: act}.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/**
 * A new SVG element.
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/**
 * The element of the page with this id.
 * @template {typeof HTMLElement} [Kind=typeof HTMLElement]
 * @param {string} id
 * @param {Kind} [kind]
 * @returns {InstanceType<Kind>}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof (kind ?? HTMLElement))) throw new Error(`the page has no ${kind?.name ?? "element"} "${id}"`);
  return /** @type {InstanceType<Kind>} */ (found);
}

/**
 * Where a button that was pressed is gone, the keyboard goes on from the row that stands in its place now.
 * @param {Element} list
 * @param {number} place of the row
 * @param {HTMLElement} otherwise where the list is empty
 */
export function focusRow(list, place, otherwise) {
  const row = list.children[Math.min(place, list.children.length - 1)];
  const target = row instanceof HTMLElement ? row : otherwise;
  target.tabIndex = -1;
  target.focus();
}

/**
 * Write a text only where it changes: a live region would be read again.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Fill an element with HTML that the server has cleaned.
 * @param {Element} element
 * @param {string} html
 */
export function setMarkup(element, html) {
  element.innerHTML = html;
}

/** @param {number} number @param {string} word */
export const count = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

/** A number that may be negative, with two decimals: 0.00 and never -0.00. @param {number} number */
export const fixed = (number) => number.toFixed(2).replace(/^-(?=[0.]*$)/, "");

/** With a space that does not break. @param {number} share */
export const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)}\u00a0%`;

/** "49 kB", "1.2 MB". @param {number} bytes */
export function sizeInWords(bytes) {
  const megabytes = bytes / 1e6;
  return megabytes < 1 ? `${Math.ceil(bytes / 1000)} kB` : `${megabytes.toFixed(megabytes < 9.95 ? 1 : 0)} MB`;
}
