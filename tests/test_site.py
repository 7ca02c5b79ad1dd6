"""How the documentation site is made: its generated pages, its links, and what the pages tell people to type."""

from __future__ import annotations

import csv
import re
import runpy
import shlex
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from ordinate import Comparison, Items, Study
from ordinate.__main__ import main
from ordinate.cli import COMMANDS, application

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SITE = runpy.run_path(str(ROOT / ".ci" / "site.py"))
GROUP = typer.main.get_command(application())
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md"]


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="deep/page.html#there">1</a><a href="deep/page.html#gone">2</a><img src="gone.png">'
        '<a href="https://example.org/x">3</a><a href="#top">4</a><p id="top">'
    )
    (tmp_path / "deep" / "page.html").write_text('<h2 id="there"><a href="../index.html">back</a><a href="../no.html">')
    assert sorted(SITE["broken_links"](tmp_path)) == [
        ("deep/page.html", "../no.html"),
        ("index.html", "deep/page.html#gone"),
        ("index.html", "gone.png"),
    ]


def test_links_of_a_checkout_become_links_of_the_site() -> None:
    relinked = SITE["relinked"]
    assert relinked("[a](docs/files.md#x) [b](../SECURITY.md) [c](../README.md#from-python)") == (
        "[a](files.md#x) [b](SECURITY.md) [c](index.md#from-python)"
    )
    assert (
        relinked("[items.py](../src/ordinate/data/items.py) ![p](pictures/p.png)") == "`items.py` ![p](pictures/p.png)"
    )


def test_every_command_and_option_is_in_the_reference() -> None:
    page = SITE["commands"]()
    for row in COMMANDS:
        assert f"## ordinate {row.name}" in page
        assert all(line in page for line in row.lines)
    assert "--aim" in page
    assert "[bold]" not in page


def test_every_public_name_is_in_the_reference() -> None:
    pytest.importorskip("griffe", reason="the tools of the site are not installed (.ci/site-requirements.txt)")
    page = SITE["api"]()
    for name in ("ordinate.Study", "Study.ask", "Items.from_frame", "ordinate.plots.caterpillar", "PoolExhausted"):
        assert re.search(rf"^####? .*\b{re.escape(name)}$", page, re.MULTILINE), name


def test_every_page_is_in_the_navigation() -> None:
    def pages(entry) -> set[str]:
        if isinstance(entry, str):
            return {entry}
        return set().union(*map(pages, entry.values() if isinstance(entry, dict) else entry))

    made = {"index.md", "commands.md", "api.md"}
    there = {page.name for page in [*DOCS.glob("*.md"), *ROOT.glob("*.md")]} - {"README.md"}
    assert pages(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]) == there | made


def typed(page: Path) -> list[list[str]]:
    """The words of each `ordinate` command in the console blocks and the text of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:console|bash)\n(.*?)```", text, flags=re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    lines += [
        line.replace("\n", " ")
        for line in re.findall(r"`(ordinate [a-z][^`]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    ]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("ordinate ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_only_commands_and_options_that_there_are(page: Path) -> None:
    for words in typed(page):
        command: Any = GROUP
        rest = words[1:]
        while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
            assert rest[0] in command.commands or not re.fullmatch(r"[a-z-]+", rest[0]), shlex.join(words)
            if rest[0] not in command.commands:
                break
            command = command.commands[rest.pop(0)]
        options = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
        options |= {"--help", "--install-completion"}
        for word in rest:
            if re.match(r"--[a-z]", word):
                assert word.partition("=")[0] in options, shlex.join(words)


def test_the_files_for_r_have_the_columns_that_the_page_reads(tmp_path: Path) -> None:
    """As R's read.csv reads them: a comma between cells, double quotes, a header, a byte order mark taken off."""
    page = (DOCS / "from-r.md").read_text(encoding="utf-8")
    assert page.count("read.csv(") == page.count('fileEncoding = "UTF-8-BOM"') > 0
    items = Items(["001", 'with "quotes", and a comma', "ü"])
    study = Study.create(items, storage=f"sqlite:///{tmp_path / 'study.db'}")
    for left, right in zip(items.ids, items.ids[1:], strict=False):
        study.record(Comparison(left, right, "left", annotator="ada"))
    study.ordering().save(tmp_path / "ordering.csv")
    with (tmp_path / "ordering.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows} == set(items.ids)
    (named,) = re.findall(r"ordering\[, c\((.*?)\)\]", page)
    for column in {*re.findall(r'"(\w+)"', named), *re.findall(r"ordering\$(\w+)", page)}:
        assert column == "id" or all(np.isfinite(float(row[column])) for row in rows), column
    assert main(["export", str(tmp_path / "study.db"), "--out", str(tmp_path / "comparisons.csv")]) == 0
    with (tmp_path / "comparisons.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *answers = csv.reader(file)
    assert set(re.findall(r"answers\$(\w+)", page)) == {"left", "right", "winner"} <= set(header)
    assert {row[header.index("winner")] for row in answers} == {"left"}
