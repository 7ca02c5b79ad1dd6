// Judging in a notebook: shows the pair that the kernel sends, and sends what the annotator does.

/** @typedef {{id: string, text?: string, image?: string}} Item */
/** @typedef {{question: string, answers: number, skips: number, said: string, number: number, ties: boolean, strengths: boolean, pair: {query: string, left: Item, right: Item} | null}} State */
/** @typedef {{get(name: "state"): State, on(event: string, does: () => void): void, off(event: string, does: () => void): void, send(message: object): void}} Model */

const KEYS = /** @type {Record<string, string>} */ ({ ArrowLeft: "left", ArrowRight: "right", " ": "tie", s: "skip", S: "skip", u: "undo", U: "undo", 4: "left-much", 5: "left-slightly", 6: "right-slightly", 7: "right-much" });
const STRENGTHS = { "left-much": "Left, much (4)", "left-slightly": "Left, slightly (5)", "right-slightly": "Right, slightly (6)", "right-much": "Right, much (7)" };
const STYLE = `
.ordinate-judge { padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .5rem; font: inherit; }
.ordinate-judge:focus-visible, .ordinate-judge button:focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
.ordinate-judge:focus-visible { outline-offset: -3px; } /* what is outside the box is cut off by the output's area */
.ordinate-judge .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); gap: .75rem; margin: .75rem 0; }
.ordinate-judge button { font: inherit; color: inherit; background: none; border: 1px solid color-mix(in srgb, currentColor 45%, transparent); border-radius: .4rem; padding: .5rem .75rem; min-height: 2.5rem; cursor: pointer; }
.ordinate-judge button:hover:enabled { background: color-mix(in srgb, currentColor 8%, transparent); }
.ordinate-judge button:disabled { opacity: .5; cursor: default; }
.ordinate-judge .pair button { text-align: start; overflow-wrap: anywhere; white-space: pre-wrap; }
.ordinate-judge .pair img { display: block; max-width: 100%; max-height: 24rem; margin: auto; }
.ordinate-judge [hidden] { display: none; }
.ordinate-judge .others { display: flex; flex-wrap: wrap; gap: .5rem; }
.ordinate-judge p { margin: .25rem 0; }
.ordinate-judge .aloud { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;

/** @param {string} tag @param {Record<string, string>} attributes @param {(Node | string)[]} inside */
function make(tag, attributes, ...inside) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** What is read aloud of an item: no id that is not shown, since it may give the answer away. @param {Item} item */
const aloud = (item) => item.text ?? (item.image === undefined ? item.id : "a picture");

/** @param {Item} item @param {string} side @returns {(Node | string)[]} */
function face(item, side) {
  if (item.image === undefined) return [item.text ?? item.id];
  const picture = make("img", { src: item.image, alt: `The ${side} picture` });
  return item.text === undefined ? [picture] : [picture, item.text];
}

/** @param {{model: Model, el: HTMLElement}} given */
function render({ model, el }) {
  const question = make("p", {});
  const status = make("p", { role: "status", "aria-live": "polite" });
  const buttons = /** @type {Record<string, HTMLButtonElement>} */ ({});
  for (const [does, words] of [["left", ""], ["right", ""], ...Object.entries(STRENGTHS), ["tie", "Tie (Space)"], ["skip", "Skip (S)"], ["undo", "Undo (U)"]]) {
    const button = /** @type {HTMLButtonElement} */ (make("button", { type: "button" }, words ?? ""));
    button.addEventListener("click", () => act(/** @type {string} */ (does)));
    buttons[/** @type {string} */ (does)] = button;
  }
  const { left, right, tie, skip, undo } = /** @type {{[name: string]: any}} */ (buttons);
  const pair = make("div", { class: "pair" }, left, right);
  const strengths = make("div", { class: "others", role: "group", "aria-label": "Or how much better" }, ...Object.keys(STRENGTHS).map((does) => /** @type {any} */ (buttons[does])));
  const box = make("div", { class: "ordinate-judge", role: "group", tabindex: "0" }, make("style", {}, STYLE), question, pair, strengths, make("div", { class: "others" }, tie, skip, undo), status);
  let waiting = false;

  /** @param {string} does */
  function act(does) {
    if (waiting || buttons[does]?.disabled !== false) return;
    waiting = true;
    model.send({ do: does, query: model.get("state").pair?.query ?? null });
    // The pressed button may be about to show another item: the keys go on working from the box.
    box.focus({ preventScroll: true });
  }

  function show() {
    const state = model.get("state");
    waiting = false;
    question.textContent = state.question;
    box.setAttribute("aria-label", `${state.question} Left and right arrow choose, ${state.strengths ? "4 to 7 say how much better, " : ""}${state.ties ? "Space is a tie, " : ""}S skips, U takes back.`);
    for (const does of ["left", "right", "tie", "skip", ...Object.keys(STRENGTHS)]) /** @type {HTMLButtonElement} */ (buttons[does]).disabled = state.pair === null;
    tie.hidden = !state.ties;
    if (!state.ties) tie.disabled = true;
    strengths.hidden = !state.strengths || state.pair === null;
    if (!state.strengths) for (const does of Object.keys(STRENGTHS)) /** @type {HTMLButtonElement} */ (buttons[does]).disabled = true;
    undo.disabled = state.answers + state.skips === 0;
    pair.hidden = state.pair === null;
    if (state.pair !== null) {
      for (const side of /** @type {const} */ (["left", "right"])) {
        const item = state.pair[side];
        buttons[side]?.replaceChildren(...face(item, side));
        buttons[side]?.setAttribute("aria-label", `${side === "left" ? "Left" : "Right"}: ${aloud(item)}`);
      }
    }
    const answers = `${state.answers} ${state.answers === 1 ? "answer" : "answers"}.`;
    const words = state.pair === null ? "" : ` Left: ${aloud(state.pair.left).slice(0, 200)}. Right: ${aloud(state.pair.right).slice(0, 200)}.`;
    // What is read aloud and not shown: the pair is on the screen already.
    status.replaceChildren(`${state.said} ${answers}`.trim(), make("span", { class: "aloud" }, words));
  }

  box.addEventListener("keydown", (event) => {
    const does = KEYS[event.key];
    // A notebook has keys of its own. Space on a focused button presses that button.
    if (does === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target !== box) return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act(does);
  });
  model.on("change:state", show);
  show();
  el.append(box);
  return () => model.off("change:state", show);
}

export default { render };
