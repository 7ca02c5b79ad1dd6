"""Rows as tables of docs/performance.md, between markers, and as a log-log plot with fitted exponents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measure import Row

START, END = "<!-- benchmarks: start -->", "<!-- benchmarks: end -->"
TITLES = {
    "patterns": "Time per question by how people answer, after the first 100 answers",
    "question": "Time per question of one person, beside NumPy",
    "models": "Time per question at n = 6,072, by model",
    "fit": "Fit of a score per item, with the packages that fit one",
    "ratings": "TrueSkill updates",
    "growth": "Growth of a question",
    "refit": "Growth of a refit, at 5 answers per item",
    "file": "A question in a file, in memory, and the transactions alone",
    "many": "Many recorded comparisons, in a file",
    "simulated": "1,000 answers of a simulated run",
    "command": "A command, from its start to its end",
}


def write(page: Path, machine: Sequence[str], rows: Sequence[Row], plot: Path, profiles: str) -> None:
    """Put everything between the page's markers. Raises ValueError where it has none."""
    text = page.read_text(encoding="utf-8")
    if START not in text or END not in text:
        raise ValueError(f"{page} has no lines {START} and {END}")
    head, rest = text.split(START, 1)
    tail = rest.split(END, 1)[1]
    parts = ["\n".join(f"- {line}" for line in machine)]
    for group in TITLES:
        if found := [row for row in rows if row.group == group]:
            shown = {"growth": exponents, "refit": exponents, "patterns": by_pattern}.get(group, table)(found)
            parts.append(f"### {TITLES[group]}\n\n{shown}")
    parts.append(f"![Time against items and columns]({plot.relative_to(page.parent).as_posix()})")
    if profiles:
        parts.append(f"### Profiles\n\n{profiles}")
    page.write_text(f"{head}{START}\n\n" + "\n\n".join(parts) + f"\n\n{END}{tail}", encoding="utf-8")


def table(rows: Iterable[Row]) -> str:
    """A row per competitor and size; `times ours`: how many times as long as ours takes at that size."""
    lines = [
        "| n | d | answers | who | ms (low to high) | times ours | peak MB | |",
        "|--:|--:|--:|---|--:|--:|--:|---|",
    ]
    rows = sorted(rows, key=lambda row: (row.n, row.d, row.answers))
    ours = {(row.n, row.d, row.answers): row.seconds for row in rows if row.who == "ordinate"}
    for row in rows:
        times = row.seconds / ours.get((row.n, row.d, row.answers), np.nan)
        cells = [
            f"{row.n:,}",
            f"{row.d or ''}",
            f"{row.answers:,}" if row.answers else "",
            row.who,
            "" if np.isnan(row.seconds) else f"{ms(row.seconds)} ({ms(row.low)} to {ms(row.high)})",
            "" if np.isnan(times) or row.who == "ordinate" else f"{times:,.0f}" if times > 5 else f"{times:.1f}",
            "" if np.isnan(row.peak_mb) else f"{row.peak_mb:,.0f}",
            row.note,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def by_pattern(rows: Iterable[Row]) -> str:
    """A row per pattern and a column per study; last, how many times as long the slowest takes as the fastest."""
    found: dict[str, dict[str, float]] = {}
    alone: list[str] = []
    for row in rows:
        study = f"{row.work}, {row.n:,}" + (f" x {row.d}" if row.d else "")
        if "first" in row.work or "," in row.who:
            alone.append(f"| {study} | {row.who} | {ms(row.seconds)} |")
        else:
            found.setdefault(study, {})[row.who] = row.seconds
    names = list(dict.fromkeys(who for column in found.values() for who in column))
    lines = [f"| ms | {' | '.join(found)} |", "|---|" + "--:|" * len(found)]
    lines += [f"| {who} | {' | '.join(ms(column[who]) for column in found.values())} |" for who in names]
    worst = [f"{max(column.values()) / min(column.values()):.1f}" for column in found.values()]
    lines.append(f"| **slowest / fastest** | {' | '.join(worst)} |")
    return "\n".join([*lines, "", "| study | who | ms |", "|---|---|--:|", *alone])


def ms(seconds: float) -> str:
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else f"{value:.2g}"


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log seconds on log size over the larger half of the sizes, where the growth shows."""
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])


def series(rows: Iterable[Row]) -> dict[tuple[str, str, str], tuple[list[int], list[float]]]:
    """(work, axis, who) -> sizes and seconds; axis n: d = 35, axis d: n = 1000."""
    found: dict[tuple[str, str, str], tuple[list[int], list[float]]] = {}
    for row in sorted(rows, key=lambda row: (row.n, row.d)):
        for axis, size, fits in (("n", row.n, row.d == 35), ("d", row.d, row.n == 1000 and row.d != 35)):
            if fits:
                sizes, seconds = found.setdefault((row.work, axis, row.who), ([], []))
                sizes.append(size)
                seconds.append(row.seconds)
    return found


def exponents(rows: Iterable[Row]) -> str:
    lines = ["| who | against | from | to | ms | exponent |", "|---|---|--:|--:|--:|--:|"]
    for (_, axis, who), (sizes, seconds) in series(rows).items():
        grew = f"{exponent(sizes, seconds):.2f}" if len(sizes) > 3 else ""
        span = f"{ms(seconds[0])} to {ms(seconds[-1])}"
        lines.append(f"| {who} | {axis} | {sizes[0]:,} | {sizes[-1]:,} | {span} | {grew} |")
    return "\n".join(lines)


def draw(rows: Sequence[Row], path: Path) -> None:
    """Questions above, refits below; against n on the left, against d on the right."""
    from matplotlib.figure import Figure

    found = series(row for row in rows if row.group in ("growth", "refit"))
    names = list(dict.fromkeys(who for _, _, who in found))
    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.subplots(2, 2)
    for (work, axis, who), (sizes, seconds) in found.items():
        place = axes[0 if work == "question" else 1, 0 if axis == "n" else 1]
        number = names.index(who)
        label = f"{who}: {axis}^{exponent(sizes, seconds):.1f}" if len(sizes) > 3 else who
        style = "--" if who.startswith("NumPy") else "-"
        place.plot(
            sizes, [1e3 * s for s in seconds], style, marker="osD^vP"[number % 6], color=f"C{number}", label=label
        )
    for (line, column), place in np.ndenumerate(axes):
        work, axis = ("question", "refit")[line], ("items n, d = 35", "columns d, n = 1,000")[column]
        place.set(xscale="log", yscale="log", xlabel=axis, ylabel=f"ms per {work}")
        place.grid(True, which="both", alpha=0.25)
        if place.lines:
            place.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
