"""Feature matrices that stay in their file: the same rows as in memory, checked, and never confused with another."""

import os
from pathlib import Path

import numpy as np
import pytest

from ordinate.data.formats.matrix import open_matrix
from ordinate.data.items import Items
from ordinate.data.matrices import FileMatrix, StackedMatrix, row_blocks, stacked
from ordinate.errors import FeaturesChanged, InvalidInput
from ordinate.study.study import Study


@pytest.fixture
def values() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)


def saved(folder: Path, values: np.ndarray) -> Path:
    path = folder / "features.npy"
    np.save(path, values)
    return path


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_those_of_the_file(tmp_path: Path, values: np.ndarray, order: str) -> None:
    matrix = FileMatrix.read(saved(tmp_path, np.asarray(values, order=order)))  # type: ignore[call-overload]
    assert (matrix.shape, matrix.size, len(matrix), matrix.ndim) == ((20, 3), 60, 20, 2)
    for rows in (slice(0, 7), slice(15, 40), slice(4, 4), slice(None), slice(0, 20, 2), [3, 1, 3]):
        np.testing.assert_array_equal(matrix[rows], values[rows])


def test_blocks_of_rows_are_the_same_in_a_file_which_is_read_several_blocks_at_once(
    tmp_path: Path, values: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordinate.data.matrices._AT_ONCE", 20)
    matrix = FileMatrix.read(saved(tmp_path, values))
    read: list[Path] = []

    def counted(path: Path) -> np.ndarray:
        read.append(path)
        return open_matrix(path)

    monkeypatch.setattr("ordinate.data.matrices.open_matrix", counted)
    for rows, reads in [(3, 4), (7, 3), (20, 1), (99, 1)]:
        read.clear()
        for (start, block), begin in zip(row_blocks(matrix, rows), range(0, 20, rows), strict=True):
            assert start == begin
            np.testing.assert_array_equal(block, values[begin : begin + rows])
        assert len(read) == reads
    assert not list(row_blocks(values[:0], 5))
    assert [block.shape for _, block in row_blocks(np.empty((3, 0)), 2)] == [(2, 0), (1, 0)]


def test_stacked_rows_are_those_below_each_other(tmp_path: Path, values: np.ndarray) -> None:
    both = stacked(stacked(FileMatrix.read(saved(tmp_path, values)), values[:5] + 1), values[:2] + 2)
    plain = np.concatenate([values, values[:5] + 1, values[:2] + 2])
    assert isinstance(both, StackedMatrix)
    assert both.shape == plain.shape
    for rows in (slice(0, 7), slice(18, 22), slice(19, 27), slice(21, 21), slice(None), [26, 0, 20, 24]):
        np.testing.assert_array_equal(both[rows], plain[rows])
    assert isinstance(stacked(values, values), np.ndarray)
    np.testing.assert_array_equal(both.astype("<f8"), plain.astype("<f8"))


def test_numbers_that_are_none_are_named(tmp_path: Path, values: np.ndarray) -> None:
    values[7, 2] = np.nan
    path = saved(tmp_path, values)
    with pytest.raises(InvalidInput, match=r"item 'i7' \(row 8\), column 3, hold nan"):
        Items.from_columns({"id": [f"i{row}" for row in range(20)]}, features=path)


def test_the_wrong_number_of_rows(tmp_path: Path, values: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="20 rows for 2 items"):
        Items.from_columns({"id": ["a", "b"]}, features=saved(tmp_path, values))


def test_a_change_is_found(tmp_path: Path, values: np.ndarray) -> None:
    path = saved(tmp_path, values)
    matrix = FileMatrix.read(path)
    os.utime(path, ns=(1, 1))  # another time, the same contents
    matrix.check()
    saved(tmp_path, values + 1)
    with pytest.raises(FeaturesChanged, match=r"not the one that the study was made with.*db features"):
        matrix.check()
    os.utime(path, ns=(matrix.modified_ns, matrix.modified_ns))  # the same size and time: only a thorough look tells
    matrix.check()
    with pytest.raises(FeaturesChanged):
        matrix.check(thorough=True)
    path.unlink()
    with pytest.raises(FeaturesChanged, match="is not there"):
        matrix.check()


def test_a_study_is_made_of_the_items_of_another_whose_features_are_partly_in_a_file(
    tmp_path: Path, values: np.ndarray
) -> None:
    study = Study.create(Items([f"i{row}" for row in range(20)], saved(tmp_path, values)))  # type: ignore[arg-type]
    study.add_items(Items(["new"], values[:1]))
    with Study.create(study.items, storage=f"sqlite:///{tmp_path / 'study.db'}") as made:
        np.testing.assert_array_equal(made.items.features, np.vstack([values, values[:1]]).astype(float))
