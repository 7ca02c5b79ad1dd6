"""The demo: order 100 versions of one photograph by asking simulated people, and write the results to a folder.

First it runs one study in SQLite, exactly as with real people. Then it repeats the task many times, to measure how many
questions it takes with well-chosen pairs and with random pairs.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ordinate.data.arrays import Floats
from ordinate.data.formats import write_columns
from ordinate.data.formats.files import failures
from ordinate.data.ordering import Ordering
from ordinate.datasets import DegradedPhotos, degrade_photo
from ordinate.errors import InvalidInput, StudyExists
from ordinate.simulation.annotators import LogisticAnnotators
from ordinate.simulation.contact_sheet import contact_sheet
from ordinate.simulation.metrics import ordering_error
from ordinate.simulation.parallel import Progress
from ordinate.simulation.plot import plot_error
from ordinate.simulation.run import simulate
from ordinate.simulation.summary import comparisons_needed, curves
from ordinate.simulation.tasks import SimulatedTask
from ordinate.study.results import Reliability
from ordinate.study.study import Study

ALGORITHM = "guro-hybrid"
# Random pairs with the same model show the gain from choosing pairs; without features too, the gain from both.
BASELINES = ("uniform-hybrid", "uniform-independent")
QUESTION = "Which photo is clearer?"
NOISE = 8.0
"""69 of 100 answers are right for two versions a tenth of the range apart, and all for the best and the worst."""
PEOPLE = 5


@dataclass(frozen=True)
class DemoSummary:
    """The results of the demo.

    answers, wrong_answers  of the one study: the number of answers, and of those that contradict the truth
    study_error             share of pairs that its ordering has in the wrong order
    expected_error          what the study expects that to be; None: withheld
    withheld                why; None where it is not
    target_error            the final error of `uniform-hybrid`
    questions_needed        algorithm -> questions until that error, on average; None: not reached within the budget
    final_error             algorithm -> mean error after the whole budget
    """

    folder: Path
    photos: int
    answers: int
    wrong_answers: int
    study_error: float
    expected_error: float | None
    withheld: str | None
    budget: int
    seeds: int
    target_error: float
    questions_needed: Mapping[str, float | None]
    final_error: Mapping[str, float]
    feature_columns: tuple[str, ...]
    study: Path
    items: Path
    ordering: Path
    plot: Path
    contact_sheet: Path


def run_demo(
    folder: str | Path = "ordinate-demo",
    *,
    seed: int = 1,
    seeds: int = 8,
    budget: int = 400,
    photos: int = 100,
    jobs: int = 2,
    progress: Progress | None = None,
) -> DemoSummary:
    """Make the folder with study.db, items.csv, photos/, ordering.csv, error.png, contact_sheet.png and rows.csv, the
    data of the plot. After an error there is no folder.

    seed      of the photos and the study; the comparison of algorithms uses the next `seeds` seeds. With seed 0 a
              check fails by chance, so the expected error is withheld
    budget    questions in the study, and in each run
    progress  called with (questions asked, questions in all)

    Raises StudyExists if the folder exists and is not empty.
    """
    if min(seeds, budget) < 1 or photos < 3:
        raise InvalidInput(f"a demo needs seeds, questions and 3 photos; got {seeds}, {budget} and {photos}")
    algorithms = (ALGORITHM, *BASELINES)
    total = budget * (1 + seeds * len(algorithms))

    def report(made: int) -> None:
        if progress is not None:
            progress(made, total)

    folder = Path(folder)
    with _whole_or_absent(folder) as place:
        report(0)
        dataset = degrade_photo(np.random.default_rng(seed), photos)
        dataset.write(place)
        write_columns(place / "items.csv", _item_table(dataset))
        result = _ask_people(dataset, place / "study.db", seed, budget, report)
        result.ordering.save(place / "ordering.csv")
        _draw_contact_sheet(dataset, result.ordering, place / "contact_sheet.png", budget)
        rows = simulate(
            SimulatedTask(dataset, NOISE),
            algorithms,
            range(seed + 1, seed + 1 + seeds),
            budget,
            every=max(1, budget // 40),
            jobs=jobs,
            progress=lambda made, _: report(budget + made),
        )
        write_columns(place / "rows.csv", rows)
        final = {curve.algorithm: float(curve.mean[-1]) for curve in curves(rows)}
        goal = final[BASELINES[0]]
        plot_error(
            rows,
            place / "error.png",
            title=f"Ordering {photos} photos",
            ylabel="Share of pairs in the wrong order",
            target=goal,
        )
    return DemoSummary(
        folder=folder,
        photos=photos,
        answers=budget,
        wrong_answers=result.wrong_answers,
        study_error=ordering_error(result.scores, _truth(dataset)),
        expected_error=None if result.reliability.withheld is not None else result.reliability.expected_error,
        withheld=result.reliability.withheld,
        budget=budget,
        seeds=seeds,
        target_error=goal,
        questions_needed=comparisons_needed(rows, goal),
        final_error=final,
        feature_columns=tuple(dataset.items.feature_names or ()),
        study=folder / "study.db",
        items=folder / "items.csv",
        ordering=folder / "ordering.csv",
        plot=folder / "error.png",
        contact_sheet=folder / "contact_sheet.png",
    )


class _Result(NamedTuple):
    ordering: Ordering
    scores: Floats
    reliability: Reliability
    wrong_answers: int


def _ask_people(dataset: DegradedPhotos, path: Path, seed: int, budget: int, report: Callable[[int], None]) -> _Result:
    """Run one study on disk, answered by a few people in turn."""
    truth = _truth(dataset)
    row = {item: k for k, item in enumerate(dataset.items.ids)}
    people = LogisticAnnotators(truth, NOISE, seed)
    wrong = 0
    storage = f"sqlite:///{path}"
    with Study.create(dataset.items, algorithm=ALGORITHM, question=QUESTION, seed=seed, storage=storage) as study:
        for made in range(budget):
            query = study.ask(f"person-{made % PEOPLE + 1}")
            left, right = row[query.left], row[query.right]
            answer = people.answer(left, right)
            study.tell(query.id, answer)
            wrong += int((answer == "left") != (truth[left] > truth[right]))
            report(made + 1)
        return _Result(study.ordering(), study.scores(), study.reliability(), wrong)


def _truth(dataset: DegradedPhotos) -> Floats:
    assert dataset.truth is not None  # degrade_photo always sets it
    return dataset.truth


def _item_table(dataset: DegradedPhotos) -> dict[str, list[Any]]:
    """The table of items as a user would have it: an id, the picture, and a column per feature."""
    items = dataset.items
    names = items.feature_names or ()
    columns: dict[str, list[Any]] = {"id": list(items.ids), "image": list(items.content["image"])}
    return columns | {name: items.features[:, k].tolist() for k, name in enumerate(names)}


def _draw_contact_sheet(dataset: DegradedPhotos, ordering: Ordering, path: Path, budget: int) -> None:
    row = {item: k for k, item in enumerate(dataset.items.ids)}
    true_rank = np.argsort(np.argsort(-_truth(dataset))) + 1
    contact_sheet(
        [dataset.files[row[item]] for item in ordering.ids],
        [(str(rank), f"true {true_rank[row[item]]}") for rank, item in zip(ordering.ranks, ordering.ids, strict=True)],
        path,
        title=f"{len(ordering)} versions of one photo, in the order learned from {budget} answers",
        subtitle="Clearest first. Bold: the learned rank; grey: the true rank, which the study never saw.",
    )


@contextmanager
def _whole_or_absent(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill. Its contents move to `folder` at the end, or are deleted after an error."""
    target = folder.resolve()
    with failures("written", folder):
        taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    if taken:
        raise StudyExists(f"{folder} already exists and was not changed. Name another folder, or remove this one")
    place = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with failures("written", folder):
        place.mkdir(parents=True)
    try:
        yield place
        with failures("written", folder):
            if target.exists():
                # An existing empty folder is kept, not replaced: a process may have it as its working directory.
                for made in place.iterdir():
                    made.rename(target / made.name)
            else:
                place.rename(target)
    finally:
        shutil.rmtree(place, ignore_errors=True)
