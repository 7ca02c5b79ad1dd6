// How the ordering's expected error falls, as a line, in words, and as a table.

import { count, draw, make, percent } from "./dom.js";

/** @typedef {[answers: number, error: number][]} History */

const ENDLESS = 1e6; // more answers than anybody gives

/** @typedef {{answers: number, expected_error: number | null, better_than_coins: boolean | null, withheld?: string | null}} Known */

/**
 * Why the expected error is not shown, also not as what it would be if people answered sensibly; null where it is.
 * @param {Known} study
 */
export const doubt = ({ answers, better_than_coins: better, withheld }) => (withheld && answers > 0 && better !== false ? withheld : null);

/** The expected error of a study in a word or two. @param {Known} study */
export function errorInShort(study) {
  if (study.expected_error !== null && study.answers > 0) return percent(study.expected_error);
  return doubt(study) === null ? "not known yet" : "withheld";
}

/**
 * The past with what is known now, which may be newer than the last point.
 * @param {import("./api.js").Status} status
 * @returns {History}
 */
export function upToNow({ answers, expected_error: error, error_history: history }) {
  const last = history.at(-1);
  if (error === null || (last && (last[0] >= answers || last[1] === error))) return history;
  return [...history, [answers, error]];
}

/**
 * @param {History} history
 * @param {boolean | null} better whether the answers are better than coin tosses; null: not known
 */
export function errorInWords(history, better = null) {
  const [first, last] = [history[0], history.at(-1)];
  if (first === undefined || last === undefined || last[0] === 0) return "How good the ordering is will be known after some answers.";
  const presumed = better === true ? "About" : "If people answered sensibly, about";
  const unknown = better === false ? "The answers cannot be told from coin tosses yet. " : "";
  const now = `${unknown}${presumed} ${percent(last[1])} of pairs are in the wrong order now, after ${count(last[0], "answer")}`;
  return history.length === 1 ? `${now}.` : `${now}; it was ${percent(first[1])} after ${count(first[0], "answer")}.`;
}

/**
 * When the error will be as small as wanted; nothing where that cannot be said.
 * @param {import("./api.js").Forecast | null} forecast
 * @param {boolean | null} better whether the answers are better than coin tosses; null: not known
 */
export function forecastInWords(forecast, better = null) {
  if (forecast === null || forecast.more_answers === null) return "";
  const { target, more_answers: more, more_answers_low: low, more_answers_high: high, seconds } = forecast;
  const wanted = `${Number((100 * target).toPrecision(3))} %`;
  if (more === 0) return `An error of ${wanted} is reached${high ? `; to be sure of it may take ${rough(high)} more answers` : ""}.`;
  const presumed = better === null ? ", if people answered sensibly" : "";
  if (more > ENDLESS) return `The error falls to ${wanted} after more than a million more answers${presumed}.`;
  const pace = seconds === null ? "" : `, about ${duration(seconds)} at the pace of the newest answers`;
  return `The error falls to ${wanted} after about ${rough(more)} more answers (${rough(low ?? 0)} to ${rough(high ?? 0)})${pace}${presumed}.`;
}

/** @param {number} number two digits of it, and no more than a million */
function rough(number) {
  return number > ENDLESS ? "more than a million" : Number(number.toPrecision(2)).toLocaleString("en");
}

/** @param {number} seconds */
function duration(seconds) {
  const [unit, size] = seconds >= 1.5 * 86400 ? ["day", 86400] : seconds >= 1.5 * 3600 ? ["hour", 3600] : ["minute", 60];
  return count(Math.max(Math.round(seconds / size), 1), unit);
}

/**
 * "Deadline: 31/01/2030, 12:00. At the pace of the last day about 900 more answers come until then; 10 % will probably be reached."
 * @param {import("./api.js").Status} status
 */
export function deadlineInWords({ deadline, over, answers_by_deadline: coming, forecast, better_than_coins: better }) {
  if (!deadline) return "";
  const when = new Date(deadline).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  if (over) return `The time was over on ${when}: no more pairs are given out.`;
  if (coming == null) return `Deadline: ${when}.`;
  const said = `Deadline: ${when}. At the pace of the last day about ${rough(coming)} more answers will come until then`;
  const { more_answers: needed, more_answers_low: low, more_answers_high: high } = forecast ?? {};
  if (!forecast || better === false || needed == null || low == null || high == null) return `${said}.`;
  const target = `${Number((100 * forecast.target).toPrecision(3))} %`;
  if (high === 0 || coming >= high) return `${said}: ${target} will be reached, if people answer sensibly.`;
  if (coming >= needed) return `${said}: ${target} will probably be reached, if people answer sensibly.`;
  if (coming >= low) return `${said}: ${target} may not be reached; that takes about ${rough(needed)}.`;
  return `${said}: ${target} will not be reached; that takes about ${rough(needed)}.`;
}

/**
 * @param {History} history
 * @param {number | null} goal how many answers are asked for in all
 */
export function drawChart(history, goal) {
  const [width, height] = matchMedia("(max-width: 44rem)").matches ? [340, 140] : [520, 130];
  const edge = { left: 44, right: 16, top: 12, bottom: 34 };
  const most = Math.max(...history.map(([answers]) => answers), goal ?? 0, 1);
  // Half of all pairs is what guessing gets wrong.
  const worst = Math.max(0.5, ...history.map(([, error]) => error));
  /** @param {number} answers */
  const x = (answers) => edge.left + ((width - edge.left - edge.right) * answers) / most;
  /** @param {number} error */
  const y = (error) => height - edge.bottom - ((height - edge.top - edge.bottom) * error) / worst;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": errorInWords(history) });

  for (let error = 0; error <= worst + 1e-9; error += 0.1) {
    const at = y(error);
    svg.append(draw("line", { x1: edge.left, x2: width - edge.right, y1: at, y2: at, class: "grid" }));
    svg.append(draw("text", { x: edge.left - 6, y: at + 4, class: "end" }, `${Math.round(100 * error)} %`));
  }
  const step = niceStep(most);
  for (let answers = 0; answers <= most; answers += step) {
    svg.append(draw("text", { x: x(answers), y: height - edge.bottom + 16, class: "middle" }, answers.toLocaleString("en")));
  }
  svg.append(draw("text", { x: width - edge.right, y: height - 3, class: "end" }, "answers"));
  if (goal) svg.append(draw("line", { x1: x(goal), x2: x(goal), y1: edge.top, y2: height - edge.bottom, class: "goal" }));

  const points = history.map(([answers, error]) => `${x(answers).toFixed(1)},${y(error).toFixed(1)}`);
  if (points.length > 1) svg.append(draw("polyline", { points: points.join(" "), class: "line" }));
  const last = history.at(-1);
  if (last) svg.append(draw("circle", { cx: x(last[0]), cy: y(last[1]), r: 4.5, class: "now" }));
  return svg;
}

/** A round distance between about five labels of an axis. @param {number} most the largest value */
export function niceStep(most) {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? power;
}

/**
 * The same numbers as a table.
 * @param {History} history
 * @param {number} most how many rows at most, but for the last one
 */
export function errorTable(history, most = 12) {
  const every = Math.ceil(history.length / most);
  const rows = history.filter((_, place) => place % every === 0 || place === history.length - 1);
  return make(
    "table",
    {},
    make("caption", { class: "unseen" }, "Expected error by answers"),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Answers"), make("th", { scope: "col" }, "Expected error"))),
    make("tbody", {}, ...rows.map(([answers, error]) => make("tr", {}, make("td", {}, answers.toLocaleString("en")), make("td", {}, percent(error))))),
  );
}
