"""Build the documentation site in build/site, and check that every link inside it leads somewhere.

    python -m pip install -e . -r .ci/site-requirements.txt
    python .ci/site.py

The pages are docs/*.md and the Markdown files at the top. Added are the pages that follow from the code: every command
from Typer, every public name of Python by griffe.
"""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
PAGES, SITE = ROOT / "build" / "pages", ROOT / "build" / "site"
API = (
    ("ordinate", ("Items", "Study", "Ordering", "Comparison", "Query")),
    ("ordinate.plots", None),
    ("ordinate.notebook", ("judge",)),
    ("ordinate.sklearn", ("PreferenceRanker", "ItemTransformer")),
    (
        "ordinate.client",
        (
            "Client",
            "OrderedItem",
        ),
    ),
    ("ordinate.errors", None),
)
"""Modules, and which of their names people use; None: all public ones."""


def main() -> int:
    gather(PAGES)
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean"], cwd=ROOT, check=True)
    broken = sorted(broken_links(SITE))
    for page, target in broken:
        print(f"{page}: {target} leads nowhere", file=sys.stderr)
    print(f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}, {len(broken)} broken links")
    return 1 if broken else 0


def gather(folder: Path) -> None:
    """All pages in one folder, with links between them as they are there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("rows"))  # tables of measurements, no pages
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder / ("index.md" if page.name == "README.md" else page.name))
    (folder / "commands.md").write_text(commands(), encoding="utf-8")
    (folder / "api.md").write_text(api(), encoding="utf-8")
    for page in folder.glob("*.md"):
        # Commands without a prompt would be taken for the output of a console, and be pale.
        text = relinked(page.read_text(encoding="utf-8")).replace("```console", "```bash")
        page.write_text(text, encoding="utf-8")


def relinked(text: str) -> str:
    """Links between the folders of a checkout as links within the site; those to code, which is not on it, as code."""
    text = re.sub(r"\]\((?:\.\./)?README\.md", "](index.md", text)
    text = re.sub(r"\]\(docs/", "](", text)
    text = re.sub(r"\]\(\.\./([\w-]+\.(?:md|cff))", r"](\1", text)
    # A file of the checkout is no page: its name remains.
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?:\.\./|src/|tests/|benchmarks/|deploy/|examples/)[^)]*\)", r"`\1`", text)


def commands() -> str:
    """The reference of the command line, from the help of each command."""
    import typer

    from ordinate.cli import COMMANDS, application

    group = typer.main.get_command(application())
    lines = {row.name: row.lines for row in COMMANDS}
    parts = [
        "# Commands\n",
        "What `ordinate COMMAND --help` says, on one page. A word behind an option is its value.\n",
    ]

    def describe(command: Any, path: str, examples: tuple[str, ...]) -> None:
        context = command.context_class(command, info_name=path)
        parts.append(f"## {path}\n\n{plain(command.help)}\n")
        usage = " ".join(command.collect_usage_pieces(context))
        parts.append(f"```text\n{path} {usage}\n```\n")
        rows = [row for option in command.params if (row := option_row(option, context)) is not None]
        if rows:
            parts.append("\n".join(["| option | what it says |", "|---|---|", *rows]) + "\n")
        if examples:
            parts.append("```console\n" + "\n".join(examples) + "\n```\n")

    for name, command in group.commands.items():  # type: ignore[attr-defined]
        children = getattr(command, "commands", None)
        if children is None:
            describe(command, f"ordinate {name}", lines.get(name, ()))
        else:
            for inner, child in children.items():
                describe(child, f"ordinate {name} {inner}", ())
    return "\n".join(parts)


def option_row(option: Any, context: Any) -> str | None:
    """A line of a table: the names of an option, and its help with its default."""
    if getattr(option, "hidden", False) or "--help" in option.opts:
        return None
    record = option.get_help_record(context)
    names, said = record if record is not None else (option.make_metavar(context), getattr(option, "help", "") or "")
    return f"| `{cell(names)}` | {cell(plain(said))} |"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def plain(text: str | None) -> str:
    """Help without the marks of rich, and safe as Markdown."""
    text = re.sub(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red)\]", "", inspect.cleandoc(text or ""))
    return text.replace("<", "&lt;").replace("\\[", "[")


def api() -> str:
    """The reference of Python: signatures and docstrings."""
    import griffe

    package = griffe.load("ordinate", search_paths=[str(ROOT / "src")], resolve_aliases=True)
    parts = ["# Python\n"]
    for module, names in API:
        found = package if module == package.path else package[module.removeprefix("ordinate.")]
        parts.append(f"## {module}\n")
        if found.docstring is not None and module != "ordinate":
            parts.append(docstring(found.docstring.value))
        for name in names if names is not None else public(found):
            where = PUBLIC[name] if module == "ordinate" else f"{module}.{name}"
            one = package[where.removeprefix("ordinate.")]
            parts += described(one.final_target if one.is_alias else one, f"{module}.{name}")
    return "\n".join(parts)


PUBLIC = {
    "Comparison": "ordinate.data.comparisons.Comparison",
    "Items": "ordinate.data.items.Items",
    "Ordering": "ordinate.data.ordering.Ordering",
    "Query": "ordinate.data.comparisons.Query",
    "Study": "ordinate.study.study.Study",
}


def public(module: Any) -> list[str]:
    if module.exports:
        return sorted(str(name) for name in module.exports)
    return [
        name for name, one in module.members.items() if not name.startswith("_") and not one.is_alias and one.is_class
    ]


def described(one: Any, title: str) -> Iterator[str]:
    """A class with its methods, or a function."""
    yield f"### {title}\n"
    signature = one.parameters if one.is_function else None
    if signature is not None:
        yield f"```python\n{signed(one)}\n```\n"
    if one.docstring is not None:
        yield docstring(one.docstring.value)
    if not one.is_class:
        return
    for name, member in one.members.items():
        if name.startswith("_") or member.is_alias or not (member.is_function or member.has_labels("property")):
            continue
        yield f"#### {title.rpartition('.')[2]}.{name}\n"
        if member.is_function:
            yield f"```python\n{signed(member)}\n```\n"
        if member.docstring is not None:
            yield docstring(member.docstring.value)


def signed(function: Any) -> str:
    return str(function.signature()).replace("\n", " ")


def docstring(text: str) -> str:
    """The first paragraph as text; the rest, which is set with spaces, as it is."""
    first, _, rest = inspect.cleandoc(text).partition("\n\n")
    shown = first.replace("<", "&lt;")
    return f"{shown}\n" + (f"\n```text\n{rest}\n```\n" if rest.strip() else "")


class _Links(HTMLParser):
    """Where a page leads, and what can be led to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if value is not None and (name, tag) in {
                ("href", "a"),
                ("href", "link"),
                ("src", "img"),
                ("src", "script"),
            }:
                self.targets.add(value)


def broken_links(site: Path) -> Iterator[tuple[str, str]]:
    """Each page of a folder of HTML with a target inside the folder that is not there."""
    pages = {page.resolve(): _Links(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}
    for page, links in pages.items():
        if page.name == "404.html":  # shown at any address: its links start at the site's
            continue
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            path = path / "index.html" if path.is_dir() else path
            missing = path in pages and unquote(parts.fragment) not in pages[path].anchors
            if not path.is_file() or missing:
                yield page.relative_to(site.resolve()).as_posix(), target


if __name__ == "__main__":
    sys.exit(main())
