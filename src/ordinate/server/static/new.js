// Making a study, or adding items to one: files are dropped and sent one by one, then looked at, then made into items.

import { connectAt, messageOf, NoNetwork, Refused, root } from "./api.js";
import { attempt } from "./attempt.js";
import { byId, count, make, setMarkup, setText, sizeInWords } from "./dom.js";
import { copying, loopbackNote } from "./copying.js";
import { filesOf, nameFor } from "./dropped.js";

/** @typedef {import("./dropped.js").Dropped} Dropped */
/** @typedef {{items: number, groups: number, new: number, kinds: string[], columns: string[], numbers: string[], id_column: string | null,
 *   text_column: string | null, first: import("./api.js").Item[], refused: {name: string, reason: string}[], refused_in_all: number, notes: string[]}} Preview */
/** @typedef {{name: string, reads: string, summary: string, installed: boolean, install: string}} Encoder */

const AT_ONCE = 4; // files on their way
const TRIES = 6;
const { csrf = "", study = "" } = byId("app").dataset;
const api = connectAt("server", csrf);
/** In the address as well, so that a reload finds what was dropped. @type {string | null} */
let draft = null;
/** @type {ReturnType<typeof attempt> | null} */
let beginning = null;
let busy = false;
/** @type {Dropped[]} */
const waiting = [];
/** @type {{name: string, reason: string}[]} */
const refused = [];
/** @type {Set<string>} */
const features = new Set();
let sent = 0;
let bytes = 0;
let running = 0;
let looks = 0;
let unanswered = false; // whether a try to make something of the files ended without an answer
/** @type {Encoder[]} */
let encoders = [];

// Sending ---------------------------------------------------------------------------------------------------------------

/** @param {Dropped[]} files */
async function add(files) {
  if (files.length === 0) return;
  if (busy) {
    setText(byId("trouble"), "Wait until this is made; then make a study of these files, or add them to it.");
    return;
  }
  if (!study && byId("name", HTMLInputElement).value === "") byId("name", HTMLInputElement).value = nameFor(files);
  waiting.push(...files);
  if (draft === null) {
    // Files that come meanwhile belong to the same draft.
    beginning ??= attempt(async () => keep((await api.post("/drafts", {})).draft));
    const begun = await beginning;
    beginning = null;
    if (!begun) {
      waiting.length = 0;
      return;
    }
  }
  showSending();
  while (running < AT_ONCE && waiting.length > 0) send();
}

/** @param {string | null} name of the draft */
function keep(name) {
  draft = name;
  byId("discard").hidden = name === null;
  history.replaceState(null, "", name === null ? location.pathname + location.search : `#${name}`);
}

/** Go on with what was dropped before the page was reloaded. */
async function resume() {
  const name = location.hash.slice(1);
  if (!/^[0-9a-f]{16}$/.test(name)) return;
  let worked = false;
  const found = await attempt(async () => {
    let state = await stateOf(name);
    for (; state?.state === "working"; state = await stateOf(name)) {
      worked = true;
      setBusy(true);
      byId("form").hidden = false;
      if (state.total) setText(byId("making"), featuresDone(state));
      await new Promise((done) => setTimeout(done, 1000));
    }
    keep(state && name);
    sent = state?.files ?? 0;
  });
  setBusy(false);
  if (draft === null) byId("form").hidden = true;
  if (found && draft === null)
    setText(byId("trouble"), worked ? "It is ready, and among your studies." : "What was dropped here is gone: something was made of it, or it was deleted. Look at your studies.");
  if (draft === null) return;
  showSending();
  await look();
}

/** How far a draft is; null: it is gone, since something was made of it or it was deleted. @param {string} name */
async function stateOf(name) {
  try {
    return await api.get(`/drafts/${name}`);
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null;
    throw error;
  }
}

async function send() {
  running += 1;
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    await sendOne(file);
    showSending();
  }
  running -= 1;
  showSending();
  if (running === 0) await look();
}

/** @param {Dropped} one */
async function sendOne({ name, file }) {
  for (let tries = 1; ; tries += 1) {
    try {
      await api.put(`/drafts/${draft}/files?name=${encodeURIComponent(name)}`, file);
      sent += 1;
      bytes += file.size;
      return;
    } catch (error) {
      const again = error instanceof NoNetwork || (error instanceof Refused && error.temporary && error.status !== 507);
      if (!again || tries === TRIES) {
        refused.push({ name, reason: messageOf(error) });
        return;
      }
      await new Promise((done) => setTimeout(done, 1000 * ((error instanceof Refused && error.retryAfter) || tries)));
    }
  }
}

