"""An embedding on disk: whole, found by id, and readable by other tools."""

import numpy as np
import pytest

from ordinate.data.items import Items
from ordinate.embedding import embed, read_embedding, write_embedding
from ordinate.errors import InvalidInput

ITEMS = Items(["001", "näme", "c"], content={"text": ["one", "two", "three"]})


@pytest.mark.parametrize("pca", [None, 2])
def test_what_is_written_is_read_by_id_in_any_order(batches, tmp_path, pca):
    made, recipe = embed(ITEMS, pca=pca)
    assert write_embedding(tmp_path / "a.npz", made, recipe) == [tmp_path / "a.npz"]
    some = Items(["c", "001"], group=["g", "g"])
    read, kept = read_embedding(tmp_path / "a.npz", some)
    assert (read.ids, read.group) == (some.ids, some.group)
    np.testing.assert_array_equal(read.features, made.features[[2, 0]])
    assert (kept.encoder, kept.content, kept.fingerprint) == (recipe.encoder, recipe.content, recipe.fingerprint)
    if pca is None:
        assert kept.projection is None
    else:
        assert kept.projection is not None
        assert recipe.projection is not None
        np.testing.assert_array_equal(kept.projection.mean, recipe.projection.mean)
        np.testing.assert_array_equal(kept.projection.components, recipe.projection.components)


def test_the_matrix_alone_has_its_ids_beside_it(batches, tmp_path):
    made, recipe = embed(ITEMS)
    files = write_embedding(tmp_path / "a.npy", made, recipe)
    assert files == [tmp_path / "a.npy", tmp_path / "a.ids.txt"]
    np.testing.assert_array_equal(np.load(files[0]), made.features)
    assert files[1].read_text(encoding="utf-8").splitlines() == list(ITEMS.ids)


def test_what_does_not_fit_is_refused(batches, tmp_path):
    made, recipe = embed(ITEMS)
    with pytest.raises(InvalidInput, match=r"a\.csv: an embedding is a \.npz file"):
        write_embedding(tmp_path / "a.csv", made, recipe)
    broken, _ = embed(Items(["a\nb", "c"], content={"text": ["one", "two"]}))
    with pytest.raises(InvalidInput, match="does not fit on one line"):
        write_embedding(tmp_path / "b.npy", broken, recipe)
    assert not list(tmp_path.glob("*.np?"))
    write_embedding(tmp_path / "a.npz", made, recipe)
    with pytest.raises(InvalidInput, match=r"a\.npz: item 'd' is not in this file \(2 are missing\)"):
        read_embedding(tmp_path / "a.npz", Items(["c", "d", "e"]))


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "other arrays", "pickle"])
def test_what_is_no_embedding_is_refused(batches, tmp_path, damage):
    path = tmp_path / "a.npz"
    write_embedding(path, *embed(ITEMS))
    whole = path.read_bytes()
    if damage == "other arrays":
        np.savez(path, features=np.eye(3))
    elif damage == "pickle":
        np.savez(path, ids=np.array([object()]), features=np.eye(3), encoder="", content="", fingerprint="")
    else:
        path.write_bytes({"empty": b"", "text": b"hello", "cut": whole[:-200]}[damage])
    with pytest.raises(InvalidInput, match=r"a\.npz: not an embedding, or a damaged one"):
        read_embedding(path, ITEMS)
