import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ordinate

ROOT = Path(__file__).parents[1]


def test_imports_point_down_the_list_of_layers() -> None:
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_layer_is_there() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    package = ROOT / "src" / "ordinate"
    found = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    layers = {name for line in contracts[0]["layers"] for name in line.split(" | ")}
    assert layers == found - {"__init__", package.name}


def test_import_loads_numpy_and_little_else() -> None:
    heavy = [
        "joblib",
        "matplotlib",
        "numba",
        "pandas",
        "PIL",
        "polars",
        "rich",
        "scipy",
        "typer",
    ]
    command = f"import ordinate, sys; ordinate.Items; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ordinate.__all__)
def test_public_names(name: str) -> None:
    assert getattr(ordinate, name) is not None


def test_a_listing_shows_the_public_names_alone() -> None:
    import ordinate.datasets  # which makes it an attribute

    assert dir(ordinate) == sorted(ordinate.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Studies'"):
        ordinate.Studies  # noqa: B018
