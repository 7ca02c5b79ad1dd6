"""The example notebooks: stored with their outputs, and they run."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def names(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=names)
def test_a_notebook_is_stored_as_it_ran_and_has_its_row(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]
    assert f"| `{path.name}` |" in (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Jupyter
@pytest.mark.parametrize("path", NOTEBOOKS, ids=names)
def test_a_notebook_runs(path: Path) -> None:
    for needed in ("nbclient", "ipykernel", "pandas"):
        pytest.importorskip(needed, reason="examples/run.py says what the examples need")
    runpy.run_path(str(ROOT / "examples" / "run.py"))["run"](path)
