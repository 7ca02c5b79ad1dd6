"""Rules that decide from rows whether a claim holds, and the numbers to show for it.

A rule makes statements about the mean of one number per seed, mostly the difference of two errors. Two algorithms with
the same seed see the same items and the same answers, so differences are paired by seed. A statement is decided by the
90 % interval of the mean (Student's t), whose ends are one-sided tests at level 0.05:

    A is below B        true if the interval of A - B is below 0; otherwise false if it is above -margin
    A is no worse       true if it is below margin; false if it is above it
    A and B are alike   true if it is between -margin and margin (two one-sided tests); false if it is outside

A claim holds if all its statements are true. It does not hold if one is false at level 0.05 divided by the number of
statements. In every other case, and with fewer than 20 seeds, it is undecided. The margins are stated with the claims.
The intervals are about other seeds: other held-out answers and other chance. They say nothing about other data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, product
from typing import Literal, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.tables import Columns
from ordinate.simulation.names import look

Verdict = Literal["holds", "does not hold", "undecided", "not testable here", "not run"]
LEVEL = 0.05
LEAST_SEEDS = 20
MARGIN = 0.005
LATE = (0.5, 1.0)  # the second half of the run
END = (1.0, 1.0)
EARLY = (0.02, 0.1)
_WINDOWS = {LATE: "in the second half", END: "at the end", EARLY: "from 2 to 10 % of the run"}
_SHOWN = 4  # statements that are listed
_INSTEAD = {
    "bayes-guro-contextual-sequential": ("bayes-guro-contextual",),
    "bald-paper-contextual-sequential": ("bald-paper-contextual",),
    "bald-paper-hybrid-sequential": ("bald-paper-hybrid-factored", "bald-paper-hybrid"),
    "guro-hybrid-factored": ("guro-hybrid",),
    "bald-hybrid-factored": ("bald-hybrid",),
    "uniform-hybrid-factored": ("uniform-hybrid",),
}
"""What a claim's algorithm is called where the paper's own form of it was not run."""


class Runs:
    """The runs of a setting. Raises LookupError for a measure of an algorithm that was not run.

    seconds, megabytes  (runs,) processor time and peak memory
    """

    def __init__(self, rows: Columns) -> None:
        errors: dict[tuple[str, str], dict[int, dict[int, float]]] = {}
        costs: dict[tuple[str, int], tuple[float, float]] = {}
        names = ("algorithm", "seed", "step", "part", "error", "core_seconds", "megabytes")
        for algorithm, seed, step, part, error, seconds, megabytes in zip(*(rows[name] for name in names), strict=True):
            errors.setdefault((part, algorithm), {}).setdefault(int(seed), {})[int(step)] = float(error)
            costs[algorithm, seed] = float(seconds), float(megabytes)
        self._errors = errors
        self.seconds = np.array([seconds for seconds, _ in costs.values()])
        self.megabytes = np.array([megabytes for _, megabytes in costs.values()])

    def by_seed(self, part: str, algorithm: str) -> dict[int, dict[int, float]]:
        """Seed -> step -> error."""
        return self._errors[part, self._run(part, algorithm)]

    def name(self, part: str, algorithm: str) -> str:
        """The name of the algorithm that was run."""
        return look(self._run(part, algorithm)).name

    def _run(self, part: str, algorithm: str) -> str:
        for name in (algorithm, *_INSTEAD.get(algorithm, ())):
            if (part, name) in self._errors:
                return name
        raise LookupError(f"there are no rows of {algorithm}: {part}")

    def average(self, part: str, algorithm: str, window: tuple[float, float]) -> dict[int, float]:
        """Seed -> the mean error over the steps in the window, which is given in shares of the longest run."""
        runs = self.by_seed(part, algorithm)
        last = max(max(errors) for errors in runs.values())
        low, high = window[0] * last, window[1] * last
        return {
            seed: float(np.mean([error for step, error in errors.items() if low <= step <= high]))
            for seed, errors in runs.items()
            if max(errors) >= low
        }


Rows = Mapping[str, Runs]  # "experiment/data/setting" -> runs


class Span(NamedTuple):
    low: float
    high: float

    def contains(self, other: Span) -> bool:
        return self.low < other.low and other.high < self.high


@cache  # SciPy takes longer for one than for the rest of an interval
def _student(level: float, freedom: int) -> float:
    """The quantile of Student's t."""
    from scipy.stats import t

    return float(t.ppf(level, freedom))


