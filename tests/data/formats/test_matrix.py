from pathlib import Path

import numpy as np
import pytest

from ordinate.data.formats import read_matrix
from ordinate.errors import InvalidInput, StorageFailed


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int32", "uint8", "bool", ">f8"])
@pytest.mark.parametrize("shape", [(3, 2), (0, 2), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_numpy_saved_is_read(tmp_path: Path, dtype: str, shape: tuple[int, int], order: str) -> None:
    saved = np.arange(shape[0] * shape[1]).reshape(shape).astype(dtype, order=order)  # type: ignore[call-overload]
    np.save(tmp_path / "x.npy", saved)
    matrix = read_matrix(str(tmp_path / "x.npy"))
    np.testing.assert_array_equal(matrix, saved)
    assert type(matrix) is np.ndarray
    assert matrix.flags.owndata  # the file can be replaced while the matrix is in use


def test_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"

    def refused(message: str) -> None:
        with pytest.raises(InvalidInput, match=message) as caught:
            read_matrix(path)
        assert str(caught.value).startswith(f"{path}: ")

    np.save(path, np.array([[1, "a"]], dtype=object), allow_pickle=True)
    refused(r"holds Python objects, not numbers; convert it with matrix\.astype\(float\)")
    np.save(path, np.array([["a", "b"]]))
    refused("holds <U1, not numbers")
    np.save(path, np.ones((2, 2), dtype=complex))
    refused("holds complex128, not numbers")
    np.save(path, np.ones(5))
    refused(r"two axes.*shape \(5,\); for one column, reshape it")
    np.save(path, np.ones((2, 2, 2)))
    refused(r"two axes.*shape \(2, 2, 2\)$")
    np.save(path, np.ones((100, 10)))
    whole = path.read_bytes()
    for length in (5, 9, 60, 200, len(whole) - 1):
        path.write_bytes(whole[:length])
        refused("cut short or damaged" if length > 5 else "no .npy file")
    path.write_bytes(whole.replace(b"(100, 10)", b"(10**9, 9)"))
    refused("cut short or damaged")
    path.write_bytes(whole.replace(b"(100, 10), }     ", b"(999999999999,7)}"))
    refused("cut short or damaged")
    path.write_bytes(whole.replace(b"(100, 10)", b"(100, 10 "))
    refused("cut short or damaged")
    path.write_bytes(whole.replace(b"'shape'", b"b'shap'"))
    refused("cut short or damaged")
    path.write_text("1,2\n3,4\n")
    refused("no .npy file, whatever its suffix says")
    path.write_bytes(b"")
    refused("the file is empty")
    np.savez(tmp_path / "x.npz", x=np.ones((2, 2)))
    path.write_bytes((tmp_path / "x.npz").read_bytes())
    refused("npz archive")


def test_wrong_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file"):
        read_matrix(tmp_path / "absent.npy")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_matrix(tmp_path)
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(InvalidInput, match=r"a feature matrix is a \.npy file"):
        read_matrix(tmp_path / "x.csv")


@pytest.mark.usefixtures("ordinary_user")
def test_not_to_be_read(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((2, 2)))
    (tmp_path / "x.npy").chmod(0)
    with pytest.raises(StorageFailed, match="permission denied"):
        read_matrix(tmp_path / "x.npy")
