"""Whether two versions of ordinate do the same, to the last bit, and whether one of them has become slower.

Each version is installed in an environment of its own, and this file is run by the interpreter of that environment. It
uses nothing but `Items`, `Study` and what they offer to everybody, so it does not matter where their modules are.

    python two_versions.py record --out before.json             # by each version: studies of every shape, a minute
    python two_versions.py compare before.json after.json
    python two_versions.py keep studies                         # by the version before: study files
    python two_versions.py opened studies --out opened.json     # by each version: what it makes of them
    python two_versions.py time --before PYTHON --after PYTHON  # processor time, in turns, some 20 minutes
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ordinate
from ordinate import Comparison, Items, OrdinateError, Query, Study

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
PEOPLE = ("ada", "bob", "eve")
A_YEAR = 365 * 24 * 3600.0
"""Of seconds, nearly the longest lease there is: what is open in a kept file stays open."""
BLOCK = 25
"""Answers that are timed together: late in a study, two or three refits are among them, or one of many items."""
SLOWER = 1.05
"""A ratio of times that is not let pass."""


class Run:
    """A study, people who answer in it as hidden scores and a seed say, and what they were asked.

    The seed comes from the name, so the studies of two versions with one name are the same.
    """

    study: Study

    def __init__(self, name: str, folder: Path, stored: bool = False) -> None:
        self.seed = zlib.crc32(name.encode())
        self.address = f"sqlite:///{folder / name}.db"
        self.file = folder / f"{name}.npy"
        self.stored = stored
        self.rng = np.random.default_rng([self.seed, 1])
        self.scores: dict[str, float] = defaultdict(float)
        self.asked: list[list[Any]] = []
        self.more: dict[str, Any] = {}

    def items(
        self, n: int, d: int, *, groups: int = 0, named: bool = False, twins: int = 1, in_file: bool = False
    ) -> Items:
        """New items; their scores are linear in the features but for an item's own part.

        groups   how many groups of unequal size there are
        named    the columns are separate measurements of different scale, one of them constant
        twins    so many items each have the same features
        in_file  the features stay in a file
        """
        features = np.repeat(self.rng.normal(size=(-(-n // twins), d)), twins, axis=0)[:n]
        if named:
            features = features * 10.0 ** np.arange(-2, d - 2) + 3.0
            features[:, -1] = 7.0
        spread = features.std(axis=0)
        unit = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        slopes = 2.0 / np.sqrt(max(d, 1)) * np.random.default_rng([self.seed, 2]).normal(size=d)
        scores = unit @ slopes + self.rng.normal(size=n) * (0.5 if d else 1.5)
        ids = [f"item-{number}" for number in range(len(self.scores), len(self.scores) + n)]
        self.scores.update(zip(ids, scores.tolist(), strict=True))
        if in_file:
            np.save(self.file, features)
        return Items(
            ids,
            features=self.file if in_file else features,  # type: ignore[arg-type]
            feature_names=[f"column-{column}" for column in range(d)] if named else None,
            group=[f"group-{math.isqrt(row) % groups}" for row in range(n)] if groups else None,
        )

    def create(
        self,
        n: int,
        d: int = 0,
        algorithm: str | None = None,
        *,
        groups: int = 0,
        named: bool = False,
        twins: int = 1,
        in_file: bool = False,
        **options: Any,
    ) -> None:
        items = self.items(n, d, groups=groups, named=named, twins=twins, in_file=in_file)
        storage = self.address if self.stored else None
        self.study = Study.create(items, algorithm=algorithm, seed=self.seed, storage=storage, **options)

    def reopen(self) -> None:
        self.study.close()
        self.study = Study.open(self.address)

    def ask(self, annotator: str | None = None, count: int | None = None, among: Any = None) -> list[Query]:
        """The queries that the annotator gets; none, and a note of the reason, where the study refuses."""
        try:
            given: Any = self.study.ask(annotator, count, among=among)
        except OrdinateError as error:
            self.asked.append([annotator, type(error).__name__])
            return []
        queries: list[Query] = [given] if count is None else given
        self.asked += [[annotator, query.left, query.right] for query in queries]
        return queries

    def answer(self, query: Any, ties: float = 0.1, skips: float = 0.05) -> None:
        kind, side = self.rng.random(2)
        margin = self.scores[query.left] - self.scores[query.right]
        answer: Any = "left" if side < 1.0 / (1.0 + math.exp(-margin)) else "right"
        if kind < skips or kind >= 1.0 - ties:
            answer = "skip" if kind < skips else "tie"
        try:
            self.study.tell(query.id, answer)
        except OrdinateError as error:
            self.asked.append([query.annotator, query.left, query.right, type(error).__name__])

    def go(
        self,
        count: int,
        people: Sequence[str | None] = (None,),
        *,
        batch: int | None = None,
        among: Any = None,
        ties: float = 0.1,
        skips: float = 0.05,
    ) -> None:
        """People in turns ask, for one query or a batch, and answer."""
        for number in range(count):
            for query in self.ask(people[number % len(people)], batch, among):
                self.answer(query, ties, skips)

    def comparisons(self, count: int, people: Sequence[str | None] = PEOPLE) -> list[Comparison]:
        """Answers that were given elsewhere, to random pairs."""
        ids, n = self.study.items.ids, len(self.study.items)
        left = self.rng.integers(0, n, count)
        right = (left + self.rng.integers(1, n, count)) % n
        scores = np.array([self.scores[item] for item in ids])
        won = self.rng.random(count) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
        return [
            Comparison(ids[i], ids[j], "left" if first else "right", people[row % len(people)])
            for row, (i, j, first) in enumerate(zip(left.tolist(), right.tolist(), won.tolist(), strict=True))
        ]

    def record(self, count: int) -> None:
        self.study.record(self.comparisons(count))

    def pool(self, count: int) -> Any:
        left, right, *_ = zip(*self.comparisons(count), strict=True)
        return self.study.pairs(left, right)

    def outcome(self) -> dict[str, Any]:
        """All that there is to compare of it: what was asked, and what is believed in the end."""
        study, ordering = self.study, self.study.ordering()
        return {
            "questions": list(self.asked),
            "ids": list(ordering.ids),
            "group": None if ordering.group is None else list(ordering.group),
            "scores": ordering.scores.tolist(),
            "standard_errors": ordering.standard_errors.tolist(),
            "means": study.scores().tolist(),
            "expected_error": float(study.expected_error()),
            "comparisons": len(study.comparisons()),
            "open": [[query.annotator, query.left, query.right] for query in study.open_queries()],
            "people": [list(person) for person in study.people()],
            "excluded": [study.excluded_items, study.excluded_annotators],
            "agreement": list(study.agreement()),
            "rules": asdict(study.rules),
            "links": [[link.id, link.role, link.annotator, link.revoked] for link in study.links()],
            **self.more,
        }


Shape = Callable[[Run], None]


def plain(
    n: int,
    d: int,
    questions: int,
    algorithm: str | None = None,
    *,
    people: Sequence[str | None] = (None,),
    recorded: int = 0,
    rules: Mapping[str, Any] | None = None,
    asking: Mapping[str, Any] | None = None,
    **options: Any,
) -> Shape:
    """A study of which there is no more to say than its size, its options and its rules."""

    def shape(run: Run) -> None:
        run.create(n, d, algorithm, **options)
        run.study.set_rules(**(rules or {}))
        run.record(recorded)
        run.go(questions, people, **(asking or {}))

    return shape


def mixed(algorithm: str) -> Shape:
    """Some of everything: groups, batches, a list of pairs, skips, an undo, what is excluded, what is added."""

    def shape(run: Run) -> None:
        run.stored = True
        run.create(45, 7, algorithm, groups=3)
        run.go(10, PEOPLE, batch=3)
        run.study.exclude_item("item-20")
        run.go(10, PEOPLE, ties=0.4, skips=0.2)
        run.study.undo("ada")
        left, right = zip(*combinations(run.study.items.ids[16:25], 2), strict=True)
        run.go(8, among=run.study.pairs(left, right))
        run.study.add_items(run.items(12, 7, groups=3))
        run.ask("newcomer", 2)
        run.study.exclude_annotator("bob")
        run.go(10, ("ada", "eve"))
        run.reopen()
        run.study.include_item("item-20")
        run.go(60, ("ada", None))

    return shape


def taken_back(run: Run) -> None:
    run.create(40, 6, "guro-contextual")
    for step in range(25):
        run.go(2, PEOPLE[:2])
        if step % 3 == 0:
            query = run.study.undo(PEOPLE[step % 2])
            run.asked.append(["undone", query.left, query.right])
        if step % 5 == 0:
            for query in run.ask("eve", 2)[1:]:
                run.study.withdraw(query.id)
    run.study.undo("ada")


def excluded_items(run: Run) -> None:
    run.create(60, 8)
    run.go(40, PEOPLE)
    for item in ("item-3", "item-4", "item-50"):
        run.study.exclude_item(item)
    run.go(20, PEOPLE)
    run.study.include_item("item-4")
    run.go(20, PEOPLE)


def excluded_annotators(run: Run) -> None:
    run.create(50)
    run.go(60, PEOPLE)
    run.study.exclude_annotator("bob")
    run.go(20, PEOPLE)
    run.study.exclude_annotator("eve")
    run.study.include_annotator("bob")
    run.go(20, PEOPLE)


def added(algorithm: str | None, d: int, groups: int = 0) -> Shape:
    """Items that come later, twice, and between that an item that goes."""

    def shape(run: Run) -> None:
        run.create(30, d, algorithm, groups=groups)
        run.go(30, PEOPLE)
        run.study.add_items(run.items(10, d, groups=groups))
        run.go(20, PEOPLE)
        run.study.exclude_item("item-35")
        run.study.add_items(run.items(25, d, groups=2 * groups))
        run.go(30, PEOPLE)

    return shape


def reopened(algorithm: str, **options: Any) -> Shape:
    """Closed and opened again, with an open query and between two refits."""

    def shape(run: Run) -> None:
        run.stored = True
        run.create(80, 10, algorithm, **options)
        for answers in (25, 82, 7):
            run.go(answers, PEOPLE[:2])
            run.ask("eve")
            run.reopen()
        run.go(10, PEOPLE)

    return shape


def two_at_once(run: Run) -> None:
    """Two that have the same file open, as two processes would."""
    run.stored = True
    run.create(70, 9)
    with Study.open(run.address) as other:
        for _ in range(40):
            run.go(1, PEOPLE)
            run.study, other = other, run.study
    run.reopen()


def pool(algorithm: str, pairs: int, d: int = 8, **rules: Any) -> Shape:
    """Of all pairs only those of a list may be asked, and in the end any."""

    def shape(run: Run) -> None:
        run.create(120, d, algorithm)
        run.study.set_rules(**rules)
        among = run.pool(pairs)
        run.go(50, PEOPLE, among=among)
        run.study.exclude_item("item-7")
        run.go(10, among=among)
        run.go(10)

    return shape


def leases(run: Run) -> None:
    """One pair is given back because its time is over; one stays out; an answer comes late."""
    run.create(50, 5)
    run.study.set_rules(lease=A_YEAR, again=False, variety=0.8)
    run.go(20, PEOPLE)
    run.study.set_rules(lease=2.0)
    run.ask("bob")
    (late,) = run.ask("eve")
    run.study.set_rules(lease=A_YEAR)
    time.sleep(2.1)
    run.go(30, ("ada",))
    run.answer(late)
    run.go(10, PEOPLE)
    run.ask("bob", 2)


def served(run: Run) -> None:
    """As a server does it: pairs are chosen ahead for several people, who take what still stands."""
    run.create(90, 12, "guro-hybrid-factored")
    run.study.set_rules(lease=A_YEAR, again=False, variety=0.8)
    all_offers: list[list[Any]] = []
    for step in range(12):
        made = [offer for offer in run.study.choose([*PEOPLE, *PEOPLE]) if offer is not None]
        all_offers += [[offer.annotator, offer.left, offer.right, offer.utility] for offer in made]
        for annotator in (*PEOPLE, "newcomer"):
            taken = run.study.take(annotator, 2, [*made, run.study.draw(annotator)])
            run.asked += [[annotator, lease.query.left, lease.query.right, lease.repeat] for lease in taken]
            for lease in taken[: 1 + step % 2]:
                run.study.show(lease.query.id)
                run.answer(lease.query)
        if step % 4 == 0:
            back, was = run.study.take_back("ada")
            run.asked.append(["taken back", back.query.left, back.query.right, was])
    run.more["offers"] = all_offers


def unseen(**options: Any) -> Shape:
    """Items that the study does not hold, placed by their features among some that it holds."""

    def shape(run: Run) -> None:
        run.create(70, 10, **options)
        run.go(60)
        known, groups = run.study.items, options.get("groups", 0)
        new = run.items(20, 10, groups=groups, named=options.get("named", False))
        for name, items in (("unseen", new), ("known", known.take([5, 3, 60]))):
            placed = run.study.ordering(items)
            run.more[name] = [list(placed.ids), placed.scores.tolist(), placed.standard_errors.tolist()]

    return shape


def history(run: Run) -> None:
    run.create(60, 7)
    run.go(130, PEOPLE)
    run.more["history"] = [list(point) for point in run.study.error_history()]
    run.more["skips"] = [run.study.skips(name) for name in PEOPLE]


def open_queries(run: Run) -> None:
    """Batches of several people that wait for answers while others are asked."""
    run.create(60, 8, "bald-hybrid")
    for batch in (2, 3, 4):
        for annotator in PEOPLE:
            for query in run.ask(annotator, batch)[::2]:
                run.answer(query)
    run.go(15, ("newcomer",))


def links(run: Run) -> None:
    run.create(40, 4)
    run.study.make_link("owner", name="for-the-owner")
    run.study.make_link("annotator", "ada", name="for-ada")
    run.study.make_link("annotator", name="for-all")
    run.study.set_rules(theme="dark", ties=False, annotator_budget=40)
    run.go(20, PEOPLE, ties=0.0)
    run.study.revoke_link("for-ada")


SHAPES: dict[str, Shape] = {
    "three-items": plain(3, 0, 8, rules={"again": False}),
    "three-items-again": plain(3, 2, 12),
    "four-items-of-two-people": plain(4, 3, 14, people=PEOPLE[:2], rules={"again": False}),
    "groups": plain(60, 8, 80, groups=4, people=PEOPLE),
    "groups-factored": plain(80, 8, 60, "guro-hybrid-factored", groups=7),
    "groups-independent": plain(50, 0, 60, groups=5),
    "many-small-groups": plain(150, 5, 60, "guro-contextual", groups=12),
    "ties": plain(50, 6, 80, asking={"ties": 0.7}),
    "ties-independent": plain(30, 0, 80, asking={"ties": 0.6}),
    "skips": plain(25, 4, 80, people=PEOPLE[:2], asking={"skips": 0.6}),
    "skips-that-stay-away": plain(8, 0, 60, people=PEOPLE[:2], rules={"again": False}, asking={"skips": 0.5}),
    "taken-back": taken_back,
    "excluded-items": excluded_items,
    "excluded-annotators": excluded_annotators,
    "added-items": added(None, 6),
    "added-items-independent": added(None, 0),
    "added-items-in-groups": added("guro-hybrid-factored", 6, groups=3),
    "added-items-fewer-than-columns": added("guro-contextual", 90),
    "three-people": plain(60, 8, 120, people=PEOPLE),
    "everybody-new": plain(60, 8, 60, "guro-contextual", people=[f"person-{number}" for number in range(60)]),
    "reopened": reopened("guro-hybrid"),
    "reopened-sequential": reopened("bayes-guro-contextual-sequential"),
    "reopened-refits": reopened("guro-hybrid-factored", refit_every=20),
    "two-at-once": two_at_once,
    "pool": pool("guro-hybrid", 400),
    "pool-factored": pool("guro-hybrid-factored", 900),
    "pool-of-draws": pool("bayes-guro-contextual", 300),
    "pool-exhausted": pool("bald-independent", 15, d=0, again=False),
    "batches": plain(60, 8, 15, asking={"batch": 6}),
    "batches-of-three-people": plain(60, 8, 20, "guro-contextual", people=PEOPLE, asking={"batch": 4}),
    "open-queries": open_queries,
    "candidates": plain(120, 8, 60, candidates=50),
    "candidates-bald": plain(80, 8, 60, "bald-contextual", candidates=200, people=PEOPLE),
    "refits-every-7": plain(100, 10, 130, refit_every=7),
    "refits-every-40": plain(60, 0, 130, refit_every=40),
    "not-scaled": plain(60, 6, 60, scaling="none"),
    "named-columns": plain(60, 6, 60, named=True),
    "named-columns-not-scaled": plain(40, 5, 40, "guro-contextual", named=True, scaling="none"),
    "twins": plain(60, 5, 60, "guro-contextual", twins=4),
    "variety": plain(60, 8, 60, people=PEOPLE, rules={"variety": 0.7}),
    "variety-at-random": plain(60, 8, 40, "uniform-hybrid", rules={"variety": 1.0}),
    "leases": leases,
    "repeats": plain(40, 6, 90, people=PEOPLE, rules={"repeat": 0.4}),
    "no-pair-again": plain(9, 3, 115, people=PEOPLE, rules={"again": False, "variety": 0.5}),
    "budget": plain(30, 4, 60, people=PEOPLE, rules={"budget": 35}),
    "budget-each": plain(30, 4, 60, people=PEOPLE, rules={"annotator_budget": 12}),
    "without-ties": plain(40, 5, 60, rules={"ties": False}, asking={"ties": 0.0}),
    "paused": plain(20, 3, 5, rules={"paused": True}),
    "served": served,
    "links": links,
    "more-columns-than-items": plain(25, 60, 60),
    "more-columns-than-items-in-groups": plain(30, 80, 60, "guro-hybrid-factored", groups=3),
    "without-features": plain(100, 0, 130),
    "recorded-then-asked": plain(300, 20, 40, recorded=2000, people=PEOPLE),
    "recorded-then-asked-independent": plain(200, 0, 40, recorded=3000),
    "recorded-then-asked-contextual": plain(400, 30, 40, "guro-contextual", recorded=5000),
    "recorded-then-asked-one-by-one": plain(60, 5, 40, "trueskill", recorded=600),
    "unseen-items": unseen(),
    "unseen-items-in-groups": unseen(groups=4, algorithm="guro-contextual"),
    "unseen-items-named-columns": unseen(named=True),
    "history": history,
    "horizon": plain(50, 8, 60, "colstim-contextual:300"),
    "features-in-a-file": plain(500, 12, 30, "guro-hybrid-factored", in_file=True),
    "1200-items": plain(1200, 20, 40, recorded=280),
    "2000-items": plain(2000, 35, 20, recorded=95),
    "2000-items-contextual": plain(2000, 35, 60, "guro-contextual", people=PEOPLE),
    "2000-items-independent": plain(2000, 0, 8, recorded=1500),
    "2600-items": plain(2600, 10, 12, recorded=1090),
    "6000-items-recorded": plain(6000, 75, 30, "guro-hybrid-factored", recorded=10_000),
    "30000-items": plain(30_000, 24, 20, "guro-hybrid-factored", people=PEOPLE[:2]),
    "30000-items-of-draws": plain(30_000, 8, 4, "bayes-guro-contextual"),
}

KEPT = (
    "added-items",
    "added-items-in-groups",
    "excluded-items",
    "excluded-annotators",
    "features-in-a-file",
    "groups",
    "leases",
    "links",
    "more-columns-than-items",
    "named-columns",
    "open-queries",
    "recorded-then-asked",
    "repeats",
    "reopened-refits",
    "reopened-sequential",
    "served",
    "taken-back",
    "without-features",
)


def algorithms() -> list[str]:
    """The names that this version knows."""
    command = [sys.executable, "-I", "-m", "ordinate", "algorithms", "--json"]
    return [row["name"] for row in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)]


def record(out: Path, only: Sequence[str]) -> int:
    shapes: dict[str, Shape] = {}
    for name in algorithms():
        shapes[f"plain-{name}"] = plain(60, 8, 150, name, people=PEOPLE[:2])
        shapes[f"mixed-{name}"] = mixed(name)
    shapes |= SHAPES
    with tempfile.TemporaryDirectory() as folder:

        def outcome(name: str) -> dict[str, Any]:
            run = Run(name, Path(folder))
            shapes[name](run)
            return run.outcome()

        return write(out, list(only or shapes), outcome)


def keep(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        run = Run(name, folder, stored=True)
        SHAPES[name](run)
        run.study.close()
    print(f"{len(KEPT)} studies in {folder}")
    return 0


def opened(folder: Path, out: Path) -> int:
    """Of copies: the files stay as they were."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(shutil.copytree(folder, Path(scratch) / "studies"))

        def outcome(name: str) -> dict[str, Any]:
            run = Run(name, copy)
            with Study.open(run.address) as run.study:
                run.more = {f"{what} as opened": value for what, value in run.outcome().items()}
                run.go(5, ("newcomer",))
                return run.outcome()

        return write(out, sorted(path.stem for path in copy.glob("*.db")), outcome)


