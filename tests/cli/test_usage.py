"""What a person sees who types the name alone."""

import pytest
from PIL import Image

from ordinate.__main__ import exit_code


@pytest.mark.parametrize("line", [(), ("simulate",)])
def test_without_a_command_the_help_is_shown_and_the_error_says_what_is_missing(run, line):
    result = run(*line)
    assert result.code == 2
    assert "Error: name a command. See: ordinate" in result.out + result.err


def test_the_keys_fit_a_terminal_and_offer_images_only_where_there_are_some(run, folder):
    Image.new("RGB", (4, 4)).save(folder / "a.png")
    (folder / "photos.csv").write_text("id,image\na,a.png\nb,a.png\n")
    assert run("create", "photos.db", "--items", "photos.csv").code == 0
    assert run("create", "texts.db", "--items", "items.csv").code == 0
    for study, offered in (("photos.db", True), ("texts.db", False)):
        (legend,) = [line for line in run("annotate", study, keys="q").out.splitlines() if "q quit" in line]
        assert len(legend) < 80
        assert ("open images" in legend) == offered


@pytest.mark.parametrize(("options", "warned"), [((), True), (("--feature-columns", "sharpness"), False)])
def test_unseen_items_are_not_placed_in_silence_where_nothing_tells_them_apart(run, folder, options, warned):
    assert run("create", "s.db", "--items", "items.csv", *options).code == 0
    (folder / "new.csv").write_text("id,sharpness\nnew-1,1\nnew-2,2\n")
    (folder / "made.csv").write_text("left,right,winner\na,b,a\n")
    assert run("import", "s.db", "made.csv").code == 0
    assert ("their places mean nothing" in run("order", "s.db", "--items", "new.csv").out.replace("\n", " ")) == warned
    assert "mean nothing" not in run("order", "s.db").out


def test_an_interrupt_that_compiled_code_reports_as_a_failure_is_an_interrupt(capsys):
    def fails() -> None:
        try:
            raise cause
        except BaseException as error:
            try:
                raise SystemError("returned a result with an exception set") from error
            except SystemError as first:
                raise SystemError("returned a result with an exception set") from first

    cause: BaseException = KeyboardInterrupt()
    assert exit_code(fails) == 130
    assert capsys.readouterr().err.startswith("Interrupted. ")
    cause = ValueError("a fault of ours")
    with pytest.raises(SystemError):
        exit_code(fails)
