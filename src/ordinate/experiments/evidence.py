"""Rules that decide from rows whether a claim holds, and the numbers to show for it.

All differences are paired: two algorithms with the same seed see the same items and the same answers, so the difference
is taken for each seed. Two algorithms differ if the mean difference is more than two of its standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.tables import Columns
from ordinate.experiments.rows import part_of
from ordinate.simulation.names import look
from ordinate.simulation.summary import curves

Verdict = Literal["holds", "does not hold", "holds in part", "not testable here", "not run"]
Rows = Mapping[str, Columns]  # "experiment/data/setting" -> rows
LATE = (0.5, 1.0)  # the second half of the run
END = (1.0, 1.0)
EARLY = (0.02, 0.1)


class Finding(NamedTuple):
    evidence: str
    verdict: Verdict


class Check(NamedTuple):
    """A rule that decides from rows.

    keys      the settings that it uses, "experiment/data/setting"; none if rows cannot decide
    evaluate  rows -> finding; raises LookupError if rows are missing
    """

    keys: tuple[str, ...]
    evaluate: Callable[[Rows], Finding]


class Difference(NamedTuple):
    """The mean difference of two errors over seeds, and its standard error (NaN if there is a single seed)."""

    mean: float
    error: float

    @property
    def lower(self) -> bool:
        return self.mean < 0.0 and not self.mean + 2.0 * self.error >= 0.0

    @property
    def higher(self) -> bool:
        return self.mean > 0.0 and not self.mean - 2.0 * self.error <= 0.0


def average(rows: Columns, part: str, algorithm: str, window: tuple[float, float]) -> Floats:
    """(seeds,) the mean error over the steps in the window, for each seed; the window is given in shares of the run."""
    return np.array(list(_by_seed(rows, part, algorithm, window).values()))


def _by_seed(rows: Columns, part: str, algorithm: str, window: tuple[float, float]) -> dict[int, float]:
    chosen = part_of(rows, part, [algorithm])
    step, seed, error = (np.asarray(chosen[name]) for name in ("step", "seed", "error"))
    if not len(step):
        raise LookupError(f"there are no rows of {algorithm}: {part}")
    last = step.max()
    inside = (step >= window[0] * last) & (step <= window[1] * last)
    return {int(one): float(error[inside & (seed == one)].mean()) for one in np.unique(seed)}


def difference(rows: Columns, part: str, one: str, other: str, window: tuple[float, float]) -> Difference:
    return _paired(_by_seed(rows, part, one, window), _by_seed(rows, part, other, window))


def _paired(one: Mapping[int, float], other: Mapping[int, float]) -> Difference:
    """The difference over the seeds that both have."""
    return _mean_and_error(np.array([one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]))


def _mean_and_error(values: Floats) -> Difference:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Difference(float(values.mean()), float(error))


def lower(
    keys: Sequence[str], part: str, these: Sequence[str], those: Sequence[str], window: tuple[float, float] = LATE
) -> Check:
    """Holds if every error of `these` is lower than every error of `those`; in part if some are, and none is higher."""

    def evaluate(rows: Rows) -> Finding:
        gaps = [difference(rows[key], part, one, other, window) for key in keys for one in these for other in those]
        verdict: Verdict = "holds" if all(gap.lower for gap in gaps) else "holds in part"
        if any(gap.higher for gap in gaps) or not any(gap.lower for gap in gaps):
            verdict = "does not hold"
        return Finding(_numbers(rows, keys, part, (*these, *those), window), verdict)

    return Check(tuple(keys), evaluate)


def not_higher(
    keys: Sequence[str], part: str, these: Sequence[str], those: Sequence[str], window: tuple[float, float] = LATE
) -> Check:
    """Holds if no error of `these` is higher than one of `those`; in part if fewer than a quarter of the pairs are."""

    def evaluate(rows: Rows) -> Finding:
        worse = [
            f"{look(one).name} is above {look(other).name} by {gap.mean:.3f} ± {gap.error:.3f} ({_data(key)})"
            for key in keys
            for one in these
            for other in those
            if (gap := difference(rows[key], part, one, other, window)).higher
        ]
        evidence = _numbers(rows, keys, part, (*these, *those), window)
        total = len(keys) * len(these) * len(those)
        verdict: Verdict = "holds" if not worse else "holds in part" if len(worse) < 0.25 * total else "does not hold"
        return Finding("; ".join([evidence, *worse]), verdict)

    return Check(tuple(keys), evaluate)


def similar(
    keys: Sequence[str], part: str, one: str, other: str, window: tuple[float, float] = LATE, within: float = 0.005
) -> Check:
    """Holds if the two errors differ by at most `within`, or by at most two standard errors."""

    def evaluate(rows: Rows) -> Finding:
        gaps = [difference(rows[key], part, one, other, window) for key in keys]
        close = [abs(gap.mean) <= within or not (gap.lower or gap.higher) for gap in gaps]
        evidence = "; ".join(
            f"{_data(key)}: {look(one).name} {gap.mean:+.4f} ± {gap.error:.4f} from {look(other).name}"
            for key, gap in zip(keys, gaps, strict=True)
        )
        return Finding(evidence, "holds" if all(close) else "holds in part" if any(close) else "does not hold")

    return Check(tuple(keys), evaluate)


class Side(NamedTuple):
    """An algorithm in a setting, to compare with another setting: the same seeds give the same items and answers."""

    key: str
    algorithm: str
    window: tuple[float, float] = LATE


def similar_across(part: str, one: Side, other: Side, within: float = 0.005) -> Check:
    """Holds if the two errors are similar in the sense of `similar`."""

    def evaluate(rows: Rows) -> Finding:
        gap, evidence = _across(rows, part, one, other)
        close = abs(gap.mean) <= within or not (gap.lower or gap.higher)
        return Finding(evidence, "holds" if close else "does not hold")

    return Check((one.key, other.key), evaluate)


def lower_across(part: str, one: Side, other: Side) -> Check:
    """Holds if the first error is lower."""

    def evaluate(rows: Rows) -> Finding:
        gap, evidence = _across(rows, part, one, other)
        return Finding(evidence, "holds" if gap.lower else "does not hold")

    return Check((one.key, other.key), evaluate)


def _across(rows: Rows, part: str, one: Side, other: Side) -> tuple[Difference, str]:
    errors = [_by_seed(rows[side.key], part, side.algorithm, side.window) for side in (one, other)]
    gap = _paired(*errors)
    means = [
        f"{look(side.algorithm).name}, {side.key.split('/')[-1]}: {np.mean(list(error.values())):.3f}"
        for side, error in zip((one, other), errors, strict=True)
    ]
    return gap, f"{' against '.join(means)}; difference {gap.mean:+.4f} ± {gap.error:.4f}"


def overtaken(keys: Sequence[str], part: str, starter: str, finisher: str) -> Check:
    """Holds if the error of `starter` is not higher in the first tenth of the run, and higher in the second half."""

    def evaluate(rows: Rows) -> Finding:
        early = [difference(rows[key], part, starter, finisher, EARLY) for key in keys]
        late = [difference(rows[key], part, starter, finisher, LATE) for key in keys]
        good = [not first.higher and last.higher for first, last in zip(early, late, strict=True)]
        evidence = "; ".join(
            f"{_data(key)}: {look(starter).name} minus {look(finisher).name} is {first.mean:+.3f} ± {first.error:.3f} "
            f"early, {last.mean:+.3f} ± {last.error:.3f} late"
            for key, first, last in zip(keys, early, late, strict=True)
        )
        return Finding(evidence, "holds" if all(good) else "holds in part" if any(good) else "does not hold")

    return Check(tuple(keys), evaluate)


def levels_off(keys: Sequence[str], part: str, flat: Sequence[str], steady: Sequence[str]) -> Check:
    """Holds if every algorithm of `flat` gains less than half as much as every one of `steady` in the second half."""

    def evaluate(rows: Rows) -> Finding:
        good, evidence = [], []
        for key in keys:
            gain = {name: _gain(rows[key], part, name) for name in (*flat, *steady)}
            good += [gain[one] < 0.5 * gain[other] for one in flat for other in steady]
            evidence.append(
                f"{_data(key)}: " + ", ".join(f"{look(name).name} {value:.3f}" for name, value in gain.items())
            )
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Finding(f"gained in the second half: {'; '.join(evidence)}", verdict)

    return Check(tuple(keys), evaluate)


def _gain(rows: Columns, part: str, name: str) -> float:
    return float((average(rows, part, name, (0.45, 0.55)) - average(rows, part, name, (0.95, 1.0))).mean())


def above_zero(keys: Sequence[str], part: str, names: Sequence[str]) -> Check:
    """Holds if the mean of each is greater than 0."""

    def evaluate(rows: Rows) -> Finding:
        good = [_mean_and_error(average(rows[key], part, name, LATE)).higher for key in keys for name in names]
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Finding(_numbers(rows, keys, part, names, LATE), verdict)

    return Check(tuple(keys), evaluate)


def range_at_most(keys: Sequence[str], part: str, names: Sequence[str], most: float) -> Check:
    """Holds if the best and the worst of them differ by at most `most`."""

    def evaluate(rows: Rows) -> Finding:
        ranges = []
        for key in keys:
            means = [float(average(rows[key], part, name, LATE).mean()) for name in names]
            ranges.append(max(means) - min(means))
        parts = "; ".join(
            f"{_data(key)}: best and worst are {gap:.3f} apart" for key, gap in zip(keys, ranges, strict=True)
        )
        good = [gap <= most for gap in ranges]
        return Finding(parts, "holds" if all(good) else "holds in part" if any(good) else "does not hold")

    return Check(tuple(keys), evaluate)


def rises_by(key: str, part: str, name: str, least: float, most: float, at: float = 2 / 3) -> Check:
    """Holds if the error rises by `least` to `most` at this share of the run."""

    def evaluate(rows: Rows) -> Finding:
        drawn = curves(part_of(rows[key], part, [name]))
        if not drawn:
            raise LookupError(f"there are no rows of {name}: {part}")
        curve = drawn[0]
        place = int(np.argmin(np.abs(curve.step - at * curve.step[-1])))
        rise = float(curve.mean[place] - curve.mean[place - 1])
        evidence = f"{look(name).name} goes from {curve.mean[place - 1]:.3f} to {curve.mean[place]:.3f}"
        return Finding(evidence, "holds" if least <= rise <= most else "does not hold")

    return Check((key,), evaluate)


def ends_between(key: str, part: str, names: Sequence[str], least: float, most: float) -> Check:
    """Holds if each final error is between `least` and `most`."""

    def evaluate(rows: Rows) -> Finding:
        ends = [float(average(rows[key], part, name, END).mean()) for name in names]
        good = [least <= end <= most for end in ends]
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Finding(_numbers(rows, [key], part, names, END), verdict)

    return Check((key,), evaluate)


def longest_run(keys: Sequence[str], hours: float) -> Check:
    """Holds if no run took longer."""

    def evaluate(rows: Rows) -> Finding:
        seconds = [each for key in keys for each in rows[key]["core_seconds"]]
        if not seconds:
            raise LookupError(f"there are no rows of {', '.join(keys)}")
        longest = max(seconds)
        return Finding(
            f"the longest took {longest / 60.0:.1f} minutes", "holds" if longest < 3600 * hours else "does not hold"
        )

    return Check(tuple(keys), evaluate)


def all_hold(*checks: Check) -> Check:
    """Holds if all checks hold; in part if their verdicts differ."""

    def evaluate(rows: Rows) -> Finding:
        each = [check.evaluate(rows) for check in checks]
        verdicts = {one.verdict for one in each}
        verdict: Verdict = verdicts.pop() if len(verdicts) == 1 else "holds in part"
        return Finding("; ".join(one.evidence for one in each), verdict)

    return Check(tuple(dict.fromkeys(key for each in checks for key in each.keys)), evaluate)


def without_rows(evidence: str, verdict: Verdict) -> Check:
    """A verdict that does not come from rows."""
    return Check((), lambda rows: Finding(evidence, verdict))


def _numbers(rows: Rows, keys: Sequence[str], part: str, names: Sequence[str], window: tuple[float, float]) -> str:
    """ "data: GURO 0.011, Uniform 0.020; ..."."""
    parts = []
    for key in keys:
        means = [(look(name).name, float(average(rows[key], part, name, window).mean())) for name in names]
        parts.append(f"{_data(key)}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means))
    return "; ".join(parts)


def _data(key: str) -> str:
    return key.split("/")[1]
