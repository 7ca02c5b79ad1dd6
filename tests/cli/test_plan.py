"""`ordinate plan`: the table, JSON, files, and a pilot study that says how people answer."""

from __future__ import annotations

import numpy as np

from ordinate.data.formats import read_columns
from ordinate.data.items import Items
from ordinate.study.study import Study

SMALL = ("plan", "--items", "items.csv", "--runs", "1", "--most", "2")


def test_table(run):
    result = run(*SMALL, "--feature-columns", "sharpness,contrast")
    assert result.code == 0
    for world in ("features say everything", "features say half of it", "features say nothing"):
        assert world in result.out
    assert "answers to 10 %" in result.out
    assert "Means of 1 simulated study for each row." in result.out
    assert "no features" in run(*SMALL).out


def test_json_and_files_hold_the_same_measurements(run, folder):
    result = run(*SMALL, "--target", "0.2", "--json", "--out", "rows.csv", "--plot", "plan.png").json
    assert result["items"] == result["simulated_items"] == 4
    assert result["answers"].keys() == {"no features"}
    written = read_columns(folder / "rows.csv")
    assert [float(value) for value in written["error"]] == [row["error"] for row in result["errors"]]
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_another_seed_draws_other_studies(run):
    first, again, other = (run(*SMALL, "--json", "--seed", seed).json for seed in ("0", "0", "1"))
    assert first == again
    assert first["seed"] == 0
    assert first["errors"] != other["errors"]


def answered(path, sensibly):
    """A study of 20 items with 100 answers."""
    rng = np.random.default_rng(0)
    with Study.create(Items([f"{row:02}" for row in range(20)]), storage=f"sqlite:///{path}", random=0.5) as study:
        for number in range(100):
            query = study.ask(f"somebody {number}")
            left_wins = query.left < query.right if sensibly else rng.random() < 0.5
            study.tell(query.id, "left" if left_wins else "right")


def test_a_pilot_says_how_people_answer(run, folder):
    answered(folder / "pilot.db", sensibly=True)
    result = run("plan", "--from", "pilot.db", "--runs", "1", "--most", "1", "--json").json
    (world,) = result["worlds"]
    with Study.open(f"sqlite:///{folder / 'pilot.db'}") as study:
        assert (world["coefficient_variance"], world["item_variance"]) == study.prior_variances()[:2]
    assert result["items"] == 20
    assert (
        run("plan", "--from", "pilot.db", "--items", "items.csv", "--runs", "1", "--most", "1", "--json").json["items"]
        == 4
    )


def test_what_cannot_be_planned_is_refused_with_what_to_do(run, folder):
    answered(folder / "coins.db", sensibly=False)
    result = run("plan", "--from", "coins.db")
    assert result.code == 2
    assert "cannot be told from coin tosses yet" in result.err
    assert "leave out --correct" in run("plan", "--from", "coins.db", "--correct", "0.7").err
    assert "name the items to order with --items, or a study with --from" in run("plan").err
    assert "a plot is a .png" in run(*SMALL, "--plot", "plan.txt").err
    assert "there is no folder" in run(*SMALL, "--out", "nowhere/rows.csv").err


def test_a_table_without_items_is_named(run, folder):
    (folder / "none.csv").write_text("id,w\n")
    assert run("plan", "--items", "none.csv").err == "Error: none.csv has no items to plan for\n"


def test_items_that_are_excluded_are_not_planned_for(run, folder):
    answered(folder / "pilot.db", sensibly=True)
    for item in ("03", "19"):
        run("exclude", "pilot.db", "--item", item)
    assert run("plan", "--from", "pilot.db", "--runs", "1", "--most", "1", "--json").json["items"] == 18


def test_how_to_read_a_table_is_refused_where_there_is_none(run, folder):
    answered(folder / "pilot.db", sensibly=True)
    for option, value in (("--features", "x.npy"), ("--pca", "3"), ("--id-column", "name"), ("--content", "text=t")):
        result = run("plan", "--from", "pilot.db", option, value)
        assert result.code == 2
        assert "say how to read a table of items; there is none: name it with --items" in result.err
