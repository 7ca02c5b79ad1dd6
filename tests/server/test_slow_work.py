"""What takes seconds is computed beside the helper, which goes on choosing meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.comparisons import Comparison
from ordinate.data.items import Items
from ordinate.learning.models import Answers
from ordinate.learning.models.hybrid import Hybrid
from ordinate.server import helper
from ordinate.server.helper import HelperProcess, Results, SlowWork
from ordinate.study.fold import Version
from ordinate.study.inference import Fit
from ordinate.study.results import SLOW_ABOVE
from ordinate.study.study import Study

ITEMS = Items([str(row) for row in range(40)], np.random.default_rng(0).normal(size=(40, 3)))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    address = f"sqlite:///{tmp_path_factory.mktemp('study') / 'study.db'}"
    with Study.create(ITEMS, storage=address) as study:
        study.record([Comparison(str(row), str(row + 1), "left") for row in range(20)])
    return address


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the folders for the covariances are made."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def shared(url: str, scratch: Path) -> Iterator[SlowWork]:
    """One for all tests: each starts a process that imports everything, and each test takes what it has ordered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(scratch))
        work = SlowWork(url)
    yield work
    work.close()
    assert os.listdir(scratch) == []


@pytest.fixture
def work(shared: SlowWork, scratch: Path) -> Iterator[SlowWork]:
    yield shared
    assert os.listdir(scratch) == []


def is_ready_at(url: str, answers: int) -> bool:
    """A job of the helper: whether a covariance lies in a file and waits to be taken, which nobody does."""
    work = helper._slow.setdefault(url, SlowWork(url))
    return work.is_ready(fit_of(answers))


def test_there_is_a_folder_only_until_the_covariance_is_taken(work: SlowWork, scratch: Path) -> None:
    assert os.listdir(scratch) == []
    for answers in (10, 20):
        wait_for(work, fit_of(answers))
        (folder,) = scratch.iterdir()
        assert os.listdir(folder) == ["covariance.npy"]
        assert folder.stat().st_mode & 0o777 == 0o700
        assert work.take() is not None
        assert os.listdir(scratch) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="other systems name the temporary folder otherwise")
def test_no_folder_stays_where_the_helper_is_killed(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with HelperProcess() as process:
        until = time.monotonic() + 60
        while not process.submit(is_ready_at, url, 10).result(60):
            assert time.monotonic() < until
            time.sleep(0.02)
        assert list(tmp_path.glob("ordinate-*"))
        process.kill()
    until = time.monotonic() + 20
    while list(tmp_path.glob("ordinate-*")):
        assert time.monotonic() < until
        time.sleep(0.02)


def fit_of(answers: int) -> Fit:
    rows = np.arange(answers)
    return Fit(Version(1, 1, answers), Hybrid(), ITEMS.features, Answers(rows, rows + 1, np.ones(answers)))


def wait_for(work: SlowWork, fit: Fit) -> None:
    until = time.monotonic() + 60
    while not work.is_ready(fit):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_covariance_computed_beside_is_the_one_computed_here(work: SlowWork) -> None:
    for answers in (10, 20):
        fit = fit_of(answers)
        wait_for(work, fit)
        found = work.take()
        assert found is not None
        plain = fit.model.fit(fit.features, fit.answers).covariance.kept()
        everything = slice(0, 40)
        mean = np.zeros(40)
        # Where a matrix lies in memory changes its last bits.
        np.testing.assert_allclose(
            found.belief(mean).covariance(everything, everything),
            plain.belief(mean).covariance(everything, everything),
            rtol=1e-12,
            atol=1e-14,
        )


def test_an_older_covariance_is_not_taken_for_a_newer_one(work: SlowWork) -> None:
    wait_for(work, fit_of(10))
    wait_for(work, fit_of(20))
    found, plain = work.take(), fit_of(20).model.fit(*fit_of(20)[2:]).covariance.kept()
    assert found is not None
    pair = np.array([3]), np.array([15])
    for there, here in zip(*(one.belief(np.zeros(40)).differences(*pair) for one in (found, plain)), strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-12)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_where_the_process_is_killed_the_covariance_is_computed_here_and_another_process_starts(work: SlowWork) -> None:
    wait_for(work, fit_of(10))
    os.kill(next(iter(work._process._processes)), signal.SIGSTOP)
    assert not work.is_ready(fit_of(20))
    work._process.kill()
    wait_for(work, fit_of(20))
    assert work.take() is None
    wait_for(work, fit_of(30))
    assert work.take() is not None


def test_results_come_later(work: SlowWork, url: str) -> None:
    until = time.monotonic() + 60
    while (found := work.results()) is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    plain = helper.results(url)
    helper.close(url)
    assert isinstance(plain, Results)
    assert found[:3] == plain[:3]
    assert found.seconds > 0.0


def test_nobody_waits_for_results_of_many_items(tmp_path: Path) -> None:
    """Of 6,000 items they took so long that people were given random pairs, whatever the model."""
    address = f"sqlite:///{tmp_path / 'study.db'}"
    many = Items([str(row) for row in range(SLOW_ABOVE + 1)], np.eye(SLOW_ABOVE + 1, 2))
    with Study.create(many, storage=address, algorithm="guro-hybrid-factored") as study:
        study.record([Comparison("0", "1", "left")])
    assert helper.choose(address, [None], [])[0] is not None
    assert helper.results(address) is None
    until = time.monotonic() + 60
    while (found := helper.results(address)) is None:
        assert time.monotonic() < until
        time.sleep(0.02)
    helper.close(address)
    assert found.basis.answers == 1
