"""The share of queries whose pair is drawn at random: how many, which ones, from which pairs, and what the log says."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ordinate.data.items import Items
from ordinate.data.pairs import PairList
from ordinate.errors import InvalidInput
from ordinate.storage import Entry
from ordinate.study.rules import RANDOM_SHARE
from ordinate.study.study import Study

FEATURES = np.random.default_rng(0).normal(size=(60, 3))
ITEMS = Items([f"item {row:02}" for row in range(60)], FEATURES)
CHOSEN, RANDOM = "Greedy(utility=CurvaturePower(exponent=2))", "Uniform()"
QUICK: dict[str, Any] = {"algorithm": "guro-contextual", "coefficient_variance": 2.0}


def asked(study: Study) -> list[Entry]:
    """The entries of the queries."""
    with study._ledger.storage.reading() as log:
        return [entry for entry in log.entries(0) if entry.kind == "ask"]


def ask_and_answer(study: Study, times: int, annotator: str | None = None, among: PairList | None = None) -> None:
    for _ in range(times):
        query = study.ask(annotator, among=among)
        study.tell(query.id, "left" if query.left < query.right else "right")


def at_random(study: Study) -> list[int]:
    """The numbers of the queries whose pair was drawn at random."""
    assert {entry.strategy for entry in asked(study)} <= {CHOSEN, RANDOM}
    return [entry.query or 0 for entry in asked(study) if entry.strategy == RANDOM]


def test_a_tenth_of_a_thousand_queries_of_a_new_study_has_a_random_pair() -> None:
    study = Study.create(ITEMS, refit_every=100, **QUICK)
    ask_and_answer(study, 1000)
    assert study.rules.random == study.settings.random == RANDOM_SHARE == 0.1
    low, high = stats.binom(1000, 0.1).ppf([0.0005, 0.9995])
    assert low <= len(at_random(study)) <= high
    gaps = np.diff(at_random(study))
    assert gaps.min() == 1, "no regular pattern that people could notice"
    assert gaps.max() > 20


@pytest.mark.parametrize(("share", "numbers"), [(0.0, []), (1.0, list(range(1, 31)))])
def test_the_share_may_be_none_or_all(share: float, numbers: list[int]) -> None:
    study = Study.create(ITEMS, random=share, **QUICK)
    ask_and_answer(study, 30)
    assert at_random(study) == numbers


def test_the_log_says_which_pairs_are_random() -> None:
    study = Study.create(ITEMS, random=0.5, **QUICK)
    ask_and_answer(study, 40)
    for entry in asked(study):
        assert (entry.utility is None) == (entry.strategy == RANDOM)
        assert entry.algorithm == "guro-contextual"


def test_random_pairs_are_spread_evenly_over_all_pairs() -> None:
    counts = dict.fromkeys([(left, right) for left in range(5) for right in range(left)], 0)
    for seed in range(200):
        study = Study.create(ITEMS.take(list(range(5))), random=1.0, seed=seed, **QUICK)
        query = study.ask()
        rows = [ITEMS.ids.index(item) for item in (query.left, query.right)]
        counts[max(rows), min(rows)] += 1
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


def test_the_same_queries_are_random_in_memory_on_disk_and_after_opening_again(tmp_path: Path) -> None:
    """With prior variances that are fitted, too."""
    url = f"sqlite:///{tmp_path / 'study.db'}"
    options: dict[str, Any] = {"random": 0.3, "seed": 5}
    items = ITEMS.take(list(range(12)))
    memory = Study.create(items, **options)
    Study.create(items, storage=url, **options).close()
    for _ in range(10):
        ask_and_answer(memory, 5)
        with Study.open(url) as stored:
            assert stored.settings.random == stored.rules.random == 0.3
            ask_and_answer(stored, 5)
            on_disk = [entry._replace(at="") for entry in asked(stored)]
            scores, error = stored.scores(), stored.expected_error()
    assert [entry._replace(at="") for entry in asked(memory)] == on_disk
    assert memory.scores().tolist() == scores.tolist()
    assert memory.expected_error() == error
    assert len({entry.model for entry in on_disk}) > 2, "the log names the prior variances as they were fitted"
    assert 5 < len(at_random(memory)) < 25


def test_which_queries_are_random_depends_on_seed_and_number_alone() -> None:
    """Not on the annotator, on answers, or on what else is in the log; a larger share has the same ones and more."""
    plain, busy, other, more = (
        Study.create(ITEMS, **QUICK, seed=seed, random=share)
        for seed, share in ((1, 0.2), (1, 0.2), (2, 0.2), (1, 0.5))
    )
    ask_and_answer(plain, 60)
    busy.exclude_item(ITEMS.ids[0])
    for name in ("Ann", "Bob", "Cleo"):
        busy.ask(name, count=20)
    ask_and_answer(other, 60)
    ask_and_answer(more, 60)
    assert at_random(busy) == at_random(plain)
    assert at_random(other) != at_random(plain)
    assert set(at_random(plain)) < set(at_random(more))


def test_an_offer_is_random_where_the_query_of_its_number_would_be() -> None:
    ahead, one_by_one = (Study.create(ITEMS, random=0.4, **QUICK) for _ in range(2))
    ask_and_answer(one_by_one, 30)
    ask_and_answer(ahead, 10)
    offers = ahead.choose(["Ann"] * 20)
    assert [11 + place for place, offer in enumerate(offers) if offer and offer.strategy == RANDOM] == [
        number for number in at_random(one_by_one) if number > 10
    ]


def test_random_pairs_are_among_the_listed_ones() -> None:
    study = Study.create(ITEMS, random=1.0, **QUICK)
    listed = study.pairs(ITEMS.ids[:9], ITEMS.ids[1:10])
    ask_and_answer(study, 9, among=listed)
    found = {tuple(sorted((str(entry.left), str(entry.right)))) for entry in asked(study)}
    assert found == set(zip(ITEMS.ids[:9], ITEMS.ids[1:10], strict=True)), "each once, before any comes again"
    assert len(at_random(study)) == 9


def test_random_pairs_stay_within_groups_and_leave_out_excluded_items() -> None:
    group = ["x", "y", "z"] * 20
    study = Study.create(Items(ITEMS.ids, FEATURES, group=group), random=1.0, **QUICK)
    gone = set(ITEMS.ids[:30])
    for item in sorted(gone):
        study.exclude_item(item)
    of = dict(zip(ITEMS.ids, group, strict=True))
    queries = study.ask(count=3 * 45)
    assert len({frozenset((query.left, query.right)) for query in queries}) == 3 * 45, "every pair that is left, once"
    assert all(of[query.left] == of[query.right] for query in queries)
    assert not gone & {item for query in queries for item in (query.left, query.right)}


@pytest.mark.parametrize("variety", [0.0, 1.0])
def test_a_random_pair_has_no_item_of_the_newest_one_where_variety_is_wanted(variety: float) -> None:
    study = Study.create(ITEMS.take(list(range(8))), random=1.0, **QUICK)
    study.set_rules(variety=variety)
    ask_and_answer(study, 28)
    pairs = [{entry.left, entry.right} for entry in asked(study)]
    assert len({frozenset(pair) for pair in pairs}) == 28, "no pair twice"
    shared = sum(bool(one & other) for one, other in pairwise(pairs[:20]))
    assert shared == 0
    plain = Study.create(ITEMS.take(list(range(8))), random=1.0, **QUICK)
    ask_and_answer(plain, 20)
    pairs = [{entry.left, entry.right} for entry in asked(plain)]
    assert any(one & other for one, other in pairwise(pairs)), "else there was nothing to avoid"


def test_a_random_pair_is_drawn_from_all_pairs_where_few_candidates_are_looked_at() -> None:
    limited = Study.create(ITEMS, random=1.0, candidates=1, **QUICK)
    plain = Study.create(ITEMS, random=1.0, **QUICK)
    ask_and_answer(limited, 10)
    ask_and_answer(plain, 10)
    assert at_random(limited) == list(range(1, 11))
    assert [query[1:3] for query in limited.comparisons()] == [query[1:3] for query in plain.comparisons()]


def test_a_repeat_comes_before_a_random_pair() -> None:
    study = Study.create(ITEMS, random=1.0, **QUICK)
    study.set_rules(repeat=1.0)
    ask_and_answer(study, 20)
    entries = asked(study)
    repeats = [entry for entry in entries if entry.repeat_of is not None]
    assert len(repeats) >= 5
    assert {entry.strategy for entry in repeats} == {None}
    assert {entry.strategy for entry in entries if entry.repeat_of is None} == {RANDOM}


def test_the_owner_may_change_the_share(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'study.db'}"
    with Study.create(ITEMS, storage=url, **QUICK) as study:
        study.set_rules(random=1.0)
        ask_and_answer(study, 10)
        study.set_rules(random=0.0)
        ask_and_answer(study, 10)
    with Study.open(url) as study:
        assert study.rules.random == 0.0
        assert study.settings.random == 0.1, "that the study was created with"
        ask_and_answer(study, 10)
        assert at_random(study) == list(range(1, 11))
        study.set_rules(random=0.1)
        assert study.rules.random == 0.1


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan"), "often", True, None])
def test_a_share_that_is_none_is_refused(share: Any) -> None:
    study = Study.create(ITEMS, **QUICK)
    with pytest.raises(InvalidInput, match="random must be a number from 0 to 1, not"):
        study.set_rules(random=share, paused=True)
    assert study.rules.random == 0.1
    assert not study.rules.paused


def test_an_offer_from_before_the_newest_query_is_not_taken_where_it_repeats_an_item() -> None:
    study = Study.create(ITEMS, **QUICK)
    study.set_rules(lease=600.0, variety=0.8)
    (early,) = study.choose(["Ann"])
    assert early is not None
    others = study.pairs([early.left], [next(item for item in ITEMS.ids if item not in (early.left, early.right))])
    newest = study.ask("Ann", among=others)
    study.tell(newest.id, "left")
    assert study.take("Ann", 1, [early]) == []
    (late,) = study.choose(["Ann"])
    assert late is not None
    assert not {late.left, late.right} & {newest.left, newest.right}
    (lease,) = study.take("Ann", 1, [early, late])
    assert {lease.query.left, lease.query.right} == {late.left, late.right}
