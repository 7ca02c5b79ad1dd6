"""The scripts of the pages: their types, and their tests, which node runs. `npm ci` installs what these need."""

import subprocess
from pathlib import Path
from shutil import which

import pytest

ROOT = Path(__file__).parents[1]


def run(*command: str) -> None:
    if which("node") is None or which("npm") is None:
        pytest.skip("there is no node with npm here; nodejs.org and Debian have it: apt-get install nodejs npm")
    if not (ROOT / "node_modules").is_dir():
        pytest.skip("the packages of package.json are not installed: npm ci")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_scripts_have_the_types_that_they_say() -> None:
    run("npm", "run", "--silent", "types")


def test_the_tests_of_the_scripts_pass() -> None:
    run("npm", "test", "--silent")


def test_the_lock_file_names_no_registry() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert '"integrity"' in lock