class Statement(NamedTuple):
    """A statement about the mean of one number per seed.

    values  (seeds,)
    true    where the mean is if the statement is true
    false   where it is if the statement is false: one of these
    """

    words: str
    values: Floats
    true: Span
    false: tuple[Span, ...]

    def interval(self, level: float = LEVEL) -> Span:
        """The mean, and as far either way as one-sided tests at this level allow; unbounded for a single seed."""
        seeds = len(self.values)
        mean = float(self.values.mean())
        if seeds < 2:
            return Span(-math.inf, math.inf)
        half = float(_student(1.0 - level, seeds - 1) * self.values.std(ddof=1) / math.sqrt(seeds))
        return Span(mean - half, mean + half)

    def is_true(self) -> bool:
        return len(self.values) >= LEAST_SEEDS and self.true.contains(self.interval())

    def is_false(self, level: float = LEVEL) -> bool:
        """At this level, unless it is true."""
        if len(self.values) < LEAST_SEEDS or self.is_true():
            return False
        return any(span.contains(self.interval(level)) for span in self.false)

    def slack(self) -> float:
        """How far the interval is from where the statement would no longer be true; negative if it is not."""
        found = self.interval()
        return min(found.low - self.true.low, self.true.high - found.high)

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.words} {self.values.mean():+.4f} [{low:+.4f}, {high:+.4f}]"


class Finding(NamedTuple):
    evidence: str
    verdict: Verdict


class Check(NamedTuple):
    """A rule that decides from rows.

    keys        the settings that it uses, "experiment/data/setting"; none if rows cannot decide
    rule        the rule in words
    statements  rows -> the statements that must be true; raises LookupError if rows are missing
    numbers     rows -> further numbers to show
    told        the verdict, where rows do not decide it
    """

    keys: tuple[str, ...]
    rule: str
    statements: Callable[[Rows], list[Statement]]
    numbers: Callable[[Rows], str] = lambda rows: ""
    told: Verdict | None = None

    def evaluate(self, rows: Rows) -> Finding:
        """Raises LookupError if rows are missing."""
        if missing := [key for key in self.keys if key not in rows]:
            raise LookupError(f"there are no rows of {', '.join(missing)}")
        numbers, statements = self.numbers(rows), self.statements(rows)
        if self.told is not None:
            return Finding(numbers, self.told)
        verdict, shown = conclude(statements)
        return Finding(". ".join(filter(None, (numbers, shown))), verdict)


def conclude(statements: Sequence[Statement]) -> tuple[Verdict, str]:
    """The verdict on all these statements, and the ones that decide it."""
    false = [one for one in statements if one.is_false(LEVEL / len(statements))]
    if false:
        return "does not hold", _listed("Not true", false)
    if undecided := [one for one in statements if not one.is_true()]:
        few = min(len(one.values) for one in undecided)
        why = f" (only {few} seeds)" if few < LEAST_SEEDS else ""
        return "undecided", _listed(f"Undecided{why}", undecided)
    return "holds", _listed("Closest" if len(statements) > 1 else "", [min(statements, key=Statement.slack)])


def _listed(heading: str, statements: Sequence[Statement]) -> str:
    ordered = sorted(statements, key=Statement.slack)
    more = f"; and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
    return (f"{heading}: " if heading else "") + "; ".join(map(str, ordered[:_SHOWN])) + more


def below(
    keys: Sequence[str],
    part: str,
    these: Sequence[str],
    those: Sequence[str],
    window: tuple[float, float] = LATE,
    margin: float = MARGIN,
) -> Check:
    """Every error of `these` is below every error of `those`."""
    pairs, rule = product(these, those), f"is below 0; false if above -{margin}"
    return _of_differences(keys, part, (*these, *those), list(pairs), window, rule, partial(_below, margin=margin))


def no_worse(
    keys: Sequence[str],
    part: str,
    these: Sequence[str],
    those: Sequence[str],
    window: tuple[float, float] = LATE,
    margin: float = MARGIN,
) -> Check:
    """No error of `these` is higher than one of `those` by the margin or more."""
    pairs, rule = product(these, those), f"is below {margin}; false if above it"
    return _of_differences(keys, part, (*these, *those), list(pairs), window, rule, partial(_no_worse, margin=margin))


def alike(
    keys: Sequence[str], part: str, names: Sequence[str], window: tuple[float, float] = LATE, margin: float = MARGIN
) -> Check:
    """The errors of each two of them differ by less than the margin."""
    pairs, rule = combinations(names, 2), f"is between -{margin} and {margin}; false if outside"
    return _of_differences(keys, part, names, list(pairs), window, rule, partial(_alike, margin=margin))


