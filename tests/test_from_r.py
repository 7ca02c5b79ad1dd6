"""What docs/from-r.md says: R reads what is written, and BradleyTerry2 finds the same scores. Skipped without R."""

import re
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest

from ordinate.__main__ import main

PAGE = (Path(__file__).parents[1] / "docs" / "from-r.md").read_text(encoding="utf-8")
COMPARE = """
ordering <- read.csv("wide.csv", colClasses = c(id = "character"), fileEncoding = "UTF-8-BOM")
scores <- ordering$score[match(items, ordering$id)]
cat(max(abs(scores - scores[1] - BTabilities(fit)[, "ability"])))
"""


def has_bradley_terry() -> bool:
    if which("Rscript") is None:
        return False
    asked = ["Rscript", "-e", "quit(status = !requireNamespace('BradleyTerry2'))"]
    return subprocess.run(asked, capture_output=True, timeout=60).returncode == 0


def test_scores_are_those_of_bradleyterry2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_bradley_terry():
        pytest.skip("there is no R with BradleyTerry2; Debian has it: apt-get install r-cran-bradleyterry2")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    scores, lines = rng.normal(size=12), ["left,right,winner"]
    for _ in range(90):
        left, right = rng.choice(12, 2, replace=False)
        wins = rng.random() < 1 / (1 + np.exp(scores[right] - scores[left]))
        lines.append(f"i{left:02},i{right:02},{'left' if wins else 'right'}")
    Path("comparisons.csv").write_text("\n".join(lines), encoding="utf-8")
    Path("unnamed.csv").write_text("\n".join(lines), encoding="utf-8")
    for command in re.findall(r"^ordinate (.* wide\.db .*)$", PAGE, re.MULTILINE):
        assert main(command.split()) == 0
    (fit,) = re.findall(r"```r\n(library\(BradleyTerry2\).*?)```", PAGE, re.DOTALL)
    said = subprocess.run(["Rscript", "-"], input=fit + COMPARE, capture_output=True, text=True, timeout=100)
    assert said.returncode == 0, said.stderr
    assert float(said.stdout.split()[-1]) < 1e-4
