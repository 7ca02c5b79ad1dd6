"""`ordinate serve` where the packages of the server are not installed."""

import sys

import pytest

from ordinate.__main__ import main


@pytest.mark.parametrize("missing", ["itsdangerous", "uvicorn"])
def test_the_command_to_install_is_named_whichever_package_is_missing(missing, tmp_path, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("ordinate.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["serve", str(tmp_path / "studies")]) == 1
    error = capsys.readouterr().err
    assert "ordinate[app]" in error
