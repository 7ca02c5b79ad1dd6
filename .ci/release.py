"""Make a release: build, check, commit, tag. Nothing is uploaded unless --upload is given.

    python .ci/release.py 0.2.0            # in a clean checkout of main
    python .ci/release.py 0.2.0 --upload   # and then twine upload, with the credentials that twine finds

Needs `python -m pip install build twine`. Where a check fails, the files are as before and there is no tag.
"""

from __future__ import annotations

import argparse
import re
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
    changed = write_version(ROOT, given.version, datetime.now(UTC).date())
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = build(ROOT, Path(folder))
            try_out(files, given.version)
        except (subprocess.CalledProcessError, ValueError) as error:
            git(ROOT, "checkout", "--", *changed)
            print(f"Error: {error}\nThere is no release; the files are as before.", file=sys.stderr)
            return 1
        git(ROOT, "commit", "--quiet", "--message", f"Release {given.version}", "--", *changed)
        git(ROOT, "tag", "--annotate", f"v{given.version}", "--message", f"ordinate {given.version}")
        kept = ROOT / "dist"
        kept.mkdir(exist_ok=True)
        files = [file.replace(kept / file.name) for file in files]
    upload = [sys.executable, "-m", "twine", "upload", *map(str, files)]
    if given.upload:
        subprocess.run(upload, check=True)
    else:
        print(f"Tagged v{given.version}. Nothing is uploaded yet. To publish it:")
        print(f"  git push --follow-tags\n  python -m twine upload {' '.join(f'dist/{file.name}' for file in files)}")
    return 0


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


def write_version(root: Path, version: str, today: date) -> list[str]:
    """Write it into the package, the citation and the changelog; return these files."""
    edits = (
        ("src/ordinate/__init__.py", r'__version__ = ".*"', f'__version__ = "{version}"'),
        ("CITATION.cff", r"\nversion: .*(\ndate-released: .*)?", f"\nversion: {version}\ndate-released: {today}"),
        ("CHANGELOG.md", _UNRELEASED, f"{_UNRELEASED}\n## {version} ({today})\n"),
    )
    for name, pattern, text in edits:
        path = root / name
        before = path.read_text(encoding="utf-8")
        after, found = re.subn(pattern, text, before, count=1)
        if not found:
            raise ValueError(f"{name} has nothing like {pattern!r}")
        path.write_text(after, encoding="utf-8")
    return [name for name, _, _ in edits]


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
        python = next(Path(folder).glob("*/python*"))
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True)
        command = [str(python), "-m", "ordinate", "--version"]
        said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
        if version not in said:
            raise ValueError(f"the installed wheel calls itself {said.strip()!r}, not {version}")
        subprocess.run([str(python), "-m", "ordinate", "demo"], check=True, cwd=folder)


if __name__ == "__main__":
    sys.exit(main())
