"""docs/first-study.md as a newcomer follows it: its commands, word for word, then two people who judge."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ordinate.datasets import degrade_photo

pytestmark = pytest.mark.xdist_group("browser")  # one browser and one server for all

GUIDE = (Path(__file__).parents[2] / "docs" / "first-study.md").read_text(encoding="utf-8")
CREATE, _, ORDER = re.findall(r"```bash\n(.*?)```", GUIDE, flags=re.DOTALL)


@pytest.mark.skipif(os.name != "posix", reason="the guide's commands are for a POSIX shell")
def test_from_a_folder_of_images_to_two_annotators(tmp_path: Path, serve: Any, judge: Callable[..., Any]) -> None:
    degrade_photo(np.random.default_rng(2), 12).write(tmp_path)

    def run(command: str) -> None:
        told = command.replace("ordinate ", f"{sys.executable} -m ordinate ")
        subprocess.run(["bash", "-ec", told], cwd=tmp_path, check=True, capture_output=True)

    run(CREATE)
    (served,) = serve(tmp_path / "study.db", options=("--budget", "300"))
    ann, bob = judge(), judge(width="phone")
    ann.begin(served.annotator, "Ann")
    bob.begin(served.annotator, "Bob")
    for _ in range(3):
        ann.answer()
        assert ann.pair != bob.pair
        bob.page.tap("#choose-left")
        bob.wait_until_sent()
    ann.wait_until_sent()
    run(ORDER)
    assert len((tmp_path / "ordering.csv").read_text().splitlines()) == 13
