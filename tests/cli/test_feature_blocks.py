"""Features in blocks from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def test_a_matrix_beside_columns_makes_blocks_and_new_items_bring_both(run: Any, folder: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(folder / "emb.npy", rng.normal(size=(4, 3)))
    made = run(
        "create",
        "study.db",
        "--items",
        "items.csv",
        "--features",
        "text=emb.npy",
        "--feature-columns",
        "contrast",
        "--json",
    )
    assert made.code == 0, made.err
    assert made.json["blocks"] == {"text": 3, "columns": 1}
    assert "text (3 columns), columns (contrast)" in run("status", "study.db").out
    for _ in range(3):
        (query,) = run("ask", "study.db", "--json").json["queries"]
        assert run("tell", "study.db", str(query["id"]), "left").code == 0
    (folder / "new.csv").write_text("id,text,contrast\ne,The fifth,25\n")
    np.save(folder / "new.npy", rng.normal(size=(1, 3)))
    new = ("order", "study.db", "--items", "new.csv", "--json")
    for given in ("text=new.npy", "new.npy"):
        placed = run(*new, "--features", given)
        assert placed.code == 0, placed.err
    twice = run(*new, "--features", "text=new.npy,text=emb.npy")
    assert "--features names 'text' twice, with new.npy and with emb.npy" in twice.err
    missing = run(*new)
    assert missing.code == 2
    assert "text (3 columns), columns (contrast): give every block" in missing.err
    added = run("add-items", "study.db", "--items", "new.csv", "--features", "text=new.npy")
    assert added.code == 0, added.err


def test_several_matrices_have_names(run: Any, folder: Path) -> None:
    for name in ("a", "b"):
        np.save(folder / f"{name}.npy", np.random.default_rng(1).normal(size=(4, 2)))
    made = run("create", "study.db", "--items", "items.csv", "--features", "one=a.npy,two=b.npy", "--json")
    assert made.json["blocks"] == {"one": 2, "two": 2}
    np.save(folder / "short.npy", np.ones((3, 2)))
    short = run("create", "other.db", "--items", "items.csv", "--features", "one=a.npy,two=short.npy")
    assert short.code == 2
    assert "'two' of the features has 3 rows" in short.err
    reduced = run("create", "other.db", "--items", "items.csv", "--features", "one=a.npy,two=b.npy", "--pca", "2")
    assert "principal components are those of one matrix" in reduced.err
    absent = run("create", "other.db", "--items", "items.csv", "--features", "one=nowhere.npy")
    assert absent.code == 2
    assert "nowhere.npy" in absent.err
