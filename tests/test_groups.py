"""Tests of one group run in one process: a version of pytest took this from pytest-xdist, and nothing failed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.xdist_group("these")
def test_a_group_is_known_to_whoever_deals_out_tests(request: pytest.FixtureRequest, worker_id: str) -> None:
    if worker_id == "master":
        pytest.skip("all tests run in one process")
    assert request.node.nodeid.endswith("@these")


@pytest.mark.slow
def test_what_failed_in_a_group_is_found_again_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = xdist_group(name)\n")
    (tmp_path / "test_two.py").write_text(
        "import pytest\n"
        "pytestmark = pytest.mark.xdist_group('two')\n"
        "def test_good(): pass\n"
        "@pytest.mark.parametrize('name', ['one@two'])\n"
        "def test_bad(name): assert False\n"
    )

    def run(*options: str) -> str:
        place = str(tmp_path)
        command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--rootdir", place, *options, place]
        root = Path(__file__).parents[1]
        return subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=200).stdout

    first = run("--numprocesses=1", "--dist=loadgroup", "-c", str(tmp_path / "pytest.ini"))
    assert re.search(r"test_two\.py::test_bad\[one@two\]( |$)", first, re.MULTILINE)
    assert "1 failed, 1 passed" in first
    again = run("--numprocesses=0", "--last-failed", "-c", str(tmp_path / "pytest.ini"))
    assert " 1 failed in " in again