def _of_differences(
    keys: Sequence[str],
    part: str,
    names: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    window: tuple[float, float],
    rule: str,
    state: Callable[[str, Floats], Statement],
) -> Check:
    """The same rule for the error of the first of each pair minus that of the second, in every setting."""
    return Check(
        tuple(keys),
        f"each difference {_during(window)} {rule}",
        lambda rows: [
            state(_label(rows, key, part, one, other), _pairs(rows[key], part, one, other, window))
            for key in keys
            for one, other in pairs
        ],
        lambda rows: _numbers(rows, keys, part, names, window),
    )


class Side(NamedTuple):
    """An algorithm in a setting, to compare with another setting: the same seeds give the same items and answers."""

    key: str
    algorithm: str
    window: tuple[float, float] = LATE

    @property
    def words(self) -> str:
        return f"{look(self.algorithm).name} ({self.key.split('/')[-1]})"


def alike_across(part: str, one: Side, other: Side, margin: float = MARGIN) -> Check:
    """The errors differ by less than the margin."""
    return Check(
        (one.key, other.key),
        f"the difference {_during(one.window)} is between -{margin} and {margin}; false if outside",
        lambda rows: [_alike(f"{one.words} minus {other.words}", _across(rows, part, one, other), margin)],
        lambda rows: _sides(rows, part, one, other),
    )


def below_across(part: str, one: Side, other: Side, margin: float = MARGIN) -> Check:
    """The first error is below the second."""
    return Check(
        (one.key, other.key),
        f"the difference {_during(one.window)} is below 0; false if above -{margin}",
        lambda rows: [_below(f"{one.words} minus {other.words}", _across(rows, part, one, other), margin)],
        lambda rows: _sides(rows, part, one, other),
    )


def overtaken(keys: Sequence[str], part: str, starter: str, finisher: str, early: float = 0.01) -> Check:
    """The error of `starter` is no worse than that of `finisher` at first, and higher in the second half."""

    def statements(rows: Rows) -> list[Statement]:
        found = []
        for key in keys:
            first, last = (_pairs(rows[key], part, starter, finisher, window) for window in (EARLY, LATE))
            found.append(_no_worse(f"early, {_label(rows, key, part, starter, finisher)}", first, early))
            found.append(_below(f"late, {_label(rows, key, part, finisher, starter)}", -last, MARGIN))
        return found

    return Check(
        tuple(keys),
        f"the difference {_WINDOWS[EARLY]} is below {early} (false if above it); in the second half, the reverse "
        f"difference is below 0 (false if above -{MARGIN})",
        statements,
        lambda rows: _numbers(rows, keys, part, (starter, finisher), LATE),
    )


def crosses(keys: Sequence[str], part: str, late: str, early: str) -> Check:
    """The error of `early` is the lower one at a tenth of the run, and that of `late` at its end."""

    def statements(rows: Rows) -> list[Statement]:
        found = []
        for key in keys:
            first, last = (_pairs(rows[key], part, late, early, window) for window in ((0.08, 0.12), END))
            found.append(_below(f"at a tenth, {_label(rows, key, part, early, late)}", -first, MARGIN))
            found.append(_below(f"at the end, {_label(rows, key, part, late, early)}", last, MARGIN))
        return found

    return Check(
        tuple(keys),
        f"the difference at a tenth of the run, and the reverse difference at its end, are below 0; false if above "
        f"-{MARGIN}",
        statements,
        lambda rows: "; ".join(f"{_data(key)}: {_crossing(rows[key], part, late, early)}" for key in keys),
    )


def levels_off(keys: Sequence[str], part: str, flat: Sequence[str], steady: Sequence[str]) -> Check:
    """In the second half, every one of `flat` gains less than half as much as every one of `steady`."""

    def statements(rows: Rows) -> list[Statement]:
        found = []
        for key in keys:
            gains = {name: _gain(rows[key], part, name) for name in (*flat, *steady)}
            for one in flat:
                for other in steady:
                    excess = _common(gains[one], gains[other], lambda gain, full: gain - 0.5 * full)
                    words = f"gain of {look(one).name} minus half of that of {look(other).name} ({_data(key)})"
                    found.append(_below(words, excess, MARGIN))
        return found

    return Check(
        tuple(keys),
        f"the gain from the middle of the run to its end, minus half of the other's gain, is below 0; false if above "
        f"-{MARGIN}",
        statements,
    )


