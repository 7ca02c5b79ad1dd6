"""Make a release: build, check, commit, tag. Nothing is uploaded unless --upload is given.

    python .ci/release.py 0.2.0            # in a clean checkout of main
    python .ci/release.py 0.2.0 --upload   # and then twine upload, with the credentials that twine finds

Needs `python -m pip install build twine`. Where anything fails, or it is interrupted, the
files are as before, and there is no commit and no tag.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = {".gitignore", "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "src"}
"""What the source distribution holds. Hatchling adds .gitignore, by which it builds, and PKG-INFO."""
VERSIONED = ("src/ordinate/__init__.py", "CITATION.cff", "CHANGELOG.md")
_VERSION = r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?"
_UNRELEASED = "## Unreleased\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--upload", action="store_true", help="upload to PyPI with twine")
    given = parser.parse_args(arguments)
    if problem := obstacle(ROOT, given.version):
        print(f"Error: {problem}", file=sys.stderr)
        return 2
    try:
        files = release(ROOT, given.version)
    except (OSError, subprocess.CalledProcessError, ValueError, KeyboardInterrupt) as error:
        print(f"Error: {error or 'interrupted'}\nThere is no release; the files are as before.", file=sys.stderr)
        return 1
    upload = [sys.executable, "-m", "twine", "upload", *map(str, files)]
    if given.upload:
        subprocess.run(upload, check=True)
    else:
        print(f"Tagged v{given.version}. Nothing is uploaded yet. To publish it:")
        print(f"  git push --follow-tags\n  python -m twine upload {' '.join(f'dist/{file.name}' for file in files)}")
    return 0


def release(root: Path, version: str) -> list[Path]:
    """Build, check, commit and tag; return the files in dist/. What fails leaves everything as it was."""
    before, tag = git(root, "rev-parse", "HEAD"), f"v{version}"
    kept: list[Path] = []
    try:
        write_version(root, version, datetime.now(UTC).date())
        with tempfile.TemporaryDirectory() as folder:
            files = build(root, Path(folder))
            try_out(files, version)
            (root / "dist").mkdir(exist_ok=True)
            for file in files:
                kept.append(root / "dist" / file.name)
                shutil.move(file, kept[-1])  # perhaps to another file system
        git(root, "commit", "--quiet", "--message", f"Release {version}", "--", *VERSIONED)
        git(root, "tag", "--annotate", tag, "--message", f"ordinate {version}")
    except BaseException:
        if git(root, "tag", "--list", tag):
            git(root, "tag", "--delete", tag)
        git(root, "reset", "--quiet", "--soft", before)
        git(root, "checkout", before, "--", *VERSIONED)
        for file in kept:
            file.unlink(missing_ok=True)
        raise
    return kept


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def obstacle(root: Path, version: str) -> str | None:
    """What stands against a release of this version; None: nothing."""
    if not re.fullmatch(_VERSION, version):
        return f"{version} is no version such as 0.2.0 or 0.2.0rc1"
    if (branch := git(root, "branch", "--show-current")) != "main":
        return f"releases are made from main, not from {branch or 'a commit without a branch'}"
    if changed := git(root, "status", "--porcelain"):
        return f"there are changes that are not committed:\n{changed}"
    if git(root, "tag", "--list", f"v{version}"):
        return f"there is a tag v{version} already"
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"{_UNRELEASED}\n- ", changes):
        return f"CHANGELOG.md has no entries under {_UNRELEASED.strip()!r}"
    return None


def write_version(root: Path, version: str, today: date) -> None:
    """Write it into the package, the citation and the changelog."""
    edits = (
        (r'__version__ = ".*"', f'__version__ = "{version}"'),
        (r"\nversion: .*(\ndate-released: .*)?", f"\nversion: {version}\ndate-released: {today}"),
        (_UNRELEASED, f"{_UNRELEASED}\n## {version} ({today})\n"),
    )
    for name, (pattern, text) in zip(VERSIONED, edits, strict=True):
        path = root / name
        before = path.read_text(encoding="utf-8")
        after, found = re.subn(pattern, text, before, count=1)
        if not found:
            raise ValueError(f"{name} has nothing like {pattern!r}")
        path.write_text(after, encoding="utf-8")


def build(root: Path, folder: Path) -> list[Path]:
    """The source distribution, and the wheel that is built from it."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(root)], check=True)
    files = sorted(folder.iterdir())
    (source,) = (file for file in files if file.name.endswith(".tar.gz"))
    if strangers := not_of_the_product(source):
        raise ValueError(f"{source.name} holds more than the product: {', '.join(sorted(strangers))}")
    return files


def not_of_the_product(source: Path) -> set[str]:
    """What lies at the top of a source distribution and is not part of the product."""
    with tarfile.open(source) as archive:
        return {name.split("/")[1] for name in archive.getnames() if "/" in name} - PRODUCT


def try_out(files: list[Path], version: str) -> None:
    """The metadata are valid, and the wheel installs and runs where nothing else is installed."""
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)], check=True)
    (wheel,) = (file for file in files if file.suffix == ".whl")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = interpreter(Path(folder))
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        command = [str(python), "-m", "ordinate", "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
        if version not in said:
            raise ValueError(f"the installed wheel calls itself {said.strip()!r}, not {version}")
        subprocess.run([str(python), "-m", "ordinate", "demo"], check=True, cwd=folder)


def interpreter(environment: Path) -> Path:
    """Of a virtual environment; its folder lib/python3.x is none."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


if __name__ == "__main__":
    sys.exit(main())
