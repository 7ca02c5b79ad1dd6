"""Errors go from process to process, as those of a study that is made do, and stay what they are."""

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ordinate
from ordinate import errors
from ordinate.__main__ import exit_code
from ordinate.data.media import NotShown

PACKAGE = Path(ordinate.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
MADE = [
    errors.InvalidInput("row 3 is empty"),
    errors.StudyExists("there is one"),
    errors.DiskFull("the disk is full"),
    errors.BudgetSpent("all answers are given", total=True),
    errors.MissingExtra("torch", "text", "embedding texts"),
    errors.WeightsMissing("no network"),
    NotShown("is a TIFF", convertible=True),
    errors.InvalidInput("holds 'wood'").with_option("give --categorical"),
]


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_an_error_arrives_as_it_was_sent(error: errors.OrdinateError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert (str(arrived), arrived.args, vars(arrived)) == (str(error), error.args, vars(error))


def test_a_message_that_quotes_a_huge_cell_keeps_what_is_wrong_and_what_to_do() -> None:
    cell = "x" * 10**6
    with pytest.raises(errors.InvalidInput) as caught, errors.naming("items.csv"):
        raise errors.InvalidInput(f"row 2 of column 'size' holds {cell!r}, which is no number; write decimals")
    message = str(caught.value)
    assert message.startswith("items.csv: row 2 of column 'size' holds 'xxx")
    assert message.endswith("xxx', which is no number; write decimals")
    assert len(message) < 3000


def messages(tree: ast.Module) -> Iterator[str]:
    """The texts in errors, raised or made, without those that are for commands alone."""
    for node in ast.walk(tree):
        made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in vars(errors)
        error = node if made else node.exc if isinstance(node, ast.Raise) else None
        if error is not None:
            hints = {
                part
                for call in ast.walk(error)
                if isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "with_option"
                for argument in call.args
                for part in ast.walk(argument)
            }
            texts = [one for one in ast.walk(error) if isinstance(one, ast.Constant) and one not in hints]
            yield "".join(one.value for one in texts if isinstance(one.value, str))


def test_an_error_below_the_commands_names_no_option_to_those_who_gave_no_command() -> None:
    """A person in the browser, or a program, cannot give an option. Whole commands may be named, and how a server is
    started."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] == "cli":
            continue
        for text in messages(ast.parse(path.read_text(encoding="utf-8"))):
            if OPTION.search(re.sub(r"`[^`]*`|(ordinate|dask) [a-z].*|when the server starts: --media", "", text)):
                found[path.name] = text
    assert found == {}


def test_what_else_a_command_can_do_is_said_by_commands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    error = errors.InvalidInput("no number").with_option("give --categorical")
    with pytest.raises(errors.InvalidInput) as caught, errors.naming("items.csv"):
        raise error
    assert str(caught.value) == "items.csv: no number"

    def command() -> None:
        raise caught.value

    assert exit_code(command) == 2
    assert capsys.readouterr().err == "Error: items.csv: no number; give --categorical\n"
