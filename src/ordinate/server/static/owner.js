// The owner's page: how far the study is, what it has found, who takes part, and what the owner may change.

import { connect, NoNetwork, Refused } from "./api.js";
import { drawChart, errorInWords, errorTable, upToNow } from "./chart.js";
import { by, make, percent, say } from "./dom.js";
import { sentence } from "./messages.js";
import { Links } from "./owner-links.js";
import { OrderingList } from "./owner-ordering.js";
import { People } from "./owner-people.js";
import { Rules } from "./owner-rules.js";

const EVERY = 5000; // between looks at the study, in milliseconds

const api = connect(by("app").dataset);
const announce = (words) => say(by("live"), words);

// Do what the server may refuse, and say so where it does. Returns whether it was done.
async function attempt(act) {
  try {
    await act();
    say(by("trouble"), "");
    return true;
  } catch (error) {
    if (error instanceof NoNetwork) say(by("trouble"), "The server cannot be reached. The page tries again by itself.");
    else if (error instanceof Refused) say(by("trouble"), sentence(error.message));
    else throw error;
    return false;
  }
}

// Resolves to whether the owner means it.
async function sure(title, words, yes) {
  const dialog = by("sure");
  by("sure-title").textContent = title;
  by("sure-words").textContent = words;
  by("sure-yes").textContent = yes;
  dialog.returnValue = "";
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
  return dialog.returnValue === "yes";
}

const page = { api, attempt, sure, announce };
const ordering = new OrderingList(page);
const people = new People(page);
const links = new Links(page);
const rules = new Rules(page, showPaused);
let answersShown = null;

function showPaused(paused) {
  const pause = by("pause");
  pause.disabled = false;
  pause.textContent = paused ? "Go on" : "Pause";
  pause.dataset.paused = paused ? "yes" : "";
}

by("pause").addEventListener("click", async () => {
  const paused = !by("pause").dataset.paused;
  await attempt(async () => {
    await api.patch("/rules", { paused });
    announce(paused ? "The study is paused." : "The study goes on.");
    await look();
  });
});
by("theme").addEventListener("click", () => announce(globalThis.switchTheme() === "dark" ? "Dark" : "Light"));

async function look() {
  const status = await api.get("");
  const { answers, goal, items, open, expected_error: error, paused, finished } = status;
  const history = upToNow(status);
  showPaused(paused);
  say(by("state"), paused ? "Paused" : finished === "total-budget" ? "Finished" : "Running");
  by("state").classList.toggle("quietly", paused);
  const figures = [
    ["Answers", goal === null ? answers.toLocaleString("en") : `${answers.toLocaleString("en")} of ${goal.toLocaleString("en")}`],
    ["Items", items.toLocaleString("en")],
    ["Pairs being judged", open.toLocaleString("en")],
    ["Expected error", error === null ? "not known yet" : percent(error)],
  ];
  by("figures").replaceChildren(...figures.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  by("chart").replaceChildren(...(history.length > 1 ? [drawChart(history, { goal })] : []));
  say(by("chart-words"), errorInWords(history));
  by("chart-numbers").hidden = history.length < 2;
  if (history.length > 1) by("chart-table").replaceChildren(errorTable(history));
  await people.look();
  if (answersShown !== answers && (await ordering.look(answersShown === null))) answersShown = answers;
}

async function keepLooking() {
  if (!document.hidden) await attempt(look);
  setTimeout(keepLooking, EVERY);
}

await Promise.all([keepLooking(), attempt(() => links.look()), attempt(() => rules.look())]);
