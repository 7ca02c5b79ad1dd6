"""`ordinate serve` where the packages of the server are not installed."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("missing", ["itsdangerous", "uvicorn", "starlette"])
def test_the_command_to_install_is_named_whichever_package_is_missing(missing: str, tmp_path: Path) -> None:
    """In a process of its own: modules that were imported without the package would stay for other tests."""
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from ordinate.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, "serve", str(tmp_path / "studies")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, "ordinate[app]" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "studies").exists()