function showSending() {
  const all = sent + refused.length + waiting.length + running;
  const words = running + waiting.length > 0 ? `Sending: ${sent + refused.length} of ${count(all, "file")}` : `${count(sent, "file")} sent${bytes > 0 ? ` (${sizeInWords(bytes)})` : ""}`;
  setText(byId("uploading"), words);
  byId("upload-meter").hidden = running + waiting.length === 0;
  /** @type {HTMLElement} */ (byId("upload-meter").firstElementChild).style.width = `${(100 * (sent + refused.length)) / Math.max(all, 1)}%`;
}

/** @param {{name: string, reason: string}[]} more of items that the preview leaves out @param {number} total */
function showRefused(more, total) {
  const all = refused.length + total;
  byId("refused").hidden = all === 0;
  setText(byId("refused-words"), `${count(all, "file")} left out`);
  const listed = [...refused, ...more].slice(0, 200);
  byId("refused-list").replaceChildren(...listed.map(({ name, reason }) => make("li", {}, reason.startsWith(name) ? reason : `${name}: ${reason}`)));
}

// Looking ---------------------------------------------------------------------------------------------------------------

async function look() {
  showRefused([], 0);
  if (sent === 0) return;
  const mine = ++looks;
  setText(byId("live"), "Looking at the files.");
  await attempt(async () => {
    /** @type {Preview} */
    const found = await api.postSlowly(`/drafts/${draft}/preview`, { ...columns(), study: study || null });
    if (mine !== looks) return;
    showRefused(found.refused, found.refused_in_all);
    showItems(found);
    byId("items").hidden = byId("form").hidden = false;
  });
}

function columns() {
  const chosen = byId("columns").hidden ? {} : { id_column: byId("id-column", HTMLSelectElement).value || null, text_column: byId("text-column", HTMLSelectElement).value || null };
  return { ...chosen, feature_columns: [...features] };
}

/** @param {Preview} found */
function showItems(found) {
  const groups = found.groups > 1 ? ` in ${found.groups.toLocaleString("en")} groups, which are ordered each on its own` : "";
  const again = study && found.new < found.items ? ` ${count(found.items - found.new, "item")} of them are in the study already and stay as they are.` : "";
  setText(byId("items-words"), `${count(found.items, "item")}${groups}.${again}`);
  setText(byId("live"), `${count(found.items, "item")} found.`);
  byId("notes").replaceChildren(...found.notes.map((words) => make("li", {}, words)));
  byId("columns").hidden = found.columns.length === 0;
  fillSelect("id-column", found.columns.map((name) => [name, name]), found.id_column ?? "");
  fillSelect("text-column", [["", "none"], ...found.columns.map((name) => /** @type {[string, string]} */ ([name, name]))], found.text_column ?? "");
  byId("numbers").hidden = study !== "" || found.numbers.length === 0;
  if (!study) byId("number-list").replaceChildren(...found.numbers.map(numberBox));
  byId("first").replaceChildren(...found.first.map(card));
  if (!study) showEncoders(found);
}

/** @param {string} name */
function numberBox(name) {
  const box = make("input", { type: "checkbox", checked: features.has(name) });
  box.addEventListener("change", () => {
    if (box.checked) features.add(name);
    else features.delete(name);
  });
  return make("label", { class: "check" }, box, name);
}

/** @param {string} id @param {[string, string][]} options @param {string} value */
function fillSelect(id, options, value) {
  const select = byId(id, HTMLSelectElement);
  select.replaceChildren(...options.map(([one, words]) => make("option", { value: one }, words)));
  select.value = value;
}

/** @param {import("./api.js").Item} item the address of the thumbnail is the name of its file */
function card({ id, text, thumbnail_url: picture }) {
  const face = picture
    ? make("img", { src: api.address(`/drafts/${draft}/thumbnail?name=${encodeURIComponent(picture)}`), alt: "", loading: "lazy" })
    : make("span", { class: "excerpt", dir: "auto" }, text ?? id);
  return make("li", {}, make("div", { class: "item-card framed-card" }, make("span", { class: "face" }, face), make("span", { class: "under" }, id)));
}

/** @param {Preview} found */
function showEncoders({ kinds, numbers }) {
  const fitting = encoders.filter(({ reads }) => kinds.includes(reads));
  byId("encoding").hidden = fitting.length === 0;
  const select = byId("encoder", HTMLSelectElement);
  const chosen = select.value;
  select.replaceChildren(
    make("option", { value: "" }, "none"),
    ...fitting.map(({ name, summary, installed }) => make("option", { value: name, disabled: !installed }, `${summary} (${name})${installed ? "" : ", not installed"}`)),
  );
  select.value = chosen;
  const missing = fitting.filter(({ installed }) => !installed);
  const beside = numbers.length > 0 ? " The columns of numbers that you tick above are used as well; the answers tell how much each kind says." : "";
  const help = `They describe the items, so it needs fewer answers. Computing them takes a while.${beside}`;
  const install = fitting.length > 0 && missing.length === fitting.length ? ` To install one, stop the server and run: ${missing[0]?.install}` : "";
  setText(byId("encoder-help"), help + install);
}

