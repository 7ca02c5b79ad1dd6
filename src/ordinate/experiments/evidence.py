"""What the rows say about a claim: numbers to show, and whether the claim holds by a rule that is written down here.

All differences are paired: two algorithms with one seed see the same items and the same answers, so their difference is
taken seed by seed. Two algorithms differ where the mean difference is more than two of its standard errors.
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


class Found(NamedTuple):
    saw: str
    verdict: Verdict


class Check(NamedTuple):
    """A rule over rows.

    keys   the settings that it looks at, "experiment/data/setting"; none where rows cannot show it
    found  what it finds; raises LookupError where rows are missing
    """

    keys: tuple[str, ...]
    found: Callable[[Rows], Found]


class Difference(NamedTuple):
    """Of two algorithms' errors: the mean over seeds, and its standard error (nan from a single seed)."""

    mean: float
    error: float

    @property
    def lower(self) -> bool:
        return self.mean < 0.0 and not self.mean + 2.0 * self.error >= 0.0

    @property
    def higher(self) -> bool:
        return self.mean > 0.0 and not self.mean - 2.0 * self.error <= 0.0


def average(rows: Columns, part: str, algorithm: str, window: tuple[float, float]) -> Floats:
    """(seeds,) the mean over the steps within the window, which is a share of the run; seeds ascending."""
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
    """Of the seeds that both have."""
    return _of(np.array([one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]))


def _of(values: Floats) -> Difference:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Difference(float(values.mean()), float(error))


def ahead(
    keys: Sequence[str], part: str, winners: Sequence[str], losers: Sequence[str], window: tuple[float, float] = LATE
) -> Check:
    """Holds where each winner is below each loser; in part where some are alike and none is the other way round."""

    def found(rows: Rows) -> Found:
        gaps = [difference(rows[key], part, one, other, window) for key in keys for one in winners for other in losers]
        verdict: Verdict = "holds" if all(gap.lower for gap in gaps) else "holds in part"
        if any(gap.higher for gap in gaps) or not any(gap.lower for gap in gaps):
            verdict = "does not hold"
        return Found(_numbers(rows, keys, part, (*winners, *losers), window), verdict)

    return Check(tuple(keys), found)


def not_behind(
    keys: Sequence[str], part: str, ours: Sequence[str], others: Sequence[str], window: tuple[float, float] = LATE
) -> Check:
    """Holds where none of ours is above any of the others; in part where fewer than a quarter of the pairs are so."""

    def found(rows: Rows) -> Found:
        worse = [
            f"{look(one).name} is above {look(other).name} by {gap.mean:.3f} ± {gap.error:.3f} ({_data(key)})"
            for key in keys
            for one in ours
            for other in others
            if (gap := difference(rows[key], part, one, other, window)).higher
        ]
        saw = _numbers(rows, keys, part, (*ours, *others), window)
        total = len(keys) * len(ours) * len(others)
        verdict: Verdict = "holds" if not worse else "holds in part" if len(worse) < 0.25 * total else "does not hold"
        return Found("; ".join([saw, *worse]), verdict)

    return Check(tuple(keys), found)


def alike(
    keys: Sequence[str], part: str, one: str, other: str, window: tuple[float, float] = LATE, within: float = 0.005
) -> Check:
    """Holds where the two differ by less than `within`, or by less than two standard errors."""

    def found(rows: Rows) -> Found:
        gaps = [difference(rows[key], part, one, other, window) for key in keys]
        close = [abs(gap.mean) <= within or not (gap.lower or gap.higher) for gap in gaps]
        saw = "; ".join(
            f"{_data(key)}: {look(one).name} {gap.mean:+.4f} ± {gap.error:.4f} from {look(other).name}"
            for key, gap in zip(keys, gaps, strict=True)
        )
        return Found(saw, "holds" if all(close) else "holds in part" if any(close) else "does not hold")

    return Check(tuple(keys), found)


class Side(NamedTuple):
    """One side of a comparison between settings: with the same seeds they see the same items and answers."""

    key: str
    algorithm: str
    window: tuple[float, float] = LATE


def across(part: str, one: Side, other: Side, *, within: float | None = 0.005) -> Check:
    """Holds where the two are alike, as in `alike`; without `within`, where the first is below the second."""

    def found(rows: Rows) -> Found:
        errors = [_by_seed(rows[side.key], part, side.algorithm, side.window) for side in (one, other)]
        gap = _paired(*errors)
        means = [
            f"{look(side.algorithm).name}, {side.key.split('/')[-1]}: {np.mean(list(error.values())):.3f}"
            for side, error in zip((one, other), errors, strict=True)
        ]
        close = within is not None and (abs(gap.mean) <= within or not (gap.lower or gap.higher))
        saw = f"{' against '.join(means)}; difference {gap.mean:+.4f} ± {gap.error:.4f}"
        return Found(saw, "holds" if close or (within is None and gap.lower) else "does not hold")

    return Check((one.key, other.key), found)


