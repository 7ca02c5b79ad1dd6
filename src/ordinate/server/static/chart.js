// How the ordering's expected error falls, as a small line with words for those who do not see it.

import { count, draw, make, percent } from "./dom.js";

// The past with what is known now, which may be newer than the last point.
export function upToNow({ answers, expected_error: error, error_history: history }) {
  const last = history.at(-1);
  if (error === null || (last && (last[0] >= answers || last[1] === error))) return history;
  return [...history, [answers, error]];
}

// What to say about [[answers, error], ...].
export function errorInWords(history) {
  if (history.length === 0) return "How good the ordering is will be known after some answers.";
  const [[firstAnswers, first], [lastAnswers, last]] = [history[0], history.at(-1)];
  const now = `About ${percent(last)} of pairs are expected to be in the wrong order now, after ${count(lastAnswers, "answer")}`;
  return history.length === 1 ? `${now}.` : `${now}; it was ${percent(first)} after ${count(firstAnswers, "answer")}.`;
}

// goal: how many answers are asked for in all, or null. small: only the line.
export function drawChart(history, { goal = null, small = false } = {}) {
  const words = errorInWords(history);
  const [width, height] = small ? [96, 28] : matchMedia("(max-width: 44rem)").matches ? [340, 200] : [520, 220];
  const edge = small ? { left: 2, right: 4, top: 4, bottom: 4 } : { left: 44, right: 16, top: 12, bottom: 34 };
  const most = Math.max(...history.map(([answers]) => answers), goal ?? 0, 1);
  // Half of all pairs is what guessing gets wrong.
  const worst = Math.max(0.5, ...history.map(([, error]) => error));
  const x = (answers) => edge.left + ((width - edge.left - edge.right) * answers) / most;
  const y = (error) => height - edge.bottom - ((height - edge.top - edge.bottom) * error) / worst;
  const points = history.map(([answers, error]) => `${x(answers).toFixed(1)},${y(error).toFixed(1)}`);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: small ? "chart small" : "chart", role: "img", "aria-label": words });
  if (!small) svg.append(...axes({ x, y, most, worst, width, height, edge, goal }));
  if (points.length > 1) svg.append(draw("polyline", { points: points.join(" "), class: "line" }));
  const last = history.at(-1);
  if (last) svg.append(draw("circle", { cx: x(last[0]), cy: y(last[1]), r: small ? 3 : 4.5, class: "now" }));
  return svg;
}

function axes({ x, y, most, worst, width, height, edge, goal }) {
  const parts = [];
  for (let error = 0; error <= worst + 1e-9; error += 0.1) {
    const at = y(error);
    parts.push(draw("line", { x1: edge.left, x2: width - edge.right, y1: at, y2: at, class: "grid" }));
    parts.push(draw("text", { x: edge.left - 6, y: at + 4, class: "end" }, `${Math.round(100 * error)} %`));
  }
  const step = niceStep(most);
  for (let answers = 0; answers <= most; answers += step) {
    parts.push(draw("text", { x: x(answers), y: height - edge.bottom + 16, class: "middle" }, answers.toLocaleString("en")));
  }
  parts.push(draw("text", { x: width - edge.right, y: height - 3, class: "end" }, "answers"));
  if (goal) parts.push(draw("line", { x1: x(goal), x2: x(goal), y1: edge.top, y2: height - edge.bottom, class: "goal" }));
  return parts;
}

function niceStep(most) {
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? power;
}

// The same numbers as a table, at most so many rows.
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