def write(out: Path, names: Sequence[str], outcome: Callable[[str], dict[str, Any]]) -> int:
    """The outcome of each study, one a line. One that failed is noted as such, and does not keep the others away."""
    found: dict[str, dict[str, Any]] = {}
    begun = time.process_time()
    for name in names:
        try:
            found[name] = outcome(name)
        except Exception as error:
            traceback.print_exc()
            found[name] = {"failed": type(error).__name__}
    libraries = {name: version(name) for name in ("numpy", "scipy", "numba")}
    made_with = {"ordinate": ordinate.__version__, "python": platform.python_version(), **libraries}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in found.items())
    out.write_text(f'{{"made_with": {json.dumps(made_with)},\n"studies": {{\n{lines}\n}}}}\n')
    failed = [name for name, one in found.items() if "failed" in one]
    print(f"{len(found)} studies in {time.process_time() - begun:.0f} s; failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


class SideBySide:
    """Two outcomes, walked through side by side.

    Numbers may differ by the tolerance, relative to the largest number of the list that they stand in; all else is
    equal or different. Of a list only the first difference counts, since what follows from it differs too.
    """

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.lines: list[str] = []
        self.numbers: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # kind -> how many there are, how many equal
        self.largest: dict[str, float] = defaultdict(float)

    def walk(self, before: Any, after: Any, place: str, kind: str = "") -> bool:
        """Whether they agree; what does not gets a line."""
        if isinstance(before, float) and isinstance(after, float):
            return self._floats([before], [after], place, kind)
        if isinstance(before, dict) and isinstance(after, dict):
            if before.keys() != after.keys():
                return self._differ(place, f"only one has {', '.join(sorted(before.keys() ^ after.keys()))}")
            agreed = [self.walk(one, after[name], f"{place}, {name}", kind or name) for name, one in before.items()]
            return all(agreed)
        if isinstance(before, list) and isinstance(after, list):
            if before and len(before) == len(after) and all(isinstance(value, float) for value in before + after):
                return self._floats(before, after, place, kind)
            for number, (one, other) in enumerate(zip(before, after, strict=False), start=1):
                if not self.walk(one, other, f"{place} {number}", kind):
                    return False
            return len(before) == len(after) or self._differ(place, f"{len(before)} became {len(after)}")
        same = type(before) is type(after) and before == after
        return same or self._differ(place, f"{before!r} became {after!r}")

    def _floats(self, before: list[float], after: list[float], place: str, kind: str) -> bool:
        unequal = [
            (one, other, number)
            for number, (one, other) in enumerate(zip(before, after, strict=True), start=1)
            if struct.pack("d", one) != struct.pack("d", other)
        ]
        tally = self.numbers[kind]
        tally[0] += len(before)
        tally[1] += len(before) - len(unequal)
        if not unequal:
            return True
        scale = max((abs(value) for value in before if math.isfinite(value)), default=0.0) or 1.0
        worst, one, other, number = max((_apart(one, other, scale), one, other, at) for one, other, at in unequal)
        self.largest[kind] = max(self.largest[kind], worst)
        return worst <= self.tolerance or self._differ(
            f"{place} {number}", f"{one!r} became {other!r}, a difference of {worst:.1e}"
        )

    def _differ(self, place: str, what: str) -> bool:
        self.lines.append(f"{place}: {what}")
        return False


def _apart(before: float, after: float, scale: float) -> float:
    """Where one of the two is no number, or infinite, they are infinitely far apart."""
    distance = abs(before - after) / scale
    return distance if math.isfinite(distance) else math.inf


def compare(before: Path, after: Path, tolerance: float) -> int:
    old, new = (json.loads(path.read_text()) for path in (before, after))
    names = [name for name in old["studies"] if name in new["studies"]]
    found = SideBySide(tolerance)
    for name in names:
        was, now = old["studies"][name], new["studies"][name]
        if found.walk(was, now, name) and "failed" in was:
            found.lines.append(f"{name}: failed before and after ({was['failed']})")
    found.lines += [f"{name}: no such study after" for name in old["studies"] if name not in new["studies"]]
    for line in found.lines:
        print(line)
    questions = sum(len(old["studies"][name].get("questions", [])) for name in names)
    print(f"{len(names)} studies, {questions:,} questions, {len(found.lines)} differences")
    for kind, (total, equal) in found.numbers.items():
        print(f"  {kind:26} {equal:>9,} of {total:>9,} equal to the last bit", end="")
        print(f"; largest relative difference {found.largest[kind]:.1e}" if equal < total else "")
    if more := [name for name in new["studies"] if name not in old["studies"]]:
        print(f"only after: {', '.join(more)}")
    for what, used in old["made_with"].items():
        if new["made_with"].get(what) != used:
            print(f"made with {what} {used} and {new['made_with'].get(what)}")
    return int(bool(found.lines))


class Stopwatch:
    """Processor time of this process, per unit of what is done `over` so many of them, each time at its turn."""

    def __init__(self) -> None:
        self.times: list[float] = []

    @contextmanager
    def over(self, units: int = 1) -> Iterator[None]:
        print("{}", flush=True)
        if not sys.stdin.readline():
            raise SystemExit("nobody waits for this time any more")
        begun = time.process_time()
        yield
        self.times.append((time.process_time() - begun) / units)


Work = Callable[[Path, Stopwatch], None]
"""Something to time, a few times the same. The folder is kept while a version is timed, and what is made in it once."""


def asking(
    n: int,
    d: int,
    algorithm: str,
    first: int,
    count: int,
    times: int,
    *,
    recorded: int = 0,
    newcomers: bool = False,
    among: int = 0,
    stored: bool = False,
) -> Work:
    """Questions and answers, after the first ones, in blocks; by a new person each, where newcomers come."""

    def work(folder: Path, watch: Stopwatch) -> None:
        people = [f"person-{number}" for number in range(first + count)] if newcomers else ["ada"] * (first + count)
        with tempfile.TemporaryDirectory() as scratch:
            for number in range(times):
                place = Path(scratch) / str(number)
                place.mkdir()
                run = Run("study", place, stored)
                run.create(n, d, algorithm)
                run.record(recorded)
                pairs = run.pool(among) if among else None
                run.go(first, people[:first], among=pairs)
                for start in range(first, first + count, BLOCK):
                    with watch.over(BLOCK):
                        run.go(BLOCK, people[start : start + BLOCK], among=pairs)
                run.study.close()

    return work


def after_each_answer(algorithm: str, n: int, d: int, recorded: int, times: int, what: str) -> Work:
    """The ordering, or its expected error given the ordering, of one answer more each time."""

    def work(folder: Path, watch: Stopwatch) -> None:
        run = Run("study", folder)
        run.create(n, d, algorithm)
        run.record(recorded)
        run.study.ordering()
        run.study.expected_error()
        for _ in range(times):
            run.record(1)
            if what == "ordering":
                with watch.over():
                    run.study.ordering()
            else:
                run.study.ordering()
                with watch.over():
                    run.study.expected_error()

    return work


def opening(asked: int, recorded: int, times: int) -> Work:
    """A file of so many answers, asked for and recorded, is opened."""

    def work(folder: Path, watch: Stopwatch) -> None:
        run = Run(f"opened-{asked}-{recorded}", folder, stored=True)
        if not Path(run.address.removeprefix("sqlite:///")).exists():
            run.create(300, 10, "uniform-contextual", refit_every=asked)
            with run.study.serving():
                run.go(asked, PEOPLE)
            run.record(recorded)
            run.study.close()
        Study.open(run.address).close()
        for _ in range(times):
            with watch.over():
                Study.open(run.address).close()

    return work


def recording(count: int, times: int) -> Work:
    def work(folder: Path, watch: Stopwatch) -> None:
        for _ in range(times):
            run = Run("study", folder)
            run.create(1000, 10)
            given = run.comparisons(count)
            with watch.over():
                run.study.record(given)

    return work


PATHS: dict[str, Work] = {
    "hybrid-200": asking(200, 35, "guro-hybrid", 100, 100, 5),
    "hybrid-500": asking(500, 35, "guro-hybrid", 100, 100, 4),
    "contextual-1000-newcomers": asking(1000, 35, "guro-contextual", 100, 150, 4, newcomers=True),
    "independent-500": asking(500, 0, "guro-independent", 10, 50, 3),
    "bald-hybrid-300": asking(300, 35, "bald-hybrid", 10, 50, 4),
    "bayes-guro-contextual-200": asking(200, 35, "bayes-guro-contextual", 20, 125, 5),
    "factored-6072": asking(6072, 75, "guro-hybrid-factored", 2, 50, 3, recorded=100),
    "sqlite-200": asking(200, 35, "guro-hybrid", 10, 50, 4, stored=True),
    "among-500": asking(500, 35, "guro-hybrid", 20, 75, 5, among=5000),
    "factored-30000": asking(30_000, 24, "guro-hybrid-factored", 2, 50, 3, recorded=100),
    "ordering-1000": after_each_answer("guro-hybrid", 1000, 35, 5000, 15, "ordering"),
    "expected-error-1000": after_each_answer("guro-hybrid", 1000, 35, 5000, 10, "expected error"),
    "open-10000": opening(2500, 7500, 10),
    "record-20000": recording(20_000, 5),
}


def measure(path: str, folder: Path) -> int:
    """One path by this version, for `in_turns`: a line before each time, which waits for one, and all times at last."""
    watch = Stopwatch()
    PATHS[path](folder, watch)
    print(json.dumps({"times": watch.times, "ordinate": str(Path(ordinate.__file__).parent)}))
    return 0


def in_turns(commands: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """What each says in the end. Never two at work: one goes on to its next time to measure, while the others wait.

    So what else the machine does hits all alike.
    """
    said: dict[str, dict[str, Any]] = {}
    with ExitStack() as ended:
        processes: dict[str, subprocess.Popen[str]] = {}

        def listen(who: str) -> None:
            output = processes[who].stdout
            assert output is not None
            if not (line := output.readline()):
                raise SystemExit(f"{who} ended with {processes[who].wait()}: {' '.join(commands[who])}")
            said[who] = json.loads(line)

        for who, command in commands.items():
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
            processes[who] = ended.enter_context(subprocess.Popen(command, env={**os.environ, **ONE_THREAD}, **pipes))
            listen(who)
        while not all(said.values()):
            for who, process in processes.items():
                print(file=process.stdin, flush=True)
                listen(who)
    return said


def take_time(before: str, after: str, rounds: int, paths: Sequence[str], out: Path | None) -> int:
    """Fresh processes each round, after one that does not count: it compiles, and makes what can be kept."""
    found: dict[str, dict[str, list[float]]] = {path: {"before": [], "after": [], "ratio": []} for path in paths}
    with tempfile.TemporaryDirectory() as scratch:
        folders = {who: Path(scratch) / who for who in ("before", "after")}
        for folder in folders.values():
            folder.mkdir()

        def once(path: str, order: Sequence[str] = ("before", "after")) -> dict[str, dict[str, Any]]:
            pythons = {"before": before, "after": after}
            work = [__file__, "measure", path, "--folder"]
            return in_turns({who: [pythons[who], "-I", *work, str(folders[who])] for who in order})

        first = [once(path) for path in paths]
        for who in folders:
            print(f"{who}: {first[0][who]['ordinate']}", flush=True)
        for number in range(rounds):
            for place, path in enumerate(paths):
                said = once(path, ("before", "after") if (number + place) % 2 == 0 else ("after", "before"))
                times = [said[who]["times"] for who in ("before", "after")]
                found[path]["before"].append(statistics.median(times[0]))
                found[path]["after"].append(statistics.median(times[1]))
                found[path]["ratio"].append(statistics.median(new / old for old, new in zip(*times, strict=True)))
            if out is not None:
                out.write_text(json.dumps(found, indent=1) + "\n")
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return report(found)


def report(found: Mapping[str, Mapping[str, Sequence[float]]]) -> int:
    """A row per path; 1 where one may have become slower by more than SLOWER allows."""
    flagged = 0
    print(f"{'':26} {'before':>10} {'after':>10} {'ratio':>6}  interval")
    for path, rounds in found.items():
        low, high, chance = interval(rounds["ratio"])
        medians = " ".join(f"{1e3 * statistics.median(rounds[who]):7.2f} ms" for who in ("before", "after"))
        ratio, slower = statistics.median(rounds["ratio"]), "" if high < SLOWER else f"  not below {SLOWER}"
        flagged += high >= SLOWER
        print(f"{path:26} {medians} {ratio:6.3f}  {low:.3f} to {high:.3f} ({chance:.0%}){slower}")
    return int(flagged > 0)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Two of the values between which the median lies, whatever the distribution, and with which chance.

    The chance that so few of the values fall on one side of the median is that of a sign test. At least 95%, or, of
    fewer than six values, as much as all of them give.
    """
    n = len(values)

    def chance(left_out: int) -> float:
        return float(1.0 - 2.0 * sum(math.comb(n, k) for k in range(left_out + 1)) / 2**n)

    left_out = 0
    while chance(left_out + 1) >= 0.95:
        left_out += 1
    ranked = sorted(values)
    return ranked[left_out], ranked[n - 1 - left_out], chance(left_out)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    one = commands.add_parser("record", help="run studies of every shape and write what was asked and believed")
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--only", nargs="+", default=[], metavar="NAME", help="some of the studies")

    one = commands.add_parser("compare", help="two files of `record` or `opened`; ends with 1 where they differ")
    one.add_argument("before", type=Path)
    one.add_argument("after", type=Path)
    one.add_argument(
        "--tolerance", type=float, default=1e-12, help="for numbers, relative to the largest of their list"
    )

    one = commands.add_parser("keep", help="write study files")
    one.add_argument("folder", type=Path)

    one = commands.add_parser("opened", help="open copies of kept study files, and go on with them")
    one.add_argument("folder", type=Path)
    one.add_argument("--out", type=Path, required=True)

    one = commands.add_parser("time", help="processor time of two versions; ends with 1 where one may be slower")
    one.add_argument("--before", required=True, metavar="PYTHON", help="the interpreter of the one environment")
    one.add_argument("--after", required=True, metavar="PYTHON", help="the interpreter of the other")
    one.add_argument("--rounds", type=int, default=20)
    one.add_argument("--paths", nargs="+", choices=PATHS, default=list(PATHS), metavar="PATH", help=", ".join(PATHS))
    one.add_argument("--out", type=Path, help="write the seconds and ratios of all rounds, after each")

    one = commands.add_parser("measure", help="one path by this version, as `time` does it")
    one.add_argument("path", choices=PATHS)
    one.add_argument("--folder", type=Path, required=True)

    given = parser.parse_args()
    if given.command == "compare":
        return compare(given.before, given.after, given.tolerance)
    if given.command == "time":
        return take_time(given.before, given.after, given.rounds, given.paths, given.out)
    import scipy.linalg  # noqa: F401 - brings its own BLAS, which must be loaded to be limited

    with threadpool_limits(1):
        if given.command == "record":
            return record(given.out, given.only)
        if given.command == "keep":
            return keep(given.folder)
        if given.command == "opened":
            return opened(given.folder, given.out)
        return measure(given.path, given.folder)


if __name__ == "__main__":
    sys.exit(main())