def overtaken(keys: Sequence[str], part: str, starter: str, finisher: str) -> Check:
    """Holds where the starter is not behind in the first tenth of the run, and behind in the second half."""

    def found(rows: Rows) -> Found:
        early = [difference(rows[key], part, starter, finisher, EARLY) for key in keys]
        late = [difference(rows[key], part, starter, finisher, LATE) for key in keys]
        good = [not first.higher and last.higher for first, last in zip(early, late, strict=True)]
        saw = "; ".join(
            f"{_data(key)}: {look(starter).name} minus {look(finisher).name} is {first.mean:+.3f} ± {first.error:.3f} "
            f"early, {last.mean:+.3f} ± {last.error:.3f} late"
            for key, first, last in zip(keys, early, late, strict=True)
        )
        return Found(saw, "holds" if all(good) else "holds in part" if any(good) else "does not hold")

    return Check(tuple(keys), found)


def levels_off(keys: Sequence[str], part: str, flat: Sequence[str], steady: Sequence[str]) -> Check:
    """Holds where each flat one gains less than half of what each steady one gains in the second half of the run."""

    def found(rows: Rows) -> Found:
        good, saw = [], []
        for key in keys:
            gain = {name: _gain(rows[key], part, name) for name in (*flat, *steady)}
            good += [gain[one] < 0.5 * gain[other] for one in flat for other in steady]
            saw.append(f"{_data(key)}: " + ", ".join(f"{look(name).name} {value:.3f}" for name, value in gain.items()))
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Found(f"gained in the second half: {'; '.join(saw)}", verdict)

    return Check(tuple(keys), found)


def _gain(rows: Columns, part: str, name: str) -> float:
    return float((average(rows, part, name, (0.45, 0.55)) - average(rows, part, name, (0.95, 1.0))).mean())


def above_zero(keys: Sequence[str], part: str, names: Sequence[str]) -> Check:
    """Holds where the mean of each is above 0."""

    def found(rows: Rows) -> Found:
        good = [_of(average(rows[key], part, name, LATE)).higher for key in keys for name in names]
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Found(_numbers(rows, keys, part, names, LATE), verdict)

    return Check(tuple(keys), found)


def spread_at_most(keys: Sequence[str], part: str, names: Sequence[str], most: float) -> Check:
    """Holds where the best and the worst of them end within `most` of each other."""

    def found(rows: Rows) -> Found:
        ranges = []
        for key in keys:
            means = [float(average(rows[key], part, name, LATE).mean()) for name in names]
            ranges.append(max(means) - min(means))
        said = "; ".join(
            f"{_data(key)}: best and worst are {gap:.3f} apart" for key, gap in zip(keys, ranges, strict=True)
        )
        good = [gap <= most for gap in ranges]
        return Found(said, "holds" if all(good) else "holds in part" if any(good) else "does not hold")

    return Check(tuple(keys), found)


def jumps(key: str, part: str, name: str, least: float, most: float, at: float = 2 / 3) -> Check:
    """Holds where the error rises by `least` to `most` at that share of the run."""

    def found(rows: Rows) -> Found:
        drawn = curves(part_of(rows[key], part, [name]))
        if not drawn:
            raise LookupError(f"there are no rows of {name}: {part}")
        curve = drawn[0]
        place = int(np.argmin(np.abs(curve.step - at * curve.step[-1])))
        rise = float(curve.mean[place] - curve.mean[place - 1])
        saw = f"{look(name).name} goes from {curve.mean[place - 1]:.3f} to {curve.mean[place]:.3f}"
        return Found(saw, "holds" if least <= rise <= most else "does not hold")

    return Check((key,), found)


def value(key: str, part: str, names: Sequence[str], least: float, most: float) -> Check:
    """Holds where each ends between `least` and `most`."""

    def found(rows: Rows) -> Found:
        ends = [float(average(rows[key], part, name, END).mean()) for name in names]
        good = [least <= end <= most for end in ends]
        verdict: Verdict = "holds" if all(good) else "holds in part" if any(good) else "does not hold"
        return Found(_numbers(rows, [key], part, names, END), verdict)

    return Check((key,), found)


def longest_run(keys: Sequence[str], hours: float) -> Check:
    """Holds where no run took longer."""

    def found(rows: Rows) -> Found:
        seconds = [each for key in keys for each in rows[key]["core_seconds"]]
        if not seconds:
            raise LookupError(f"there are no rows of {', '.join(keys)}")
        longest = max(seconds)
        return Found(
            f"the longest took {longest / 60.0:.1f} minutes", "holds" if longest < 3600 * hours else "does not hold"
        )

    return Check(tuple(keys), found)


def both(*checks: Check) -> Check:
    """Holds where all do; in part where they differ."""

    def found(rows: Rows) -> Found:
        each = [check.found(rows) for check in checks]
        verdicts = {one.verdict for one in each}
        verdict: Verdict = verdicts.pop() if len(verdicts) == 1 else "holds in part"
        return Found("; ".join(one.saw for one in each), verdict)

    return Check(tuple(dict.fromkeys(key for each in checks for key in each.keys)), found)


def told(saw: str, verdict: Verdict) -> Check:
    """What rows cannot show."""
    return Check((), lambda rows: Found(saw, verdict))


def _numbers(rows: Rows, keys: Sequence[str], part: str, names: Sequence[str], window: tuple[float, float]) -> str:
    """ "data: GURO 0.011, Uniform 0.020; ..."."""
    said = []
    for key in keys:
        means = [(look(name).name, float(average(rows[key], part, name, window).mean())) for name in names]
        said.append(f"{_data(key)}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means))
    return "; ".join(said)


def _data(key: str) -> str:
    return key.split("/")[1]
