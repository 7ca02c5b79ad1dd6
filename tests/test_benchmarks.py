"""What benchmarks compare does the same work, and what they write is what was measured."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the installed package

from benchmarks import aims, calibration, coins, files, fits, page, ratings, refits, simulated, soak  # noqa: E402
from benchmarks.measure import Row, apart, interleaved, row  # noqa: E402
from benchmarks.plain import best_by_differences, best_by_products, shrunk  # noqa: E402

from ordinate.choosing.search import CurvaturePower, best_pair  # noqa: E402
from ordinate.data.pairs import AllPairs  # noqa: E402
from ordinate.learning.belief import update  # noqa: E402
from ordinate.learning.belief.factored import FactoredBelief  # noqa: E402
from ordinate.learning.coin_gate import LEVEL  # noqa: E402


@settings(max_examples=30)
@given(n=st.integers(2, 40), d=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_plain_scans_find_the_pair_that_the_search_finds(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, root = rng.normal(size=(n, d)), rng.normal(size=(d, d))
    scores = features @ rng.normal(size=d)
    belief = FactoredBelief(scores, features @ root, np.zeros(n))
    choice = best_pair(belief, AllPairs.of(np.zeros(n, dtype=np.int64)), CurvaturePower(2), rng)
    for best in (best_by_differences, best_by_products):
        assert set(best(scores, features, root @ root.T)) == {choice.left, choice.right}


def test_the_plain_update_is_that_of_a_belief() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(5, 3))
    scores = features @ rng.normal(size=3)
    belief = update(FactoredBelief(scores, features, np.zeros(5)), 0, 1)
    chance = 1.0 / (1.0 + np.exp(scores[1] - scores[0]))
    covariance = shrunk(np.eye(3), features[0] - features[1], chance * (1.0 - chance))
    contrast = features[2] - features[4]
    assert belief.differences(np.array([2]), np.array([4]))[1] == pytest.approx(contrast @ covariance @ contrast)


@pytest.mark.parametrize("who", ["NumPy, dense Newton", pytest.param("choix opt_pairwise", marks=pytest.mark.slow)])
def test_fits_of_a_score_per_item_agree(who: str) -> None:
    given = fits.work(30, 400)
    ours, theirs = fits.ours(given)(), fits.COMPETITORS[who].build(given)()
    np.testing.assert_allclose(theirs - theirs.mean(), ours, atol=1e-6)


def test_refits_agree_with_plain_newton() -> None:
    features, answers = refits.problem(25, 3)
    for name, plain in refits.PLAIN.items():
        model = refits.MODELS[name.replace("NumPy", "ordinate")]
        np.testing.assert_allclose(model.fit(features, answers).coefficients, plain(features, answers), atol=1e-8)


def test_ratings_agree_with_trueskill() -> None:
    pytest.importorskip("trueskill")
    answers = ratings.work(2000)
    np.testing.assert_allclose(ratings.ours(answers), ratings.trueskill(answers), atol=1e-5)


def test_competitors_take_turns_and_stop_when_their_time_is_up() -> None:
    calls: list[str] = []

    def call(who: str, seconds: float) -> int:
        calls.append(who)
        begun = time.process_time()
        while time.process_time() < begun + seconds:
            pass
        return 2

    found = interleaved({"quick": lambda: call("quick", 0.001), "slow": lambda: call("slow", 0.03)}, 3, 0.02)
    assert calls == ["quick", "slow", "quick", "quick"]
    assert (len(found["quick"]), len(found["slow"])) == (3, 1)
    assert 0.015 <= found["slow"][0] < 0.03  # seconds per unit


def test_a_process_of_its_own_is_measured_ended_and_heard() -> None:
    assert apart(time.sleep, 60, limit=0.1).failure == "not done after 0 s"
    assert "ZeroDivisionError" in apart(divmod, 1, 0, limit=60).failure
    assert apart(os._exit, 3, limit=60).failure == "the process ended with 3"
    held = np.ones(60_000_000)  # 480 MB of this process are no peak of that one
    trial = apart(max, 1.5, 0.5, limit=60)
    del held
    assert (trial.seconds, trial.failure) == (1.5, "")
    assert 5 < trial.peak_mb < 450


@pytest.mark.load
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_short_soak_loses_nothing_and_reports_what_happened() -> None:
    report = soak.soak(people=20, rate=10.0, seconds=10.0, visits=20, seed=0)
    assert len(report.tells) > 20
    assert report.log["answers"] == len(report.tells)
    assert report.exit_code == 130
    assert {status for counts in report.attacks.values() for status in counts} <= {
        200,
        401,
        403,
        408,
        413,
        429,
        "closed",
    }
    assert all(one.server > 50 for one in report.memory)
    assert 0.001 < report.processor / len(report.tells) < 1.0
    assert any("20 names, 80 requests" in line for line in report.lines())


@pytest.mark.skipif(sys.platform != "linux", reason="processor times are read from /proc")
def test_processor_times_are_those_of_the_process() -> None:
    begun, until = soak.processor_seconds(os.getpid()), time.process_time() + 0.2
    while time.process_time() < until:
        pass
    assert soak.processor_seconds(os.getpid()) - begun == pytest.approx(0.2, abs=0.1)


def test_an_exponent_is_the_slope_of_the_larger_sizes() -> None:
    sizes = [1.0, 10.0, 100.0, 1000.0]
    assert page.exponent(sizes, [9e9, 1.0, 2e4, 2e6]) == pytest.approx(2.0)


def test_patterns_are_compared_with_the_fastest_of_their_study() -> None:
    rows = [
        Row("patterns", work, who, 200, 35, 0, seconds, seconds, seconds, 4)
        for work, who, seconds in (
            ("guro-hybrid", "one person", 0.002),
            ("guro-hybrid", "with undo", 0.003),
            ("guro-hybrid, the first 100", "one person", 0.004),
            ("guro-hybrid", "one person, in a file", 0.005),
        )
    ]
    lines = page.by_pattern(rows).split("\n")
    assert lines[0] == "| ms | guro-hybrid, 200 x 35 |"
    assert "| with undo | 3 |" in lines
    assert "| **slowest / fastest** | 1.5 |" in lines
    assert lines[-2:] == [
        "| guro-hybrid, the first 100, 200 x 35 | one person | 4 |",
        "| guro-hybrid, 200 x 35 | one person, in a file | 5 |",
    ]


def test_the_page_keeps_what_stands_around_the_markers(tmp_path: Path) -> None:
    rows = [
        row("question", "question", "ordinate", (200, 35, 0), np.array([0.002, 0.001, 0.004])),
        row("question", "question", "NumPy", (200, 35, 0), np.array([0.02]), note="the same pair"),
        *(Row("growth", "question", "ordinate", n, 35, 0, n**2 * 1e-6, 0, 0, 1) for n in (100, 200, 400, 800)),
    ]
    written = tmp_path / "performance.md"
    written.write_text(f"before\n{page.START}\nold\n{page.END}\nafter\n")
    page.draw(rows, tmp_path / "figures" / "growth.png")
    for _ in range(2):  # a second time replaces the first
        page.write(written, ["a core"], rows, tmp_path / "figures" / "growth.png", "no profile")
    text = written.read_text()
    assert text.startswith(f"before\n{page.START}\n\n- a core\n")
    assert text.endswith(f"no profile\n\n{page.END}\nafter\n")
    assert "| 200 | 35 |  | ordinate | 2 (1 to 4) |  |  |  |" in text
    assert "| 200 | 35 |  | NumPy | 20 (20 to 20) | 10 |  | the same pair |" in text
    assert "| ordinate | n | 100 | 800 | 10 to 640 | 2.00 |" in text
    assert "old" not in text
    written.write_text("no markers")
    with pytest.raises(ValueError, match="has no lines"):
        page.write(written, [], [], tmp_path / "x.png", "")


@pytest.mark.slow
def test_a_question_in_a_file_is_measured_beside_memory_and_bare_transactions() -> None:
    found = {(one.group, one.who): one for one in files.rows(quick=True)}
    assert {who for group, who in found if group == "file"} == {
        "ordinate",
        "ordinate, in memory",
        "SQLite, two inserts",
    }
    assert [who for group, who in found if group == "many"] == ["record", "open", "order", "expected error"]
    assert all(one.seconds > 0.0 and not one.note for one in found.values())


def test_a_simulated_run_is_measured_in_products() -> None:
    reduced, whole = simulated.rows(quick=True)
    assert (reduced.d, whole.d) == (6, 8)
    for one in (reduced, whole):
        assert one.seconds > 0.0
        assert one.note.endswith(" ms")
        assert int(one.note.split()[0]) > 0


def test_an_aim_is_measured_by_what_it_takes_to_be_as_right_as_the_whole_order() -> None:
    curve = np.array([[1.0, 0.4, 0.3], [2.0, 0.8, 0.2], [3.0, 0.7, 0.2], [4.0, 0.9, 0.1]])
    assert aims.needed(curve, 0.6) == pytest.approx(1.5)
    assert aims.needed(curve, 0.2) == pytest.approx(0.5)
    assert aims.needed(curve, 0.85) == pytest.approx(3.5)
    assert aims.needed(curve, 0.95) == np.inf


@pytest.mark.slow
def test_runs_with_an_aim_make_a_table() -> None:
    world = aims.HALF._replace(items=12, columns=2)
    rows = [
        {"world": "small", "aim": "top:3", "method": method, "seed": 0}
        | aims.run(aims.simulated(world, "top:3", 0), method, 0)
        for method in aims.ALGORITHMS
    ]
    (case,) = aims.cases(rows)
    assert (case.name, case.seeds) == (("small", "top:3"), 1)
    assert case.order.shape == case.aim.shape == (20, 3)
    assert [one["per_item"] for one in case.told] == [1, 2, 3, 4, 5]
    assert case.measured == [3, 5]
    assert case._replace(order=case.order[:12], aim=case.aim[:12]).measured == [3]
    assert "| small | top:3 | 1 |" in aims.tables(
        [*rows, {"cost": 200, "order": 2.0, "top:10": 3.0, "top:20": 1.0, "above:7": 2.0}]
    )
    assert (
        "3.0 (1.50)" in aims.cost_table([{"cost": 200, "order": 2.0, "top:10": 3.0, "top:20": 1.0, "above:7": 2.0}])[-1]
    )


def test_bets_against_coins_are_those_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study that is asked at any moment says of its answers what the benchmark finds at that level."""
    monkeypatch.setattr(coins, "LEVELS", (LEVEL,))
    world, seed = "3 times as large", 0
    found = coins.opened(world, seed, 300)[str(LEVEL)]
    study, people, *_ = calibration.simulated(world, "default", seed)
    for number in range(1, found + 1):
        query = study.ask(f"simulated-{number}")
        study.tell(query.id, people.answer(int(query.left), int(query.right)))
        if number == found - coins.LOOK_EVERY:
            assert study.reliability().better_than_coins is False
    assert study.reliability().better_than_coins is True


