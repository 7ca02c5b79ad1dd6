"""WiscAds: which of two campaign advertisements is more negative (Carlson and Montgomery 2017).

The replication archive (Harvard Dataverse, doi:10.7910/DVN/0ZRGEE, one file SentimentItReplication.tar) was not
available. The layout comes from two public scripts that read it: its file all_batches.Rdata, in
APSRReplication/DataFiles/WiscAds2008, has two rows per comparison, one for each ad, with the columns batch_id,
comparison_id, document_id, result (1 for the ad that was picked), worker_id, completed_at; 74 comparisons occur twice.
The authors' R package documents the same columns (repository carlson9/SentimentIt, R/readInData.R). Their scripts there
read the texts with read.table from a file StoryboardWithIds with the columns text and ids; it is not known whether the
archive contains that file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordinate.data.cells import id_text, numbers
from ordinate.data.comparisons import Comparison, check_comparison
from ordinate.data.items import Items
from ordinate.datasets.dataset import Dataset
from ordinate.datasets.layout import Expected, find, read_table, require
from ordinate.errors import InvalidInput, naming

_BELOW = ("WiscAds2008", "DataFiles/WiscAds2008", "APSRReplication/DataFiles/WiscAds2008")

BATCHES = Expected(
    "all_batches.csv",
    ("comparison_id", "document_id", "result", "worker_id"),
    note='Make it from all_batches.Rdata, in R: write.csv(get(load("all_batches.Rdata")), "all_batches.csv", '
    "row.names = FALSE)",
    below=_BELOW,
)
TEXTS = Expected(
    "texts.csv",
    ("ids", "text"),
    optional=True,
    note="The texts of the ads. Make it from the authors' StoryboardWithIds, in R: "
    'write.csv(read.table("StoryboardWithIds", header = TRUE), "texts.csv", row.names = FALSE)',
    below=_BELOW,
)
EXPECTS = (BATCHES, TEXTS)


def read_wisc_ads(folder: str | Path) -> Dataset:
    """The ads in order of first appearance, and the answers; the ordering starts with the most negative ad.

    The true order is unknown. The first of the two rows of a comparison is the left side.
    """
    folder = Path(folder)
    batches_file, texts_file = require(folder, BATCHES), find(folder, TEXTS)
    batches = read_table(batches_file, BATCHES)
    with naming(batches_file):
        comparisons, twice = _comparisons(batches)
    ids = list(dict.fromkeys(name for made in comparisons for name in (made.left, made.right)))
    content = {}
    if texts_file is not None:
        texts = read_table(texts_file, TEXTS)
        with naming(texts_file):
            content["text"] = _texts(texts, ids)
    notes = (f"duplicate rows, read once: {twice:,}",) if twice else ()
    return Dataset(Items(ids=ids, content=content), comparisons=tuple(comparisons), notes=notes)


def _comparisons(batches: dict[str, list[Any]]) -> tuple[list[Comparison], int]:
    """The comparisons in the order of their first row, and the number of duplicate rows."""
    picked = numbers(batches["result"], "result")
    names = ("comparison_id", "document_id", "worker_id")
    rows = list(zip(*(map(id_text, batches[name]) for name in names), picked.tolist(), strict=True))
    distinct = dict.fromkeys(rows)
    pairs: dict[str, list[tuple[str, str, float]]] = {}
    for comparison, document, worker, result in distinct:
        pairs.setdefault(comparison, []).append((document, worker, result))
    made = []
    for comparison, both in pairs.items():
        if len(both) != 2 or {result for *_, result in both} != {0.0, 1.0}:
            results = ", ".join(f"{document}: {result:g}" for document, _, result in both)
            raise InvalidInput(
                f"comparison_id {comparison!r} must have two rows, with result 1 for the ad that was picked and 0 for "
                f"the other; it has {results}"
            )
        (left, worker, result), (right, _, _) = both
        outcome = Comparison(left, right, "left" if result == 1 else "right", worker)
        made.append(check_comparison(outcome, f"comparison_id {comparison!r}: "))
    return made, len(rows) - len(distinct)


def _texts(table: dict[str, list[Any]], ids: list[str]) -> list[str]:
    """The text of each ad. If an id occurs more than once, its first text is used."""
    known: dict[str, str] = {}
    for name, text in zip(map(id_text, table["ids"]), table["text"], strict=True):
        known.setdefault(name, str(text))
    missing = [name for name in ids if name not in known]
    if missing:
        raise InvalidInput(f"{len(missing):,} compared ads have no text here, among them {missing[0]!r}")
    return [known[name] for name in ids]
