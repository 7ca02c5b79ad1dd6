"""Read and write the bytes of a file: errors say what to do, and a write happens completely or not at all."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ordinate.errors import DiskFull, InvalidInput, OrdinateError, StorageFailed

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EROFS: "the disk is read-only; choose another folder",
    errno.EACCES: "permission denied; change the permissions or choose another place",
    errno.EPERM: "permission denied; change the permissions or choose another place",
}


def require_file(path: str | Path) -> None:
    """Raise InvalidInput unless there is a file at `path`."""
    with failures("read", path):
        if Path(path).is_dir():
            raise InvalidInput(f"{path} is a folder; give the file in it")
        if not Path(path).exists():
            raise InvalidInput(f"there is no file {path}")


def read_bytes(path: str | Path) -> bytes:
    require_file(path)
    with failures("read", path):
        return Path(path).read_bytes()


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace the file at `path` atomically: a reader, or a crash, sees the old file or the new one."""
    target = Path(os.path.realpath(path))  # replace the file that a symbolic link points to, not the link
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder; give the name of a file in it")
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {Path(path).parent}; make it first")
    # Beside the target, since a rename is only atomic within one file system.
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    with failures("written", path), _removed_on_failure(temporary):
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)


@contextmanager
def failures(verb: str, path: str | Path) -> Iterator[None]:
    """Turn an error of the operating system into StorageFailed, with what to do."""
    try:
        yield
    except OrdinateError:  # some are errors of the operating system, too
        raise
    except OSError as error:
        reason = _ADVICE.get(error.errno or 0, error.strerror or str(error))
        kind = DiskFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageFailed
        raise kind(f"{path} could not be {verb}: {reason}") from error
    except ValueError as error:  # a NUL in the name
        raise InvalidInput(f"{str(path)!r} is no file name: {error}") from None


@contextmanager
def _removed_on_failure(temporary: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:  # also after an interrupt
        with suppress(OSError):
            temporary.unlink()
        raise
