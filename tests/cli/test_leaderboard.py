"""`ordinate order --by model`: what is said of models that few prompts compare."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ordinate.__main__ import main


@pytest.fixture
def battles(tmp_path: Path) -> str:
    """Three models on 20 prompts, and a new one on a single prompt."""
    rng, lines = np.random.default_rng(0), ["model_a,model_b,winner,prompt"]
    for prompt in range(20):
        for one, two in (("ada", "bell"), ("bell", "curie"), ("curie", "ada")) * 3:
            lines.append(f"{one},{two},{rng.choice(['model_a', 'model_b'])},q{prompt}")
    lines += [f"new,{name},{winner},q0" for name in ("ada", "bell") for winner in ("model_a", "model_a", "model_b")]
    path = tmp_path / "battles.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_model_of_one_prompt_is_named_and_has_no_error(battles: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["order", battles, "--map", "group=prompt", "--by", "model"]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "Errors are clustered by 20 groups." in said
    assert "new: compared in fewer than three groups, or in one or two almost alone" in said
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["few_prompts"], found["unbounded"]) == (["new"], [])
    rows = {row["id"]: row for row in found["items"]}
    assert rows["new"]["standard_error"] is None
    assert (rows["new"]["rank_low"], rows["new"]["rank_high"]) == (1, 4)
    assert all(0.0 < rows[name]["standard_error"] < 1.0 for name in ("ada", "bell", "curie"))
