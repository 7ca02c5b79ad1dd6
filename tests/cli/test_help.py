"""What `--help` says, and that the documents name every command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

import ordinate
from ordinate.cli import application

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "scipy", "numba", "matplotlib", "pandas", "polars", "joblib", "PIL")


def command_lines(command: object, *words: str) -> list[tuple[str, ...]]:
    """Every command as the words that call it, groups opened up."""
    below = getattr(command, "commands", None)
    if below is None:
        return [words]
    return [line for name, inner in below.items() for line in command_lines(inner, *words, name)]


COMMANDS = command_lines(typer.main.get_command(application()))


def test_all_commands_are_there():
    names = {line[0] for line in COMMANDS}
    assert names >= {
        "create", "ask", "tell", "withdraw", "undo", "import", "export", "add-items", "exclude", "include", "order",
        "status", "annotate", "simulate", "demo", "algorithms",
    }  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS, ids=" ".join)
def test_help_of_each_command_holds_an_example_that_calls_it(line, run):
    result = run(*line, "--help")
    assert result.code == 0
    assert result.err == ""
    assert run(*line, "-h").out == result.out
    examples = result.out[result.out.index("Examples") :]
    assert f"ordinate {' '.join(line)}" in examples


@pytest.mark.parametrize("line", COMMANDS, ids=" ".join)
def test_summary_of_each_command_is_one_short_line(line, run):
    summary = run(*line, "--help").out.strip().splitlines()[2].strip()
    assert summary.endswith(".")
    assert len(summary) <= 96


def test_help_groups_the_commands(run):
    out = run("--help").out
    panels = ["Make and change a study", "Ask and answer", "See the result", "Try it out", "From items to an ordering"]
    assert sorted(panels, key=out.index) == panels


def test_no_arguments_show_the_help(run):
    assert "Usage: ordinate" in "".join(run()[1:])


def test_version(run):
    result = run("--version")
    assert (result.code, result.out) == (0, f"ordinate {ordinate.__version__}\n")


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from ordinate.__main__ import main; main(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("line", COMMANDS, ids=" ".join)
def test_the_documents_name_each_command(line):
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert any(f"ordinate {' '.join(line)}" in path.read_text(encoding="utf-8") for path in documents)