def suffers_less(keys: Sequence[str], part: str, here: tuple[str, str], there: tuple[str, str]) -> Check:
    """The first algorithm of `here` is behind the second by less than the first of `there` behind its second."""

    def statements(rows: Rows) -> list[Statement]:
        found = []
        for key in keys:
            behind = [_difference(rows[key], part, *pair, LATE) for pair in (here, there)]
            words = f"how far {look(here[0]).name} is behind, minus how far {look(there[0]).name} is ({_data(key)})"
            found.append(_below(words, _common(behind[0], behind[1], lambda one, other: one - other), MARGIN))
        return found

    return Check(
        tuple(keys),
        f"the difference of the two differences in the second half is below 0; false if above -{MARGIN}",
        statements,
        lambda rows: _numbers(rows, keys, part, (*here, *there), LATE),
    )


def above_zero(keys: Sequence[str], part: str, names: Sequence[str], margin: float = MARGIN) -> Check:
    """The measure is above 0 for each algorithm."""
    return Check(
        tuple(keys),
        f"each mean in the second half is above 0; false if below {margin}",
        lambda rows: [
            Statement(
                f"{look(name).name} ({_data(key)})",
                _values(rows[key].average(part, name, LATE)),
                Span(0.0, math.inf),
                (Span(-math.inf, margin),),
            )
            for key in keys
            for name in names
        ],
        lambda rows: _numbers(rows, keys, part, names, LATE),
    )


def ends_within(key: str, part: str, names: Sequence[str], low: float, high: float) -> Check:
    """Each error at the end is between these two."""
    return Check(
        (key,),
        f"each mean at the end is {_bounds(low, high)}; false if outside",
        lambda rows: [
            _within(look(name).name, _values(rows[key].average(part, name, END)), low, high) for name in names
        ],
        lambda rows: _numbers(rows, [key], part, names, END),
    )


def rises(key: str, part: str, names: Sequence[str], low: float, high: float, at: float = 2 / 3) -> Check:
    """At this share of the run, each error rises by an amount between these two."""
    return Check(
        (key,),
        f"each rise when the items arrive is {_bounds(low, high)}; false if outside",
        lambda rows: [
            _within(f"rise of {look(name).name}", _values(_rise(rows[key], part, name, at)), low, high)
            for name in names
        ],
    )


def rises_less(key: str, part: str, these: Sequence[str], other: str, at: float = 2 / 3) -> Check:
    """At this share of the run, each error of `these` rises by less than half as much as that of `other`."""

    def statements(rows: Rows) -> list[Statement]:
        full = _rise(rows[key], part, other, at)
        return [
            _below(
                f"rise of {look(name).name} minus half of that of {look(other).name}",
                _common(_rise(rows[key], part, name, at), full, lambda one, two: one - 0.5 * two),
                MARGIN,
            )
            for name in these
        ]

    return Check(
        (key,),
        f"each rise when the items arrive, minus half of the other's, is below 0; false if above -{MARGIN}",
        statements,
    )


def cost(keys: Sequence[str], why: str) -> Check:
    """The time and memory of the longest run: a claim about another machine is not testable."""

    def numbers(rows: Rows) -> str:
        seconds = max(float(rows[key].seconds.max()) for key in keys)
        gigabytes = max(float(rows[key].megabytes.max()) for key in keys) / 1000.0
        return f"here the longest run took {seconds / 60.0:.1f} minutes of one core, and a process {gigabytes:.1f} GB"

    return Check(tuple(keys), why, lambda rows: [], numbers, "not testable here")


def all_hold(*checks: Check) -> Check:
    """All statements of these rules are true."""
    return Check(
        tuple(dict.fromkeys(key for each in checks for key in each.keys)),
        "; ".join(dict.fromkeys(each.rule for each in checks)),
        lambda rows: [one for each in checks for one in each.statements(rows)],
        lambda rows: "; ".join(filter(None, (each.numbers(rows) for each in checks))),
    )


def told(evidence: str, verdict: Verdict) -> Check:
    """A verdict that does not come from rows."""
    return Check((), "no rows can decide it", lambda rows: [], lambda rows: evidence, verdict)


def _below(words: str, values: Floats, margin: float) -> Statement:
    return Statement(words, values, Span(-math.inf, 0.0), (Span(-margin, math.inf),))


