"""Every error that `ordinate` raises on purpose. The message says what is wrong, where, and what to do."""

from collections.abc import Iterator
from contextlib import contextmanager


class OrdinateError(Exception):
    """The root of all errors of this package; `exit_code` is what a command ends with."""

    exit_code = 2


class InvalidInput(OrdinateError, ValueError):
    """A value, a file or a column is not what it should be; the message names the row, the column or the id."""


class UnknownItem(InvalidInput):
    """An id that the study does not hold."""


class UnknownQuery(InvalidInput):
    """A query id that this study never handed out."""


class NotYourQuery(InvalidInput):
    """The query was given to another annotator."""


class AnnotatorExcluded(InvalidInput):
    """The annotator is excluded, so they are asked nothing."""


class AlreadyAnswered(OrdinateError):
    """The query has an answer, a skip or a withdrawal, so it takes no other."""


class KeyReused(InvalidInput):
    """The key of an earlier answer came with another answer."""


class NothingToUndo(OrdinateError):
    """The annotator has no answer that could be taken back."""


class PoolExhausted(OrdinateError):
    """No pair is left to ask."""


class StudyPaused(OrdinateError):
    """The owner has paused the study: no pairs are given out at the moment."""


class BudgetSpent(OrdinateError):
    """This annotator, or with `total` the whole study, has given all the answers that the owner asks for."""

    def __init__(self, message: str, total: bool) -> None:
        super().__init__(message)
        self.total = total


class StudyNotFound(OrdinateError, FileNotFoundError):
    """There is no study at that address, and none was made."""


class StudyExists(OrdinateError, FileExistsError):
    """There is a study (or another file) at that address already; it was left as it is."""


class NotAStudy(OrdinateError):
    """The file is no study of `ordinate`, is damaged, or was written by a newer version."""


class FeaturesChanged(OrdinateError):
    """A feature file that a study relies on has gone, or holds something else than when the study was made."""


class StorageFailed(OrdinateError, OSError):
    """The disk or the database refused: full, read-only, locked. What was acknowledged before is safe."""

    exit_code = 1


class StudyMoved(StorageFailed):
    """The file of an open study was moved, deleted or replaced; what was acknowledged is in that file."""


class ClusterFailed(OrdinateError, OSError):
    """The machines that should do the work do not answer, or gave up."""

    exit_code = 1


class WeightsMissing(OrdinateError, OSError):
    """The weights of an encoder are not on this computer and could not be fetched."""

    exit_code = 1


class MissingExtra(OrdinateError, ImportError):
    """An optional dependency is not installed; the message holds the pip command."""

    exit_code = 1

    def __init__(self, package: str, extra: str | None, purpose: str, command: str | None = None) -> None:
        wanted = package if extra is None else f"'ordinate[{extra}]'"
        command = command or f"python -m pip install {wanted}"
        super().__init__(f"{purpose} needs the package {package}. Install it with: {command}")


@contextmanager
def naming(what: object) -> Iterator[None]:
    """Put the name of a file, a line or a row in front of the InvalidInput raised within."""
    try:
        yield
    except InvalidInput as error:
        raise type(error)(f"{what}: {error}") from error.__cause__
