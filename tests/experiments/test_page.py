"""The page of results: every claim finds its rows, and what is not between markers stays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from ordinate.errors import InvalidInput
from ordinate.experiments import EXPERIMENTS
from ordinate.experiments.claim import Claim
from ordinate.experiments.claims import CLAIMS
from ordinate.experiments.evidence import (
    Side,
    above_zero,
    all_hold,
    ends_between,
    levels_off,
    longest_run,
    lower,
    lower_across,
    not_higher,
    overtaken,
    range_at_most,
    rises_by,
    similar,
    similar_across,
    without_rows,
)
from ordinate.experiments.page import claim_table, core_minutes, write_page

pytestmark = pytest.mark.xdist_group("experiments")  # with test_experiments.py, which makes the same runs


def rows_of(curves, steps=(0, 5, 10, 50, 100)):
    """Rows in which each algorithm has, for every seed, a curve of errors."""
    rows: dict[str, list[Any]] = {name: [] for name in ("algorithm", "seed", "step", "part", "error", "core_seconds")}
    for algorithm, by_seed in curves.items():
        for seed, errors in enumerate(by_seed):
            for step, error in zip(steps, errors, strict=True):
                for name, entry in zip(rows, (algorithm, seed, step, "x", error, 30.0), strict=True):
                    rows[name].append(entry)
    return rows


GOOD = [[0.5, 0.3, 0.3, 0.10, 0.05], [0.5, 0.32, 0.31, 0.11, 0.05]]
FLAT = [[0.5, 0.3, 0.3, 0.21, 0.20], [0.5, 0.31, 0.30, 0.22, 0.21]]
BELOW = [[-error for error in errors] for errors in GOOD]
UNSTEADY = [[0.5, 0.3, 0.3, 0.02, 0.01], [0.5, 0.32, 0.31, 0.2, 0.12]]  # lower or higher, as the seed has it
SLOW = [[error + 0.02 for error in errors] for errors in GOOD]
CURVES = {"guro-contextual": GOOD, "bald-contextual": FLAT, "trueskill": GOOD}
ROWS = {
    "e/d/s": rows_of(CURVES | {"below": BELOW, "unsteady": UNSTEADY, "slow": SLOW}),
    "e/d/one": rows_of({"guro-contextual": GOOD[:1], "bald-contextual": FLAT[:1], "trueskill": GOOD, "slow": GOOD}),
}
A, B = "guro-contextual", "bald-contextual"


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (lower(["e/d/s"], "x", [A], [B]), "holds"),
        (lower(["e/d/s"], "x", [B], [A]), "does not hold"),
        (lower(["e/d/s"], "x", [A], ["trueskill"]), "does not hold"),
        (lower(["e/d/s"], "x", [A], [B, "trueskill"]), "holds in part"),
        (not_higher(["e/d/s"], "x", [A], ["trueskill"]), "holds"),
        (not_higher(["e/d/s"], "x", [B], [A]), "does not hold"),
        (similar(["e/d/s"], "x", A, "trueskill"), "holds"),
        (similar(["e/d/s"], "x", A, B), "does not hold"),
        (overtaken(["e/d/s"], "x", B, A), "holds"),
        (overtaken(["e/d/s"], "x", A, B), "does not hold"),
        (levels_off(["e/d/s"], "x", [B], [A]), "holds"),
        (levels_off(["e/d/s"], "x", [A], [B]), "does not hold"),
        (above_zero(["e/d/s"], "x", [A]), "holds"),
        (above_zero(["e/d/s"], "x", ["below"]), "does not hold"),
        (above_zero(["e/d/s"], "x", [A, "below"]), "holds in part"),
        (lower(["e/d/s"], "x", ["unsteady"], [A]), "does not hold"),
        (lower(["e/d/one"], "x", [A], [B]), "holds"),
        (not_higher(["e/d/s"], "x", ["unsteady"], [A]), "holds"),
        (not_higher(["e/d/s"], "x", [A, "trueskill", B], [A, "trueskill"]), "does not hold"),
        (not_higher(["e/d/s"], "x", [A, "trueskill", B], [B, "unsteady", A]), "holds in part"),
        (similar(["e/d/s"], "x", A, "unsteady"), "holds"),
        (similar(["e/d/s", "e/d/one"], "x", "slow", "trueskill"), "holds in part"),
        (similar_across("x", Side("e/d/s", A), Side("e/d/s", B)), "does not hold"),
        (range_at_most(["e/d/s"], "x", [A, "trueskill"], 0.01), "holds"),
        (range_at_most(["e/d/s"], "x", [A, B], 0.01), "does not hold"),
        (rises_by("e/d/s", "x", A, -0.3, -0.1, at=0.5), "holds"),
        (rises_by("e/d/s", "x", A, 0.0, 1.0, at=0.5), "does not hold"),
        (ends_between("e/d/s", "x", [A], 0.0, 0.1), "holds"),
        (ends_between("e/d/s", "x", [B], 0.0, 0.1), "does not hold"),
        (similar_across("x", Side("e/d/s", A), Side("e/d/s", "trueskill")), "holds"),
        (lower_across("x", Side("e/d/s", A), Side("e/d/s", B)), "holds"),
        (lower_across("x", Side("e/d/s", B), Side("e/d/s", A)), "does not hold"),
        (longest_run(["e/d/s"], hours=1.0), "holds"),
        (longest_run(["e/d/s"], hours=0.001), "does not hold"),
        (all_hold(without_rows("", "holds"), without_rows("", "does not hold")), "holds in part"),
        (all_hold(without_rows("", "holds"), without_rows("", "holds")), "holds"),
    ],
)
def test_a_rule_decides(check, verdict):
    assert check.evaluate(ROWS).verdict == verdict


def test_rows_that_are_missing_are_named():
    with pytest.raises(LookupError, match="no rows of uniform-contextual"):
        lower(["e/d/s"], "x", ["uniform-contextual"], [A]).evaluate(ROWS)


@pytest.mark.parametrize("check", [rises_by("e/d/s", "y", A, 0.0, 1.0), longest_run(["empty"], hours=1.0)])
def test_rules_that_take_a_whole_run_name_what_is_missing(check):
    with pytest.raises(LookupError, match="there are no rows"):
        check.evaluate(ROWS | {"empty": rows_of({})})


def test_a_run_counts_once_however_many_rows_it_has():
    assert core_minutes(rows_of(CURVES)) == pytest.approx(6 * 0.5)


def test_the_table_says_how_many_seeds_and_what_made_them():
    rows = {"e/d/few": rows_of({A: GOOD[:1], B: FLAT}), "e/d/s": rows_of(CURVES)}
    checks = (
        lower(["e/d/few"], "x", [A], [B]),
        all_hold(*(ends_between(key, "x", [A], 0.0, 0.1) for key in rows)),
        without_rows("", "holds"),
    )
    lines = claim_table([Claim("where", "text", check) for check in checks], rows)[2:]
    cells = [[cell.strip() for cell in line.split("|")[-4:-1]] for line in lines]
    command = "`ordinate reproduce e --data d`"
    assert cells == [["1 to 2", command, "1.5"], ["1 to 2, 2", command, "4.5"], ["", "", ""]]


def test_a_setting_says_how_many_seeds_its_algorithms_have(everything, tmp_path):
    done = everything[0]
    (setting,) = done.rows
    rows = done.rows[setting]
    kept = [place for place, (name, seed) in enumerate(zip(rows["algorithm"], rows["seed"], strict=True))
            if seed == 0 or name != "trueskill"]  # fmt: skip
    fewer = done._replace(rows={setting: {name: [values[place] for place in kept] for name, values in rows.items()}})
    page = tmp_path / "page.md"
    for one, said in ((done, "algorithms: 8, seeds: 2,"), (fewer, "algorithms: 8, seeds: 1 to 2,")):
        page.write_text("<!-- begin synthetic/synthetic -->\n<!-- end synthetic/synthetic -->")
        write_page(page, [one])
        assert f"{said} comparisons: 20;" in page.read_text()


@pytest.fixture(scope="module")
def everything(ran):
    """Each experiment on its stand-ins, or on its own data where it has none, at a tiny size."""
    return [
        ran(name, data)
        for name, row in EXPERIMENTS.items()
        for data in ([one for one, data in row.items() if data.stand_in] or row)
    ]


def test_the_page_is_filled_between_its_markers(everything, tmp_path):
    names = [f"{one.case.experiment}/{one.case.name}" for one in everything]
    page = tmp_path / "page.md"
    marked = [f"<!-- begin {name} -->\nreplaced\n<!-- end {name} -->" for name in ("claims", *names)]
    page.write_text("# Mine\n\n" + "\n\nkept\n\n".join(marked) + "\n")
    write_page(page, everything)
    text = page.read_text()
    assert "replaced" not in text
    assert text.count("kept") == len(names)
    for claim in CLAIMS:
        assert f"| {claim.text} | {claim.where} |" in text
    drawn = {name for one in everything for name in one.figures}
    assert drawn == {figure.name for one in everything for figure in one.case.data.figures}
    for name in drawn:
        assert f"(figures/{name}.png)" in text
        with Image.open(tmp_path / "figures" / f"{name}.png") as image:
            assert np.asarray(image.convert("L")).std() > 5
    write_page(page, everything)
    assert page.read_text() == text


def test_a_claim_without_rows_says_so(everything, tmp_path):
    page = tmp_path / "page.md"
    names = ("synthetic/synthetic", "claims")
    page.write_text("\n".join(f"<!-- begin {name} -->\n<!-- end {name} -->" for name in names))
    write_page(page, everything[:1])
    lines = [line for line in page.read_text().splitlines() if "**" in line]
    assert len(lines) == len(CLAIMS)
    unsaid = [claim for claim in CLAIMS if not set(claim.check.keys) <= {"synthetic/synthetic/loss-and-bounds"}]
    assert sum("**not run**" in line for line in lines) == len(unsaid) > 10


def test_a_page_without_its_markers_is_refused_and_left_as_it_is(everything, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(InvalidInput, match="must have the lines <!-- begin synthetic/synthetic -->"):
        write_page(page, everything[:1])
    assert page.read_text() == "nothing\n"


def test_the_project_s_page_has_a_place_for_everything(everything):
    text = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    for name in ("claims", *(f"{one.case.experiment}/{one.case.name}" for one in everything)):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


def test_the_project_s_page_states_every_claim_as_it_is_now():
    text = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    for claim in CLAIMS:
        assert f"| {claim.text} | {claim.where} |" in text
        assert claim.remark in text


def test_the_claims_name_settings_that_are_run(everything):
    made = {f"{one.case.experiment}/{one.case.name}/{setting}" for one in everything for setting in one.rows}
    named = {key for claim in CLAIMS for key in claim.check.keys}
    assert named <= made
    rows = {
        f"{one.case.experiment}/{one.case.name}/{name}": each for one in everything for name, each in one.rows.items()
    }
    assert len(claim_table(CLAIMS, rows)) == len(CLAIMS) + 2


def test_some_claims_can_only_be_told():
    assert {claim.check.evaluate({}).verdict for claim in CLAIMS if not claim.check.keys} <= {
        "holds",
        "not testable here",
    }