def _no_worse(words: str, values: Floats, margin: float) -> Statement:
    return Statement(words, values, Span(-math.inf, margin), (Span(margin, math.inf),))


def _alike(words: str, values: Floats, margin: float) -> Statement:
    return _within(words, values, -margin, margin)


def _within(words: str, values: Floats, low: float, high: float) -> Statement:
    return Statement(words, values, Span(low, high), (Span(-math.inf, low), Span(high, math.inf)))


def _label(rows: Rows, key: str, part: str, one: str, other: str) -> str:
    return f"{rows[key].name(part, one)} minus {rows[key].name(part, other)} ({_data(key)})"


def _values(by_seed: Mapping[int, float]) -> Floats:
    return np.array([by_seed[seed] for seed in sorted(by_seed)])


def _common(one: Mapping[int, float], other: Mapping[int, float], combine: Callable[[float, float], float]) -> Floats:
    """One number for each seed that both have."""
    return np.array([combine(one[seed], other[seed]) for seed in sorted(one.keys() & other.keys())])


def _difference(runs: Runs, part: str, one: str, other: str, window: tuple[float, float]) -> dict[int, float]:
    first, second = runs.average(part, one, window), runs.average(part, other, window)
    return {seed: first[seed] - second[seed] for seed in first.keys() & second.keys()}


def _pairs(runs: Runs, part: str, one: str, other: str, window: tuple[float, float]) -> Floats:
    return _values(_difference(runs, part, one, other, window))


def _across(rows: Rows, part: str, one: Side, other: Side) -> Floats:
    errors = [rows[side.key].average(part, side.algorithm, side.window) for side in (one, other)]
    return _common(errors[0], errors[1], lambda first, second: first - second)


def _gain(runs: Runs, part: str, name: str) -> dict[int, float]:
    middle, end = (runs.average(part, name, window) for window in ((0.45, 0.55), (0.95, 1.0)))
    return {seed: middle[seed] - end[seed] for seed in middle.keys() & end.keys()}


def _rise(runs: Runs, part: str, name: str, at: float) -> dict[int, float]:
    """Seed -> the error at the step nearest to this share of the run, minus the error one step before."""
    found = {}
    for seed, errors in runs.by_seed(part, name).items():
        steps = sorted(errors)
        place = int(np.argmin(np.abs(np.array(steps) - at * steps[-1])))
        found[seed] = errors[steps[place]] - errors[steps[place - 1]]
    return found


def _crossing(runs: Runs, part: str, late: str, early: str) -> str:
    """The step after which the mean error of `late` stays below that of `early`, in words."""
    first, second = runs.by_seed(part, late), runs.by_seed(part, early)
    seeds = first.keys() & second.keys()
    steps = sorted(set.intersection(*(set(runs[seed]) for runs in (first, second) for seed in seeds)))
    ahead = [np.mean([first[seed][step] - second[seed][step] for seed in seeds]) < 0.0 for step in steps]
    behind = max((place for place, is_ahead in enumerate(ahead) if not is_ahead), default=-1)
    if behind == len(steps) - 1:
        return f"{look(late).name} does not get ahead of {look(early).name}"
    after = f"after {steps[behind]:,} comparisons" if behind >= 0 else "from the start"
    return f"{look(late).name} is ahead of {look(early).name} {after}"


def _numbers(rows: Rows, keys: Sequence[str], part: str, names: Sequence[str], window: tuple[float, float]) -> str:
    """ "data: GURO 0.011, Uniform 0.020; ..."."""
    parts = []
    for key in keys:
        runs = rows[key]
        means = {runs.name(part, name): float(_values(runs.average(part, name, window)).mean()) for name in names}
        parts.append(f"{_data(key)}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means.items()))
    return "; ".join(parts)


def _sides(rows: Rows, part: str, *sides: Side) -> str:
    means = (float(_values(rows[one.key].average(part, one.algorithm, one.window)).mean()) for one in sides)
    return ", ".join(f"{one.words} {mean:.3f}" for one, mean in zip(sides, means, strict=True))


def _during(window: tuple[float, float]) -> str:
    low, high = (f"{100 * share:.0f}" for share in window)
    return _WINDOWS.get(window, f"from {low} to {high} % of the run" if low != high else f"at {low} % of the run")


def _bounds(low: float, high: float) -> str:
    if low == -math.inf:
        return f"below {high}"
    return f"above {low}" if high == math.inf else f"between {low} and {high}"


def _data(key: str) -> str:
    return key.split("/")[1]