def test_studies_in_which_the_bets_are_won_are_counted() -> None:
    ends: list[dict[str, int]] = [{}, {"0.05": 200}]
    rows = [{"world": "coin tosses", "seed": seed, "most": 2, "opened": end} for seed, end in enumerate(ends)]
    assert coins.table(rows, 2).splitlines()[2:] == [
        "| coin tosses | 0.05 | 0 % | 50 % |",
        "| coin tosses | 0.02 | 0 % | 0 % |",
        "| coin tosses | 0.01 | 0 % | 0 % |",
    ]


def test_forecasts_and_rules_are_counted_from_the_rows() -> None:
    """Two studies: the forecast of one holds, and the rule of the other is met too early."""
    decline = {"answers": 500, "error": 0.2, "exponent": 0.6, "spread": 0.1}
    rows: list[dict[str, Any]] = []
    for seed, error in enumerate((0.13, 0.4)):
        checks = [[490, 1.0, 0.2, 0.16, error, 0.3, 0.3, 0.3, 0.3], [500, 1.0, 0.1, 0.14, error, 0.3, 0.3, 0.3, 0.3]]
        for per_item, expected in ((5, 0.2), (10, 0.13)):
            row = {"world": "half of it", "method": "default", "seed": seed, "per_item": per_item}
            rows.append({**row, "error": error, "expected": expected, "decline": decline, "checks": checks})
    cells = {
        ("half of it", "default", per_item): [row for row in rows if row["per_item"] == per_item]
        for per_item in (5, 10)
    }
    assert calibration.forecasts(cells, [5, 10])[-1] == "| 5, 10 | 2 | 50 % | 2 % |"
    shown = calibration.endings([row for row in rows if row["per_item"] == 10])
    assert "| target 0.15 | 2 of 2 | 50 % | 500 |" in shown
    assert "| target 0.1 | 0 of 2 | | |" in shown
    assert "| first ten, misplaced 0.2 | 0 of 2 | | |" in shown
