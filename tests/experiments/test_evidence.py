"""The rules decide rightly on rows whose verdict is known, are wrong as rarely as they say, and need enough seeds."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from ordinate.experiments.evidence import (
    Runs,
    Side,
    Span,
    Statement,
    Verdict,
    above_zero,
    alike,
    alike_across,
    all_hold,
    below,
    below_across,
    conclude,
    cost,
    crosses,
    ends_within,
    levels_off,
    no_worse,
    overtaken,
    rises,
    rises_less,
    suffers_less,
    told,
)

STEPS = (0, 5, 10, 50, 75, 100)
RNG = np.random.default_rng(8)
SHARED = RNG.normal(0.0, 0.02, (20, 1))  # of the seed: paired differences do not have it


def curve(*errors, noise=0.002):
    """(20 seeds, steps): these errors, moved by the seed, with noise of each run."""
    return np.array(errors) + SHARED + RNG.normal(0.0, noise, (20, len(errors)))


CURVES = {
    "good": curve(0.5, 0.30, 0.30, 0.10, 0.08, 0.05),
    "equal": curve(0.5, 0.30, 0.30, 0.10, 0.08, 0.05),
    "flat": curve(0.5, 0.30, 0.30, 0.21, 0.205, 0.20),
    "slow": curve(0.5, 0.40, 0.40, 0.20, 0.12, 0.03),
    "unsteady": curve(0.5, 0.30, 0.30, 0.10, 0.08, 0.05, noise=0.2),
    "jump": curve(0.5, 0.30, 0.30, 0.10, 0.18, 0.10),
    "step": curve(0.5, 0.30, 0.30, 0.10, 0.11, 0.10),
}
S, AGAIN = "e/d/s", "e/d/again"


@pytest.fixture(scope="module")
def rows(rows_of):
    def runs(curves):
        return Runs(rows_of(curves, STEPS))

    return {
        S: runs(CURVES),
        AGAIN: runs({"good": CURVES["good"], "late": CURVES["flat"]}),
        "e/d/few": runs({name: errors[:19] for name, errors in CURVES.items()}),
        "e/d/one": runs({name: errors[:1] for name, errors in CURVES.items()}),
    }


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (below([S], "x", ["good"], ["flat"]), "holds"),
        (below([S], "x", ["flat"], ["good"]), "does not hold"),
        (below([S], "x", ["good"], ["equal"]), "does not hold"),  # no better by the margin
        (below([S], "x", ["good"], ["flat", "equal"]), "does not hold"),
        (below([S], "x", ["good"], ["flat", "unsteady"]), "undecided"),
        (no_worse([S], "x", ["good"], ["equal", "flat"]), "holds"),
        (no_worse([S], "x", ["flat"], ["good"]), "does not hold"),
        (no_worse([S], "x", ["unsteady"], ["good"]), "undecided"),
        (alike([S], "x", ["good", "equal"]), "holds"),
        (alike([S], "x", ["good", "flat"]), "does not hold"),
        (alike([S], "x", ["good", "unsteady"]), "undecided"),
        (alike([S], "x", ["good", "flat"], margin=0.3), "holds"),
        (alike_across("x", Side(S, "good"), Side(AGAIN, "good")), "holds"),
        (alike_across("x", Side(S, "good"), Side(AGAIN, "late")), "does not hold"),
        (below_across("x", Side(S, "good"), Side(AGAIN, "late")), "holds"),
        (below_across("x", Side(AGAIN, "late"), Side(S, "good")), "does not hold"),
        (overtaken([S], "x", "flat", "good"), "holds"),
        (overtaken([S], "x", "good", "flat"), "does not hold"),
        (overtaken([S], "x", "slow", "good"), "does not hold"),  # it starts more slowly
        (crosses([S], "x", late="slow", early="good"), "holds"),
        (crosses([S], "x", late="good", early="slow"), "does not hold"),
        (crosses([S], "x", late="good", early="flat"), "does not hold"),  # not behind at first
        (levels_off([S], "x", ["flat"], ["good"]), "holds"),
        (levels_off([S], "x", ["good"], ["equal"]), "does not hold"),
        (suffers_less([S], "x", ("equal", "good"), ("flat", "good")), "holds"),
        (suffers_less([S], "x", ("flat", "good"), ("flat", "good")), "does not hold"),
        (above_zero([S], "x", ["good"]), "holds"),
        (ends_within(S, "x", ["good"], 0.0, 0.1), "holds"),
        (ends_within(S, "x", ["flat"], 0.0, 0.1), "does not hold"),
        (rises(S, "x", ["step"], -0.02, 0.02, at=0.75), "holds"),
        (rises(S, "x", ["jump"], -0.02, 0.02, at=0.75), "does not hold"),
        (rises(S, "x", ["jump"], 0.05, math.inf, at=0.75), "holds"),
        (rises(S, "x", ["step"], 0.05, math.inf, at=0.75), "does not hold"),
        (rises_less(S, "x", ["step"], "jump", at=0.75), "holds"),
        (rises_less(S, "x", ["jump"], "jump", at=0.75), "does not hold"),
        (all_hold(below([S], "x", ["good"], ["flat"]), alike([S], "x", ["good", "equal"])), "holds"),
        (all_hold(below([S], "x", ["good"], ["flat"]), alike([S], "x", ["good", "flat"])), "does not hold"),
        (told("", "not testable here"), "not testable here"),
        (cost([S], "another machine"), "not testable here"),
    ],
)
def test_a_rule_decides_rows_whose_verdict_is_known(rows, check, verdict):
    found = check.evaluate(rows)
    assert found.verdict == verdict, found.evidence


@pytest.mark.parametrize("key", ["e/d/few", "e/d/one"])
def test_with_few_seeds_nothing_is_decided(rows, key):
    for check in (
        below([key], "x", ["good"], ["flat"]),
        below([key], "x", ["flat"], ["good"]),
        no_worse([key], "x", ["good"], ["flat"]),
        alike([key], "x", ["good", "equal"]),
        ends_within(key, "x", ["good"], 0.0, 0.1),
        levels_off([key], "x", ["flat"], ["good"]),
    ):
        found = check.evaluate(rows)
        assert found.verdict == "undecided"
        assert "seeds)" in found.evidence


def test_rows_that_are_missing_are_named(rows):
    with pytest.raises(LookupError, match="no rows of uniform-contextual"):
        below([S], "x", ["uniform-contextual"], ["good"]).evaluate(rows)
    with pytest.raises(LookupError, match="no rows of e/d/other"):
        cost(["e/d/other"], "").evaluate(rows)


def test_the_interval_is_student_s():
    values = np.random.default_rng(0).normal(0.3, 1.0, 25)
    found = Statement("", values, Span(0.0, 1.0), ()).interval()
    expected = ttest_1samp(values, 0.0).confidence_interval(0.9)
    assert found == pytest.approx((expected.low, expected.high))


BELOW = (Span(-math.inf, 0.0), (Span(-0.5, math.inf),))
ALIKE = (Span(-0.5, 0.5), (Span(-math.inf, -0.5), Span(0.5, math.inf)))
NO_WORSE = (Span(-math.inf, 0.5), (Span(0.5, math.inf),))


@pytest.mark.parametrize(
    ("spans", "mean", "wrong"),
    [
        (BELOW, 0.0, "holds"),
        (BELOW, -0.5, "does not hold"),
        (ALIKE, 0.5, "holds"),
        (ALIKE, -0.5, "holds"),
        (ALIKE, 0.5, "does not hold"),
        (NO_WORSE, 0.5, "holds"),
        (NO_WORSE, 0.5, "does not hold"),
    ],
)
def test_at_its_margin_a_rule_is_wrong_in_one_of_twenty_cases(spans, mean, wrong):
    rng = np.random.default_rng(3)
    worlds = rng.normal(mean, 1.0, (2_000, 40))
    verdicts = [conclude([Statement("", values, *spans)])[0] for values in worlds]
    assert verdicts.count(wrong) / 2_000 == pytest.approx(0.05, abs=0.015)


def test_of_ten_true_statements_one_is_found_false_in_at_most_one_of_twenty_cases():
    rng = np.random.default_rng(4)
    worlds = rng.normal(0.5, 1.0, (1_000, 10, 40))
    verdicts = [conclude([Statement("", values, *NO_WORSE) for values in world])[0] for world in worlds]
    assert verdicts.count("does not hold") / 1_000 == pytest.approx(0.05, abs=0.02)


def test_a_large_difference_is_found_and_no_difference_is_found_to_be_none():
    rng = np.random.default_rng(5)
    cases: list[tuple[float, tuple[Span, tuple[Span, ...]], Verdict]] = [
        (-1.0, BELOW, "holds"),
        (0.0, ALIKE, "holds"),
        (0.0, BELOW, "does not hold"),
    ]
    for mean, spans, verdict in cases:
        found = [conclude([Statement("", rng.normal(mean, 1.0, 100), *spans)])[0] for _ in range(500)]
        assert sum(one == verdict for one in found) > 450


def test_where_the_curves_cross_is_shown(rows):
    found = crosses([S], "x", late="slow", early="good").evaluate(rows)
    assert "d: slow is ahead of good after 75 comparisons" in found.evidence


def test_what_the_longest_run_took_is_shown(rows):
    assert "took 0.5 minutes of one core, and a process 0.2 GB" in cost([S], "").evaluate(rows).evidence


def test_the_paper_s_algorithm_comes_before_the_one_in_its_place(rows_of):
    paper, other = "bald-paper-contextual-sequential", "bald-paper-contextual"
    runs = Runs(rows_of({other: CURVES["good"], paper: CURVES["flat"]}, STEPS))
    assert runs.average("x", paper, (1.0, 1.0))[0] == CURVES["flat"][0, -1]
    assert Runs(rows_of({other: CURVES["good"]}, STEPS)).name("x", paper) == "BALD (paper's) contextual"
