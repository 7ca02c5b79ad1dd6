"""What a release consists of, on a small repository of the test's own."""

import errno
import os
import runpy
import shutil
import subprocess
import tarfile
import venv
from datetime import date
from pathlib import Path

import pytest

import ordinate

ROOT = Path(__file__).parents[1]
RELEASE = runpy.run_path(str(ROOT / ".ci" / "release.py"))
TODAY = date(2030, 1, 31)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("CITATION.cff", "CHANGELOG.md", "src/ordinate/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for command in (
        "init --quiet --initial-branch main",
        "config user.email maintainer@example.org",
        "config user.name Maintainer",
        "add .",
        "commit --quiet --message first",
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command.split()], check=True)
    return tmp_path


def test_the_version_is_written_everywhere(checkout: Path) -> None:
    assert RELEASE["obstacle"](checkout, "0.2.0") is None
    RELEASE["write_version"](checkout, "0.2.0", TODAY)
    assert subprocess.run(
        ["git", "diff", "--name-only"], cwd=checkout, capture_output=True, text=True
    ).stdout.split() == sorted(RELEASE["VERSIONED"])
    assert '__version__ = "0.2.0"\n' in (checkout / "src/ordinate/__init__.py").read_text(encoding="utf-8")
    changes = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changes.startswith("# Changelog\n\n## Unreleased\n\n## 0.2.0 (2030-01-31)\n\n- ")
    # A second release replaces the date of the first.
    RELEASE["write_version"](checkout, "0.3.0", TODAY)
    citation = (checkout / "CITATION.cff").read_text(encoding="utf-8")
    assert citation.count("\nversion: 0.3.0\ndate-released: 2030-01-31\n") == citation.count("date-released") == 1


def test_what_stands_against_a_release_is_named(checkout: Path) -> None:
    obstacle = RELEASE["obstacle"]
    assert "no version such as" in obstacle(checkout, "2")
    subprocess.run(["git", "-C", str(checkout), "tag", "v0.2.0"], check=True)
    assert "a tag v0.2.0 already" in obstacle(checkout, "0.2.0")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 0.1.0\n\n- Old.\n", encoding="utf-8")
    assert "not committed" in obstacle(checkout, "0.3.0")
    subprocess.run(["git", "-C", str(checkout), "commit", "--quiet", "--all", "--message", "x"], check=True)
    assert "no entries under" in obstacle(checkout, "0.3.0")
    subprocess.run(["git", "-C", str(checkout), "checkout", "--quiet", "-b", "other"], check=True)
    assert "not from other" in obstacle(checkout, "0.3.0")


def test_a_source_distribution_with_more_than_the_product_is_noticed(tmp_path: Path) -> None:
    archive = tmp_path / "ordinate-1.tar.gz"
    with tarfile.open(archive, "w:gz") as made:
        for name in ("README.md", "src/ordinate/__init__.py", "notes/secret.txt"):
            made.add(ROOT / "README.md", f"ordinate-1/{name}")
    assert RELEASE["not_of_the_product"](archive) == {"notes"}


def test_the_citation_names_this_version() -> None:
    assert f"\nversion: {ordinate.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def built(_root: Path, folder: Path) -> list[Path]:
    (folder / "ordinate-0.2.0.whl").write_text("wheel", encoding="utf-8")
    return [folder / "ordinate-0.2.0.whl"]


def state_of(checkout: Path) -> list[str]:
    commands = ("log --format=%H%d", "status --porcelain", "tag --list")
    return [RELEASE["git"](checkout, *command.split()) for command in commands]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("step", ["write_version", "build", "try_out", "git tag"])
def test_a_release_that_fails_leaves_everything_as_it_was(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    names = RELEASE["release"].__globals__
    monkeypatch.setitem(names, "build", built)
    monkeypatch.setitem(names, "try_out", lambda *_: None)
    git, before = RELEASE["git"], state_of(checkout)

    def git_without_tags(root: Path, *command: str) -> str:
        if command[:2] == ("tag", "--annotate"):
            raise KeyboardInterrupt
        return str(git(root, *command))

    monkeypatch.setitem(names, *(("git", git_without_tags) if step == "git tag" else (step, interrupted)))
    with pytest.raises(KeyboardInterrupt):
        RELEASE["release"](checkout, "0.2.0")
    assert state_of(checkout) == before
    assert not list(checkout.glob("dist/*"))


def test_files_are_kept_also_on_another_file_system(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    names = RELEASE["release"].__globals__
    monkeypatch.setitem(names, "build", built)
    monkeypatch.setitem(names, "try_out", lambda *_: None)
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, refuse)
    (kept,) = RELEASE["release"](checkout, "0.2.0")
    assert kept.read_text(encoding="utf-8") == "wheel"
    assert RELEASE["git"](checkout, "tag", "--list") == "v0.2.0"


def test_the_interpreter_of_an_environment_runs(tmp_path: Path) -> None:
    venv.create(tmp_path, with_pip=False)
    command = [str(RELEASE["interpreter"](tmp_path)), "-c", "import sys; print(sys.prefix)"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert Path(said.strip()).resolve() == tmp_path.resolve()
