"""Processes that share the work end with the program that started them, however that one ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not CHILDREN.exists(), reason="this system does not list child processes")
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGKILL, id="killed"),
        pytest.param(signal.SIGINT, id="interrupted", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_left_behind(sent: signal.Signals, tmp_path: Path) -> None:
    words = [
        "simulate", "synthetic", "--seeds", "4", "--jobs", "2", "--budget", "1000000",
    ]  # fmt: skip
    environment = os.environ | {"TMPDIR": str(tmp_path), "JOBLIB_TEMP_FOLDER": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-m", "ordinate", *words], env=environment, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 120
        while not any(path.name == "steps" and any(path.read_bytes()) for path in tmp_path.rglob("*")):
            assert process.poll() is None
            assert time.monotonic() < until, "no run began"
            time.sleep(0.05)
        workers = children(process.pid)
        assert len(workers) >= 2
        process.send_signal(sent)
        process.wait(60)
        while any(map(is_alive, workers)) or any(tmp_path.iterdir()):
            assert time.monotonic() < until, (workers, list(tmp_path.rglob("*")))
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
