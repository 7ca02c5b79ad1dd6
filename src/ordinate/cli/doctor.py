"""`ordinate doctor`: what works on this computer, and how to get what does not."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import typer

from ordinate import __version__
from ordinate.cli.options import AsJson
from ordinate.cli.screen import print_json, say

NEEDED = ("numpy", "scipy", "numba", "narwhals", "matplotlib", "pillow", "rich", "typer", "joblib", "threadpoolctl")
EXTRAS = {
    "parquet": ("polars", "Parquet files, data sets on disk"),
    "excel": ("openpyxl", "Excel workbooks"),
    "dicom": ("pydicom", "DICOM pictures"),
    "app": ("fastapi", "judging in the browser"),
    "text": ("sentence_transformers", "features from texts"),
    "image": ("timm", "features from images"),
    "xray": ("torchxrayvision", "features from chest X-rays"),
    "judge": ("httpx", "models that judge"),
    "notebook": ("anywidget", "judging in a notebook"),
    "sklearn": ("sklearn", "the ranker for scikit-learn"),
    "postgresql": ("psycopg", "studies in PostgreSQL"),
    "dask": ("distributed", "several machines"),
}


class Finding(NamedTuple):
    """One line: whether it is well (None: optional, and missing), and what to do if not."""

    what: str
    well: bool | None
    found: str
    advice: str = ""


def doctor(as_json: AsJson = False) -> None:
    """Check this computer: versions, optional packages, compiling, storing, caching.

    The exit code is 1 if something that is needed does not work. What is optional and missing comes with the command
    that installs it. Nothing is sent anywhere, and nothing is kept.
    """
    findings = [*_versions(), *(_checked(what, check) for what, check in CHECKS.items()), *_extras()]
    failed = any(one.well is False for one in findings)
    if as_json:
        print_json([one._asdict() for one in findings])
    else:
        marks = {True: "ok", False: "FAILED", None: "-"}
        for one in findings:
            advice = f"  ({one.advice})" if one.advice else ""
            say(f"{marks[one.well]:<8}{one.what:<22}{one.found}{advice}")
    if failed:
        raise typer.Exit(1)


def _versions() -> Iterator[Finding]:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    yield Finding("ordinate", True, f"{__version__}, in {Path(__file__).parents[1]}")
    supported = (3, 11) <= sys.version_info[:2] < (3, 14)
    advice = "" if supported else "use Python 3.11 to 3.13"
    yield Finding("Python", supported, f"{platform.python_version()}, {sys.executable}; {machine}", advice)
    for name in NEEDED:
        try:
            yield Finding(name, True, version(name))
        except PackageNotFoundError:
            yield Finding(name, False, "missing", f"python -m pip install {name}")


def _extras() -> Iterator[Finding]:
    for extra, (module, purpose) in EXTRAS.items():
        there = find_spec(module) is not None
        advice = "" if there else f"python -m pip install 'ordinate[{extra}]'"
        yield Finding(f"extra {extra}", there or None, purpose if there else f"missing; for {purpose}", advice)


def _checked(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, check())
    except Exception as error:  # whatever it is, it is what the user wants to know
        return Finding(what, False, f"{type(error).__name__}: {error}", "the message says what is wrong")


def _compile() -> str:
    import numpy as np

    from ordinate.data.items import Items
    from ordinate.study.study import Study

    features = np.random.default_rng(0).normal(size=(6, 2))
    study = Study.create(Items([f"item-{number}" for number in range(6)], features))
    for _ in range(3):
        study.tell(study.ask().id, "left")
    return f"a study of 6 items asks, learns and orders: expected error {study.expected_error():.2f}"


def _store() -> str:
    from ordinate.data.items import Items
    from ordinate.study.study import Study

    with tempfile.TemporaryDirectory(prefix="ordinate-doctor-", dir=".") as folder:
        url = f"sqlite:///{folder}/study.db"
        with Study.create(Items(["a", "b"]), storage=url) as made:
            made.tell(made.ask().id, "left")
        with Study.open(url) as opened:
            assert len(opened.comparisons()) == 1
    return f"this folder holds studies (SQLite {sqlite3.sqlite_version})"


def _cache() -> str:
    from ordinate.embedding.cache import default_folder

    folder = default_folder()
    place: Any = next(one for one in (folder, *folder.parents) if one.is_dir())
    if not os.access(place, os.W_OK):
        raise PermissionError(f"{place} cannot be written to; set ORDINATE_CACHE to another folder")
    return f"{folder} (vectors of encoders)"


def _terminal() -> str:
    encoding = sys.stdout.encoding or "unknown"
    plots = import_module("matplotlib").get_backend()
    return f"output in {encoding}, {'a terminal' if sys.stdout.isatty() else 'no terminal'}; plots by {plots}"


CHECKS = {"compiling": _compile, "storing": _store, "cache": _cache, "output": _terminal}
