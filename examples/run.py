"""Run the example notebooks again and store their outputs: `python examples/run.py [NAME ...]`.

Needs `python -m pip install 'ordinate[notebook,parquet]' ipykernel nbclient pandas`.
"""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
SECONDS = 300
"""A cell that takes longer is an error."""


def run(path: Path) -> object:
    """The notebook with the outputs of its cells; raises nbclient's CellExecutionError where one fails."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
    ).execute()
    for cell in notebook.cells:
        # Times of execution would change the file at each run.
        cell.metadata.pop("execution", None)
    return notebook


def main(names: list[str]) -> None:
    import nbformat

    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(run(path), path)
            print(f"ran {path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
