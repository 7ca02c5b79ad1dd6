"""What the tests of several parts share: reproducible hypothesis runs, the real data, and hostile disks."""

import ctypes
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import quote

import hypothesis
import numpy as np
import pytest
from PIL import Image
from threadpoolctl import threadpool_limits

from ordinate import embedding
from ordinate.embedding.network import Family, Network

# With a thread per core in each of several processes, BLAS waits for threads that have no core: on a busy machine, some
# tests took a hundred times as long. This is for NumPy, which is loaded, for what is loaded later, and for processes.
threadpool_limits(1, "blas")
os.environ["OMP_NUM_THREADS"] = "1"

# Derandomised, so that a red run stays red; no deadline, since the first call of a kernel compiles it.
hypothesis.settings.register_profile("ordinate", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ordinate")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell starts what runs in the background like this, and so would the commands be that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


MEMORY = Path("/dev/shm")
"""Linux's folder of files in memory."""


def pytest_configure(config: pytest.Config) -> None:
    """The tests of every run keep their files in memory, if there is room.

    They write thousands of small studies and flush each answer to the disk, for which some disks take 20 ms. The slow
    tests and those under load kill and fill what writes to a disk as people have it.
    """
    room = os.path.ismount(MEMORY) and shutil.disk_usage(MEMORY).free > 2 * 1024**3
    if room and os.access(MEMORY, os.W_OK) and "not slow" in config.option.markexpr:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of the whole product, which take longest, come first: were they last, one worker would end alone."""
    here = Path(__file__).parent
    items.sort(key=lambda item: item.path.parent != here)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The group is no part of a test's name: with it, `--last-failed` in one process would find none, and run all."""
    if hasattr(report, "node"):  # it has come from a worker
        report.nodeid = re.sub(r"@\w+$", "", report.nodeid)


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


@contextmanager
def no_room(folder: Path) -> Iterator[None]:
    """The disk of this folder is full while the block runs."""
    filler = folder / ".filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    try:
        yield
    finally:
        filler.unlink()


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


USER = "ordinate"
PASSWORD = "p@ss/wörd:?#[secret]"
_studies = count(1)


class Cluster:
    """A server that can be stopped and started again at the same address."""

    def __init__(self, programs: Path, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._programs, self._folder = programs, folder
        self.data = folder / "data"
        secret = folder / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
            shutil.chown(secret, "postgres")
        self.program("initdb", "-D", self.data, "-U", USER, "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8")
        self.start()

    def url(self, study: str | None = None, password: bool = True) -> str:
        """The address of a study; without a name, of one that there is not yet."""
        secret = f":{quote(PASSWORD, safe='')}" if password else ""
        return f"postgresql://{USER}{secret}@127.0.0.1:{self.port}/postgres/{study or f'study-{next(_studies)}'}"

    @property
    def database(self) -> str:
        return self.url("x").removesuffix("/x")

    def program(self, name: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run one of PostgreSQL's programs as a user that it accepts."""
        command = [str(self._programs / name), *map(str, arguments)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        environment = {**os.environ, "PGPASSWORD": PASSWORD}
        done = subprocess.run(  # type: ignore[call-overload]
            command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", env=environment, **options
        )
        assert done.returncode == 0, done.stdout
        return done  # type: ignore[no-any-return]

    def start(self) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories={self._folder}"
        log = self._folder / "log"
        # Its output goes to a file: the server would hold a pipe open.
        self.program("pg_ctl", "-D", self.data, "-w", "-l", log, "-o", options, "start")

    def stop(self, how: str = "fast") -> None:
        """ "fast" ends all sessions, "immediate" is a crash."""
        self.program("pg_ctl", "-D", self.data, "-w", "-m", how, "stop")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A PostgreSQL server of the tests' own: a new cluster in a temporary folder, with a password and with fsync."""
    if os.name != "posix":
        pytest.skip("a PostgreSQL server is started on POSIX systems only")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    named = shutil.which("initdb")
    if not found and named is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed (the extra postgresql)")
    programs = found[-1].parent if found else Path(str(named)).parent
    folder = Path(tempfile.mkdtemp(prefix="ordinate-postgresql-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    try:
        made = Cluster(programs, folder)
        try:
            yield made
        finally:
            made.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
