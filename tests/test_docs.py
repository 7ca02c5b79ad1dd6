"""The documents say what is there: examples run, every module and every algorithm is named."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.algorithms import ALGORITHMS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "expected error 0." in done.stdout
    assert (tmp_path / "ordering.csv").read_text().startswith("rank,id,score,standard_error")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_documents_name_every_algorithm(name: str) -> None:
    assert f"`{name}`" in README + (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")


def test_nothing_waits_to_be_filled_in() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"^(RESULTS|TODO|TBD|\(to be)", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


@pytest.mark.parametrize("command", ["pip install . && ordinate demo", "pip install -e '.[test]' && python -m pytest"])
def test_the_readme_has_its_two_commands(command: str) -> None:
    assert README.count(f"python -m {command}\n") == 1


def test_the_tree_has_a_line_for_every_module() -> None:
    package = ROOT / "src" / "ordinate"
    modules = {path.name for path in package.glob("*.py")} | {
        f"{path.parent.name}/" for path in package.glob("*/__init__.py")
    }
    missing = {name for name in modules - {"__init__.py"} if f"  {name}" not in ARCHITECTURE}
    assert not missing, f"ARCHITECTURE.md has no line for {sorted(missing)}"


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "pictures").glob("*.png")), ids=lambda path: path.stem)
def test_pictures_of_a_page_show_all_its_looks(picture: Path) -> None:
    """Wide and on a phone, light and dark; a look that was not taken leaves one grey."""
    with Image.open(picture) as sheet:
        for look in ((0, 0, 480, 300), (0, 310, 480, 610), (490, 0, 772, 610), (782, 0, 1064, 610)):
            pixels = np.asarray(sheet.convert("RGB").crop(look)).reshape(-1, 3)
            assert (pixels != pixels[0]).any(), look
