"""The errors that `ordinate` raises. The message says what is wrong, where, and what to do."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Self

_FIRST_ROW = " (row 1 is the first below the header)"
_WORKBOOK = re.compile(r"\.xlsx($| with )", re.IGNORECASE)
_ROW = re.compile(r"\brow [0-9]")
_HALF = 1000
"""Characters: longer messages lose their middle."""


class OrdinateError(Exception):
    """The base class of all errors of this package.

    exit_code  of a command that fails with it
    option     what else to do about it in a command, such as an option to give; nobody else is told
    """

    exit_code = 2
    option = ""

    def __str__(self) -> str:
        # A message may quote a cell of megabytes. What is wrong stands before it, and what to do behind it.
        message = super().__str__()
        return message if len(message) <= 2 * _HALF else f"{message[:_HALF]} ... {message[-_HALF:]}"

    def with_option(self, option: str) -> Self:
        self.option = option
        return self

    def __reduce__(self) -> Any:
        # Python would call `__init__` with the message alone, which fails where it takes more. An error that a process
        # of our own cannot send to another one breaks the pool of processes.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[OrdinateError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> OrdinateError:
    made = kind.__new__(kind)
    made.args = arguments
    made.__dict__.update(attributes)
    return made


class InvalidInput(OrdinateError, ValueError):
    """A value, a file or a column is invalid; the message names the row, the column or the id."""


class FeatureWarning(UserWarning):
    """Features of a new study have no effect, count twice or are far out; the message names them."""


class UnknownItem(InvalidInput):
    """The study has no item with this id."""


class UnknownQuery(InvalidInput):
    """The study has no query with this id."""


class NotYourQuery(InvalidInput):
    """The query was given to another annotator."""


class NameTaken(InvalidInput):
    """Somebody else judges under this name."""


class AnnotatorExcluded(InvalidInput):
    """The annotator is excluded, so they are asked nothing."""


class AlreadyAnswered(OrdinateError):
    """The query was already answered, skipped or withdrawn."""


class KeyReused(InvalidInput):
    """The idempotency key of an earlier answer was sent with a different answer."""


class NothingToUndo(OrdinateError):
    """The annotator has no answer to take back."""


class PoolExhausted(OrdinateError):
    """No pair is left to ask."""


class PairsHeld(PoolExhausted):
    """Others are judging the last pairs, or give the last answers asked for; there may be more when they are done."""


class StudyPaused(OrdinateError):
    """The owner has paused the study, so no pairs are given out."""


class DeadlinePassed(StudyPaused):
    """The time that the owner set for the study is over."""


class BudgetSpent(OrdinateError):
    """All requested answers were given: by this annotator or, with `total`, in the whole study."""

    def __init__(self, message: str, total: bool) -> None:
        super().__init__(message)
        self.total = total


class StudyNotFound(OrdinateError, FileNotFoundError):
    """There is no study at this address; none was created."""


class StudyExists(OrdinateError, FileExistsError):
    """There is already a study, or another file, at this address; it was not changed."""


class NotAStudy(OrdinateError):
    """The file is not a study of `ordinate`, is damaged, or was written by a newer version."""


class FeaturesChanged(OrdinateError):
    """A feature file that a study refers to is missing, or its content has changed since the study was created."""


class StorageFailed(OrdinateError, OSError):
    """The disk or the database failed: full, read-only, locked. Acknowledged answers are safe."""

    exit_code = 1


class DiskFull(StorageFailed):
    """There is no room left on the disk, or a quota is used up."""


class StudyMoved(StorageFailed):
    """The file of an open study was moved, deleted or replaced; what was acknowledged is in that file."""


class ClusterFailed(OrdinateError, OSError):
    """The cluster does not answer, or gave up a run."""

    exit_code = 1


class JudgeFailed(OrdinateError, OSError):
    """The endpoint of a model judge cannot be reached, or takes no request; what was judged before is stored."""

    exit_code = 1


class WeightsMissing(OrdinateError, OSError):
    """The weights of an encoder are not on this computer and could not be downloaded."""

    exit_code = 1


class MissingExtra(OrdinateError, ImportError):
    """An optional dependency is not installed, or is and cannot be imported; the message contains the pip command.

    To be raised where the ImportError is handled.
    """

    exit_code = 1

    def __init__(self, package: str, extra: str | None, purpose: str, command: str | None = None) -> None:
        requirement = package if extra is None else f"'ordinate[{extra}]'"
        command = command or f"python -m pip install {requirement}"
        if find_spec(package.partition(".")[0]) is None:
            super().__init__(f"{purpose} needs the package {package}. Install it with: {command}")
        else:
            super().__init__(
                f"{purpose} needs the package {package}, which is installed but cannot be imported "
                f"({sys.exc_info()[1]}). Install it again with: {command}"
            )


@contextmanager
def naming(what: object) -> Iterator[None]:
    """Prefix the message of an InvalidInput raised in the block with the name of a file, a line or a row."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(f"{what}: {error}{_first_row(str(what), str(error))}").with_option(
            error.option
        ) from error.__cause__


def _first_row(what: str, message: str) -> str:
    """Which row is the first, where a message names one of a workbook: Excel counts the header, too."""
    named = _WORKBOOK.search(what) and _ROW.search(message) and _FIRST_ROW not in message
    return _FIRST_ROW if named else ""
