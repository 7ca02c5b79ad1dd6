"""What a person sees who types the name alone."""

import pytest


@pytest.mark.parametrize("line", [(), ("simulate",)])
def test_without_a_command_the_help_is_shown_and_the_error_says_what_is_missing(run, line):
    result = run(*line)
    assert result.code == 2
    assert "Error: name a command. See: ordinate" in result.out + result.err
