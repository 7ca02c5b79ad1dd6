"""What the tests of several parts share: reproducible hypothesis runs, the real data, and hostile disks."""

import ctypes
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from PIL import Image

from ordinate import embedding
from ordinate.embedding.network import Family, Network
from ordinate.study import threads

# Derandomised, so that a red run stays red; no deadline, since the first call of a kernel compiles it.
hypothesis.settings.register_profile("ordinate", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ordinate")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts what runs in the background like this, and so would the commands be that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """For tests of what a study runs on one BLAS thread: with more, workers on all cores wait for one another."""
    with threads.one_thread():
        yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """What tests may use and the project does not contain: beside a checkout, or where ORDINATE_TEST_DATA says."""
    named = os.environ.get("ORDINATE_TEST_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared"
    if named and not folder.is_dir():
        pytest.fail(f"ORDINATE_TEST_DATA names {named}, which is no folder")
    if not folder.is_dir():
        pytest.skip("neither ../shared nor a folder named by ORDINATE_TEST_DATA is here")
    return folder.resolve()


@pytest.fixture(scope="session")
def shared_data(shared: Path) -> Path:
    """The folder of recorded human answers."""
    if not (shared / "data").is_dir():
        pytest.skip(f"the recorded human answers ({shared}/data) are not here")
    return shared / "data"


@pytest.fixture(scope="session")
def synthetic_task(shared: Path) -> Path:
    """The reference task: features and theta."""
    path = shared / "reference" / "synthetic_task.npz"
    if not path.is_file():
        pytest.skip(f"the synthetic task ({path}) is not here")
    return path


@pytest.fixture
def ordinary_user() -> Iterator[None]:
    """The test runs without root's power to pass over file permissions (in this thread, not in child processes)."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root's power over files can only be laid down on Linux")
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the third version of the call, for this thread
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 capabilities
    assert libc.capget(header, before) == 0
    reduced = (ctypes.c_uint32 * 6)(*before)
    reduced[0] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    if libc.capset(header, reduced) != 0:
        pytest.skip("this machine does not let root lay down its power over files")
    yield
    assert libc.capset(header, before) == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Make a file system of its own of a size such as "4m"."""
    made: list[Path] = []

    def make(size: str) -> Path:
        folder = tmp_path / f"disk-{size}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("mounting a small file system takes Linux and root")
        made.append(folder)
        return folder

    yield make
    for folder in made:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def tiny_disk(small_disk: Callable[[str], Path]) -> Path:
    """A file system of 256 KiB of its own."""
    return small_disk("256k")


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """The size of each batch that went through two encoders in plain NumPy, `letters:any` and `tones:any`.

    So all that surrounds the networks is tested where PyTorch is not. The cache is one of the test's own.
    """
    sizes: list[int] = []

    def family(content, read: Callable[[bytes], list[float]]) -> Family:
        def encode(batch):
            sizes.append(len(batch))
            # As in a real network, the shape of the batch leaves a trace in the last digits.
            return np.array([read(data) for data in batch], np.float32) * np.float32(1 + 1e-6 * len(batch))

        def load(model, seed, device):
            return Network(f"{model} {seed}", "plain", lambda data: data, encode)

        return Family(content, "plain", "nothing", "any", load)

    def letters(data: bytes) -> list[float]:
        return [data.lower().count(bytes([letter])) for letter in b"abcdefghijklmnopqrstuvwxyz "]

    def tones(data: bytes) -> list[float]:
        return list(np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).mean(axis=(0, 1)))

    monkeypatch.setitem(embedding.FAMILIES, "letters", family("text", letters))
    monkeypatch.setitem(embedding.FAMILIES, "tones", family("image", tones))
    monkeypatch.setitem(embedding.DEFAULTS, "text", "letters:any")
    monkeypatch.setitem(embedding.DEFAULTS, "image", "tones:any")
    monkeypatch.setenv("ORDINATE_CACHE", str(tmp_path / "cache"))
    return sizes