// Making ----------------------------------------------------------------------------------------------------------------

/** @param {boolean} on */
function setBusy(on) {
  busy = on;
  for (const control of [byId("make", HTMLButtonElement), byId("discard", HTMLButtonElement), byId("files", HTMLInputElement), byId("folder", HTMLInputElement)]) control.disabled = on;
  setText(byId("making"), on ? "One moment" : "");
}

async function submit() {
  if (draft === null || running > 0) {
    setText(byId("making"), "Wait until all files are sent.");
    return;
  }
  setBusy(true);
  const watch = setInterval(() => watchProgress().catch(() => {}), 1000);
  const done = await attempt(makeOnce);
  clearInterval(watch);
  setBusy(false);
  if (!done) byId("trouble").scrollIntoView({ block: "center" });
}

// The server may have done it although no answer arrived; then the next try finds the files gone.
async function makeOnce() {
  try {
    await (study ? addItems() : makeStudy());
  } catch (error) {
    if (unanswered && error instanceof Refused && error.status === 404)
      throw new Refused(404, study ? "these items were added before; the page of the study has them" : "this study was made before; it is among your studies");
    unanswered ||= error instanceof NoNetwork;
    throw error;
  }
}

async function watchProgress() {
  const state = await api.get(`/drafts/${draft}`);
  if (state.total) setText(byId("making"), featuresDone(state));
}

/** @param {{done: number, total: number}} state */
const featuresDone = ({ done, total }) => `Features: ${done} of ${count(total, "item")}`;

async function makeStudy() {
  const budget = byId("budget", HTMLInputElement).value;
  const made = await api.postSlowly(`/drafts/${draft}/study`, {
    ...columns(),
    name: byId("name", HTMLInputElement).value,
    question: byId("question", HTMLTextAreaElement).value.trim(),
    encoder: byId("encoder", HTMLSelectElement).value || null,
    rules: budget ? { budget: Number(budget) } : null,
  });
  finish(`The study ${made.study} has ${count(made.items, "item")}. Send this link to your judges. Each enters a name.`, made.study);
  const { address, copy, state } = copying(made.link.url, "the link for annotators");
  byId("link").replaceChildren(...[address, make("div", { class: "row" }, copy, state), loopbackNote(made.link.url)].flatMap((element) => element ?? []));
  const code = byId("qr", HTMLImageElement);
  code.src = new URL(`api/v1/studies/${made.study}/links/${made.link.id}/qr.svg`, root).href;
  code.hidden = false;
}

async function addItems() {
  const { items } = await api.postSlowly(`/drafts/${draft}/items`, { ...columns(), feature_columns: undefined, study });
  finish(`${count(items, "item")} added. They are asked about from now on.`, study);
}

/** @param {string} words @param {string} name */
function finish(words, name) {
  keep(null);
  for (const id of ["dropping", "items", "form"]) byId(id).hidden = true;
  setText(byId("made-words"), words);
  byId("made-next").replaceChildren(
    make("a", { class: "button main-button", href: new URL(`owner/${name}`, root).href }, "Open the study"),
    make("a", { class: "button", href: new URL(`judge/${name}`, root).href }, "Judge yourself"),
  );
  byId("made").hidden = false;
  byId("made").focus();
}

// The page --------------------------------------------------------------------------------------------------------------

const CHOOSERS = ["files", "folder"];
for (const id of CHOOSERS) {
  const input = byId(id, HTMLInputElement);
  input.addEventListener("change", () => {
    add([...(input.files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
    input.value = "";
  });
}
const place = byId("drop");
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  place.classList.add("over");
});
document.addEventListener("dragleave", () => place.classList.remove("over"));
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  place.classList.remove("over");
  if (event.dataTransfer && byId("made").hidden) add(await filesOf(event.dataTransfer));
});
for (const id of ["id-column", "text-column"]) byId(id).addEventListener("change", look);
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("discard").addEventListener("click", async () => {
  if (draft !== null) await attempt(() => api.remove(`/drafts/${draft}`));
  keep(null);
  location.reload();
});
addEventListener("beforeunload", (event) => {
  if (running > 0) event.preventDefault();
});

if (!study) {
  const question = byId("question", HTMLTextAreaElement);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const render = () => attempt(async () => setMarkup(byId("question-shown"), (await api.post("/markdown", { text: question.value })).html));
  question.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(render, 300);
  });
  await attempt(async () => {
    encoders = (await api.get("")).encoders;
  });
  await render();
}
await resume();
// What was chosen before this script was there.
for (const id of CHOOSERS) byId(id).dispatchEvent(new Event("change"));
