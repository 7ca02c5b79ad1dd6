// The start page of a server's owner: their studies, and what may be done with each as a whole.

import { connectAt, root } from "./api.js";
import { attempt, attemptAgain } from "./attempt.js";
import { errorInShort } from "./chart.js";
import { byId, focusRow, make, setText } from "./dom.js";

/** @typedef {{study: string, question: string, items: number, answers: number, state_in_words: string, expected_error: number | null,
 *   better_than_coins: boolean | null, withheld: string | null, last_answer: string | null, own_folder: boolean}} Study */

const EVERY = 10_000; // between looks, in milliseconds
const api = connectAt("server", byId("app").dataset.csrf ?? "");
/** @type {Map<string, Row>} */
const rows = new Map();
/** @typedef {{element: HTMLElement, question: HTMLElement, figures: HTMLElement}} Row */

async function look() {
  /** @type {{studies: Study[], archived: string[]}} */
  const { studies, archived } = await api.get("");
  byId("none").hidden = studies.length > 0;
  for (const [name, { element }] of rows) {
    if (!studies.some(({ study }) => study === name)) {
      element.remove();
      rows.delete(name);
    }
  }
  const newest = [...studies].sort((one, other) => (other.last_answer ?? "").localeCompare(one.last_answer ?? "") || one.study.localeCompare(other.study));
  for (const one of newest) show(one);
  byId("archive").hidden = archived.length === 0;
  // The list is made again only where it changed, so that the focus stays.
  if (byId("archived").dataset.names !== archived.join()) {
    byId("archived").dataset.names = archived.join();
    byId("archived").replaceChildren(...archived.map(archivedRow));
  }
}

/** @param {Study} one */
function show(one) {
  let row = rows.get(one.study);
  if (row === undefined) {
    row = newRow(one);
    rows.set(one.study, row);
    byId("studies").append(row.element);
  }
  setText(row.question, one.question.replace(/[#*_`>]/g, "").trim().slice(0, 200));
  const figures = [
    ["State", one.state_in_words],
    ["Items", one.items.toLocaleString("en")],
    ["Answers", one.answers.toLocaleString("en")],
    ["Expected error", errorInShort(one)],
    ["Last answer", one.last_answer === null ? "none yet" : new Date(one.last_answer).toLocaleString()],
  ];
  row.figures.replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

/** @param {Study} one @returns {Row} */
function newRow({ study, own_folder: own }) {
  const element = make("li", { class: "panel" });
  const question = make("p", { class: "hint" });
  const figures = make("dl", { class: "figures small-figures" });
  /** @param {string} words @param {() => unknown} act */
  const button = (words, act) => make("button", { type: "button", class: "quiet small", "aria-label": `${words}: ${study}`, onclick: act }, words);
  const more = [
    make("a", { class: "button small", href: new URL(`new?study=${encodeURIComponent(study)}`, root).href, "aria-label": `Add items: ${study}` }, "Add items"),
    ...(own ? [button("Duplicate", () => copy(study, element)), button("Archive", () => archive(study, element)), button("Delete", () => remove(study, "studies", element))] : []),
  ];
  const title = make("h2", {}, make("a", { href: new URL(`owner/${encodeURIComponent(study)}`, root).href }, study));
  element.append(title, question, figures, make("div", { class: "row" }, ...more));
  return { element, question, figures };
}

/** @param {string} name */
function archivedRow(name) {
  const back = make("button", { type: "button", class: "quiet small", "aria-label": `Take out: ${name}` }, "Take out");
  const gone = make("button", { type: "button", class: "quiet small", "aria-label": `Delete: ${name}` }, "Delete");
  const row = make("li", { class: "row" }, make("span", {}, name), back, gone);
  back.addEventListener("click", () => change(`/archived/${name}/restore`, {}, `${name} is served again.`, row));
  gone.addEventListener("click", () => remove(name, "archived", row));
  return row;
}

/** @param {string} path @param {unknown} body @param {string} words @param {HTMLElement} row of the study */
async function change(path, body, words, row) {
  const list = row.parentElement ?? byId("studies");
  const place = [...list.children].indexOf(row);
  const done = await attempt(async () => {
    await api.postSlowly(path, body);
    await look();
  });
  if (!done) return;
  setText(byId("live"), words);
  if (!row.isConnected) focusRow(list, place, byId("studies-title"));
}

/** @param {string} study @param {HTMLElement} row */
async function archive(study, row) {
  await change(`/studies/${encodeURIComponent(study)}/archive`, {}, `${study} is in the archive.`, row);
}

/** Resolves to whether the dialog was agreed to. @param {HTMLDialogElement} dialog @param {HTMLInputElement} field */
async function ask(dialog, field) {
  dialog.returnValue = "";
  dialog.showModal();
  field.focus();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes";
}

/** @param {string} study @param {HTMLElement} row */
async function copy(study, row) {
  const name = byId("copy-name", HTMLInputElement);
  setText(byId("copy-title"), `Duplicate ${study}`);
  name.value = `${study}-2`;
  if (await ask(byId("copy", HTMLDialogElement), name)) {
    setText(byId("live"), "The study is being made.");
    await change(`/studies/${encodeURIComponent(study)}/duplicate`, { name: name.value }, `${name.value} is made.`, row);
  }
}

/** @param {string} study @param {"studies" | "archived"} where @param {HTMLElement} row */
async function remove(study, where, row) {
  const typed = byId("delete-name", HTMLInputElement);
  setText(byId("delete-title"), `Delete ${study}`);
  setText(byId("delete-label"), `Type its name, ${study}`);
  typed.value = "";
  if (await ask(byId("delete", HTMLDialogElement), typed)) {
    await change(`/${where}/${encodeURIComponent(study)}/delete`, { name: typed.value.trim() }, `${study} is deleted.`, row);
  }
}

byId("theme").addEventListener("click", () => setText(byId("live"), /** @type {any} */ (globalThis).switchTheme() === "dark" ? "Dark" : "Light"));

async function keepLooking() {
  if (!document.hidden) await attemptAgain(look);
  setTimeout(keepLooking, EVERY);
}

await keepLooking();
