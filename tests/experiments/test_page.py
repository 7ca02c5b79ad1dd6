"""The page of results: every claim finds its rows, and what is not between markers stays."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.errors import InvalidInput
from ordinate.experiments import EXPERIMENTS
from ordinate.experiments.claim import Claim
from ordinate.experiments.claims import CLAIMS
from ordinate.experiments.evidence import all_hold, below, ends_within, told
from ordinate.experiments.page import claim_table, core_minutes, write_page

pytestmark = pytest.mark.xdist_group("experiments")  # with test_experiments.py, which makes the same runs

A, B = "guro-contextual", "bald-contextual"
GOOD, FLAT = ([[0.5, 0.3 + seed / 1000, end + seed / 1000] for seed in range(20)] for end in (0.05, 0.2))


def test_a_run_counts_once_however_many_rows_it_has(rows_of):
    assert core_minutes(rows_of({A: GOOD, B: FLAT, "trueskill": GOOD[:2]})) == pytest.approx(42 * 0.5)


def test_the_table_says_how_many_seeds_and_what_made_them(rows_of):
    rows = {"e/d/few": rows_of({A: GOOD[:1], B: FLAT}), "e/d/s": rows_of({A: GOOD, B: FLAT})}
    checks = (
        below(["e/d/few"], "x", [A], [B]),
        all_hold(*(ends_within(key, "x", [A], 0.0, 0.1) for key in rows)),
        told("", "holds"),
    )
    cells = cells_of([Claim("where", "text", check) for check in checks], rows)
    command = "`ordinate reproduce e --data d`"
    assert [line[6:] for line in cells] == [
        ["1 to 20", command, "10.5"],
        ["1 to 20, 20", command, "30.5"],
        ["", "", ""],
    ]


def cells_of(claims, rows):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in claim_table(claims, rows)[2:]]


def test_a_verdict_stands_beside_its_rule_and_the_one_by_default(rows_of):
    rows = {
        "e/d/s": rows_of({A: GOOD, "bald-paper-contextual-sequential": FLAT}),
        "e/d/s-defaults": rows_of({A: FLAT, "bald-paper-contextual": GOOD}),
    }
    check = below(["e/d/s"], "x", [A], ["bald-paper-contextual-sequential"])
    ((text, where, rule, evidence, verdict, usual, *_),) = cells_of(
        [Claim("here", "A is better", check, "So so")], rows
    )
    assert (text, where, verdict, usual) == ("A is better", "here", "**holds**", "does not hold")
    assert rule == "each difference in the second half is below 0; false if above -0.005"
    assert "GURO contextual 0.184" in evidence
    assert "-0.0750 [-0.0750, -0.0750]" in evidence
    assert evidence.endswith(". So so")


@pytest.mark.slow
def test_a_setting_says_how_many_seeds_its_algorithms_have(everything, tmp_path):
    done = everything[0]
    setting = "loss-and-bounds"
    rows = done.rows[setting]
    kept = [place for place, (name, seed) in enumerate(zip(rows["algorithm"], rows["seed"], strict=True))
            if seed == 0 or name != "trueskill"]  # fmt: skip
    less = {name: [values[place] for place in kept] for name, values in rows.items()}
    fewer = done._replace(rows={**done.rows, setting: less})
    page = tmp_path / "page.md"
    for one, said in ((done, "algorithms: 9, seeds: 2,"), (fewer, "algorithms: 9, seeds: 1 to 2,")):
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_claim_without_rows_says_so(everything, tmp_path):
    page = tmp_path / "page.md"
    names = ("synthetic/synthetic", "claims")
    page.write_text("\n".join(f"<!-- begin {name} -->\n<!-- end {name} -->" for name in names))
    write_page(page, everything[:1])
    lines = [line for line in page.read_text().splitlines() if line.startswith("| ") and "**" in line]
    assert len(lines) == len(CLAIMS)
    unsaid = [claim for claim in CLAIMS if not set(claim.check.keys) <= {"synthetic/synthetic/loss-and-bounds"}]
    assert sum("**not run**" in line for line in lines) == len(unsaid) > 10


@pytest.mark.slow
def test_a_page_without_its_markers_is_refused_and_left_as_it_is(everything, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(InvalidInput, match="must have the lines <!-- begin synthetic/synthetic -->"):
        write_page(page, everything[:1])
    assert page.read_text() == "nothing\n"


@pytest.mark.slow
def test_the_project_s_page_has_a_place_for_everything(everything):
    text = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    for name in ("claims", *(f"{one.case.experiment}/{one.case.name}" for one in everything)):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


def test_the_project_s_page_states_every_claim_as_it_is_now():
    text = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text()
    for claim in CLAIMS:
        assert f"| {claim.text} | {claim.where} |" in text
        assert claim.remark in text


@pytest.mark.slow
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
