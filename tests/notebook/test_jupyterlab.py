"""Judging in JupyterLab itself, by mouse and keys, which a notebook has others for. Skipped without JupyterLab."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import pytest

pytest.importorskip("jupyterlab", reason="JupyterLab is not installed: pip install jupyterlab")
pytest.importorskip("anywidget", reason="the extra notebook is not installed")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")]

CELLS = (
    "from ordinate import Items, Study\nfrom ordinate.notebook import judge\n"
    "study = Study.create(Items(list('abcdef'), content={'text': list('uvwxyz')}), question='Which?')\njudge(study)",
    "print('FOUND', [one.outcome for one in study.comparisons()])",
)
PATIENCE = 240


def notebook() -> str:
    rest: dict[str, Any] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**rest, "source": source, "id": f"cell-{place}"} for place, source in enumerate(CELLS)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})


def until(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_pairs_are_judged_by_mouse_and_keys(tmp_path: Path) -> None:
    (tmp_path / "judge.ipynb").write_text(notebook(), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=")
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={tmp_path}"]
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(command, env={**os.environ, **places}, stdout=log, stderr=subprocess.STDOUT)
    try:
        until(lambda: b"is running at" in (tmp_path / "log").read_bytes())
        with sync_api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(1000 * PATIENCE)
            page.goto(f"http://127.0.0.1:{port}/lab/tree/judge.ipynb")
            page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
            page.click(".jp-Notebook .jp-Cell >> nth=0")
            page.keyboard.press("Shift+Enter")
            page.wait_for_selector(".ordinate-judge")

            def do(act: Callable[[], None]) -> None:
                """Wait until the next pair is there."""
                before = page.inner_text(".ordinate-judge [role=status]")
                act()
                until(lambda: page.inner_text(".ordinate-judge [role=status]") != before)

            do(lambda: page.click(".ordinate-judge .pair button >> nth=0"))
            for key in ("ArrowRight", "ArrowRight", "u", "s", " ", "ArrowLeft"):
                do(lambda key=key: page.keyboard.press(key))  # type: ignore[misc]
            assert page.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)
            page.click(".jp-Notebook .jp-Cell >> nth=1 >> .jp-InputArea-editor")
            page.keyboard.press("Shift+Enter")
            found = page.wait_for_selector("pre:has-text('FOUND [')").inner_text()
            assert "FOUND ['left', 'right', 'tie', 'left']" in found
            browser.close()
    finally:
        server.terminate()
        server.wait(timeout=60)
