"""The documents say what is there: examples run, every module and every algorithm is named."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.algorithms import ALGORITHMS
from ordinate.data.comparison_formats import COMPARISON_FORMATS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]


def by_hand(page: Path) -> str:
    """A page without what a command wrote between its markers."""
    generated = r"<!-- (begin|benchmarks: start).*?<!-- (end|benchmarks: end)"
    return re.sub(generated, "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "expected error 0." in done.stdout
    assert (tmp_path / "ordering.csv").read_text().startswith("rank,id,score,standard_error")


def test_the_python_examples_for_notebooks_run() -> None:
    pytest.importorskip("anywidget", reason="the extra notebook is not installed")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "notebooks.md").read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_documents_name_every_algorithm(name: str) -> None:
    assert f"`{name}`" in README + (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")


def test_nothing_waits_to_be_filled_in() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        assert not re.search(r"^(RESULTS|TODO|TBD|\(to be)", path.read_text(encoding="utf-8"), re.MULTILINE), path.name


@pytest.mark.parametrize("command", ["pip install . && ordinate demo", "pip install -e '.[test]' && python -m pytest"])
def test_the_readme_has_its_two_commands(command: str) -> None:
    assert README.count(f"python -m {command}\n") == 1


def tree() -> set[Path]:
    """The files and folders that the tree of ARCHITECTURE.md names: before two spaces, a level per two more."""
    (text,) = re.findall(r"```\nsrc/ordinate/\n(.*?)```", ARCHITECTURE, flags=re.DOTALL)
    named: set[Path] = set()
    folders = [ROOT / "src" / "ordinate"]
    for line in text.splitlines():
        names = line.strip().split("  ")[0]
        depth = (len(line) - len(line.lstrip())) // 2
        for name in names.split(", "):
            named.add(path := folders[depth - 1] / name)
            if name.endswith("/"):
                folders[depth:] = [path]
    return named


def test_the_tree_names_every_module_and_only_what_is_there() -> None:
    package = ROOT / "src" / "ordinate"
    code = {path for suffix in ("py", "js") for path in package.rglob(f"*.{suffix}") if "migrations" not in path.parts}
    modules = {path for path in code if path.name != "__init__.py"} | {path.parent for path in code}
    assert not {str(path.relative_to(ROOT)) for path in modules - tree() - {package}}, "not in ARCHITECTURE.md"
    assert not {str(path.relative_to(ROOT)) for path in tree() if not path.exists()}, "named in ARCHITECTURE.md"


def test_the_layers_are_those_of_the_import_contract() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)(?:/|\.py)` \|", ARCHITECTURE, flags=re.MULTILINE)
    layers = [(str(number), name) for number, layer in enumerate(LAYERS, 1) for name in layer.split(" | ")]
    assert rows == layers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        assert re.match(r"https?://", target) or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_another_page_leads_to_each_page(page: Path) -> None:
    others = (other.read_text(encoding="utf-8") for other in PAGES if other != page)
    assert any(re.search(rf"\]\((docs/)?{re.escape(page.name)}", text) for text in others)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_of_the_project_that_are_named_in_full_are_there(page: Path) -> None:
    """`src/...`, `tests/...` and `benchmarks/...`; NAME stands for what somebody adds."""
    for path in re.findall(r"\b((?:src|tests|benchmarks)/[\w./-]+\.py)\b", by_hand(page)):
        assert "NAME" in path or (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_percentages_have_a_space(page: Path) -> None:
    assert not re.findall(r".*\d%.*", by_hand(page))


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "pictures").glob("*.png")), ids=lambda path: path.stem)
def test_pictures_of_a_page_show_all_its_looks(picture: Path) -> None:
    """Wide and on a phone, light and dark; a look that was not taken leaves one grey."""
    with Image.open(picture) as sheet:
        for look in ((0, 0, 480, 300), (0, 310, 480, 610), (490, 0, 772, 610), (782, 0, 1064, 610)):
            pixels = np.asarray(sheet.convert("RGB").crop(look)).reshape(-1, 3)
            assert (pixels != pixels[0]).any(), look


@pytest.mark.parametrize("name", COMPARISON_FORMATS)
def test_the_documents_name_every_form_of_comparisons(name: str) -> None:
    assert f"\n| `{name}` |" in (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
