"""Nobody is given a pair with an item that they made, in every client; what is asked is what brute force finds."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.errors import InvalidInput, PoolExhausted, UnknownItem
from ordinate.study.study import Study

N = 14
MAKERS = [("0", "Ann"), ("5", "ann"), ("9", "Bob"), ("3", "Cy"), ("3", "Ann")]
OWN = {"Ann": {"0", "3", "5"}, "Bob": {"9"}, "Cy": {"3"}, "Dora": set()}


def make(algorithm: str = "guro-hybrid", storage: str | None = None, n: int = N, group: bool = False) -> Study:
    rng = np.random.default_rng(4)
    groups = [str(row % 2) for row in range(n)] if group else None
    items = Items([str(row) for row in range(n)], rng.normal(size=(n, 3)), group=groups)
    study = Study.create(items, algorithm=algorithm, seed=1, storage=storage, random=0.2)
    study.set_rules(makers=[one for one in MAKERS if int(one[0]) < n])
    return study


@pytest.mark.parametrize(("algorithm", "group"), [("bayes-guro-hybrid", False), ("uniform-independent", True)])
def test_nobody_judges_what_they_made_until_nothing_is_left(algorithm: str, group: bool) -> None:
    study = make(algorithm, n=8, group=group)
    ids = study.items.ids
    groups = study.items.group or ("",) * 8
    for name, own in OWN.items():
        others = [row for row in range(8) if ids[row] not in own]
        expected = sum(groups[one] == groups[other] for one, other in combinations(others, 2))
        study.set_rules(again=False)
        asked = []
        for _ in range(expected):
            query = study.ask(name)
            study.tell(query.id, "left" if query.left < query.right else "right")
            asked.append({query.left, query.right})
        with pytest.raises(PoolExhausted):
            study.ask(name)
        assert not any(pair & own for pair in asked)


@pytest.mark.parametrize("algorithm", ["guro-hybrid", "guro-hybrid-factored", "guro-contextual"])
def test_the_pair_is_the_best_of_those_that_are_left(algorithm: str) -> None:
    """Against the utility of every pair, evaluated one by one, with people taking turns."""
    study = make(algorithm)
    study.set_rules(random=0.0)
    ids = list(study.items.ids)
    seen: dict[str, set[frozenset[str]]] = {name: set() for name in OWN}
    for turn in range(24):
        name = list(OWN)[turn % 4]
        study._ledger.drop_caches() if turn % 7 == 0 else None
        with study._ledger.reading() as state:
            inference = study._ledger.inference
            belief = inference.belief(state, [])
        pairs = [
            (i, j)
            for i, j in combinations(range(N), 2)
            if not {ids[i], ids[j]} & OWN[name] and frozenset((ids[i], ids[j])) not in seen[name]
        ]
        left, right = np.array(pairs).T
        means, variances = belief.differences(left, right)
        slope = 1 / (2 + np.exp(means) + np.exp(-means))
        utilities = slope**2 * variances
        query = study.ask(name)
        chosen = pairs.index(tuple(sorted((ids.index(query.left), ids.index(query.right)))))  # type: ignore[arg-type]
        assert utilities[chosen] >= utilities.max() * (1 - 1e-9)
        seen[name].add(frozenset((query.left, query.right)))
        study.tell(query.id, "left" if int(query.left) < int(query.right) else "right")


def test_offers_draws_repeats_and_lists_keep_to_it() -> None:
    study = make()
    offers = [one for one in study.choose(["Dora", "Cy", "Ann", "Ann"]) if one is not None]
    wrong = [one for one in offers if {one.left, one.right} & OWN["Ann"]]
    for lease in study.take("Ann", 10, [*wrong, *offers]):
        assert not {lease.query.left, lease.query.right} & OWN["Ann"]
    for _ in range(30):
        offer = study.draw("Ann")
        assert not {offer.left, offer.right} & OWN["Ann"]
        (lease,) = study.take("Ann", 1, [offer])
        study.tell(lease.query.id, "left")
    listed = study.pairs(["0", "1", "5"], ["2", "2", "3"])
    assert {study.ask("ANN", among=listed).left, study.ask("Ann", among=listed).right} == {"1", "2"}


def test_an_open_pair_is_not_given_again_once_its_maker_is_known() -> None:
    study = make()
    study.set_rules(makers=[], repeat=0.9)
    for _ in range(20):
        study.tell(study.ask("Eve").id, "left")
    query = study.ask("Eve")
    mine = [(item, "Eve") for item in {query.left, query.right}]
    study.set_rules(makers=mine)
    for _ in range(20):
        other = study.ask("Eve")
        assert not {other.left, other.right} & {query.left, query.right}
        study.tell(other.id, "right")
    assert study.open_queries() == []
    assert {query.left, query.right} <= set(study.ask("Dora", among=study.pairs([query.left], [query.right]))[1:3])
    study.tell(query.id, "left")  # it was asked before


def test_comparisons_that_are_imported_count_and_a_study_that_is_opened_again_knows_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with make(storage=url) as study:
        study.record([("0", "1", "left", "Ann")])
        first = study.ask("Ann")
    with Study.open(url) as study:
        assert len(study.comparisons()) == 1
        assert study.ask("Ann") == first
        study.add_items(Items(["new"], np.zeros((1, 3))))
        study.set_rules(makers=[*study.rules.makers, ("new", "Dora")])
        for _ in range(60):
            query = study.ask("Dora")
            assert "new" not in (query.left, query.right)
            study.tell(query.id, "left")


def test_what_makes_no_sense_is_refused() -> None:
    study = make()
    for wrong, message in (
        ([("0",)], "row 1: give an item and who made it"),
        (["ab"], "row 1: give an item and who made it"),
        (5, "makers must be a list"),
        ({"0": "Ann"}, "makers must be a list"),
        ([("0", "Ann"), ("1", " ")], "row 2"),
    ):
        with pytest.raises(InvalidInput, match=message):
            study.set_rules(makers=wrong)
    with pytest.raises(UnknownItem, match="makers, row 1: the study has no item '100'"):
        study.set_rules(makers=[("100", "Ann")])
    with pytest.raises(UnknownItem, match="practice pair 1"):
        Study.create(Items(["a", "b"]), rules={"practice": [("a", "c", None)]})
