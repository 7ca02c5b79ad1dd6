"""Items whose content can be shown: all that cannot is refused at once, and converted where asked for."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ordinate.data.items import Items
from ordinate.data.showing import shown, without_content
from ordinate.errors import InvalidInput


@pytest.fixture
def mixed(tmp_path: Path) -> Items:
    """A picture that browsers show, and three that they do not show, or not rightly."""
    Image.new("RGB", (4, 4), "red").save(tmp_path / "a.png")
    Image.new("RGB", (4, 4), "red").save(tmp_path / "b.tif")
    Image.fromarray(np.arange(64, dtype=np.uint16).reshape(8, 8) * 60).save(tmp_path / "c.png")
    pages = [Image.new("L", (4, 4), value) for value in (40, 200)]
    pages[0].save(tmp_path / "d.tif", save_all=True, append_images=pages[1:])
    return Items(list("abcd"), content={"image": ["a.png", "b.tif", "c.png", "d.tif"]})


def test_all_that_cannot_be_shown_is_named(tmp_path: Path, mixed: Items) -> None:
    message = (
        r"^2 files or addresses cannot be shown to annotators: row 2, item 'b': image 'b.tif' is a TIFF picture, which "
        r"browsers do not show; row 4, item 'd': image 'd.tif' is a TIFF .* To go on: convert all of them"
    )
    with pytest.raises(InvalidInput, match=message), shown(mixed, tmp_path):
        pass


def test_of_many_the_first_are_named(tmp_path: Path) -> None:
    items = Items([str(row) for row in range(9)], content={"image": [f"{row}.png" for row in range(9)]})
    with (
        pytest.raises(
            InvalidInput, match=r"^9 files .*row 5, item '4'.*; and 4 more. To go on: correct them, or"
        ) as caught,
        shown(items, tmp_path),
    ):
        pass
    assert "'5.png'" not in str(caught.value)


def test_web_versions_are_written_beside_and_originals_stay(tmp_path: Path, mixed: Items) -> None:
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with shown(mixed, tmp_path, tmp_path / "web") as made:
        assert (made.converted, made.windowed, made.first_only, made.misshown) == (3, 1, 1, 0)
    a, b, c, d = (Path(str(place)) for place in made.items.content["image"])
    assert str(a) == "a.png"
    assert [path.suffix for path in (b, c, d)] == [".jpg", ".png", ".png"]
    assert {path.parent for path in (b, c, d)} == {tmp_path / "web"}
    assert {path: path.read_bytes() for path in before} == before
    with shown(made.items, tmp_path) as again:
        assert again == (again.items, 0, 0, 0, 0)


def test_pictures_that_come_out_wrong_are_counted(tmp_path: Path, mixed: Items) -> None:
    with shown(mixed.take([0, 2]), tmp_path) as made:
        assert (made.converted, made.misshown) == (0, 1)


def test_nothing_stays_where_what_follows_fails(tmp_path: Path, mixed: Items) -> None:
    def use() -> None:
        with shown(mixed, tmp_path, tmp_path / "web"):
            assert len(list((tmp_path / "web").iterdir())) == 3
            raise KeyError

    with pytest.raises(KeyError):
        use()
    assert not (tmp_path / "web").exists()


def test_a_picture_that_cannot_be_converted_is_named_and_nothing_stays(tmp_path: Path, mixed: Items) -> None:
    (tmp_path / "d.tif").write_bytes((tmp_path / "d.tif").read_bytes()[:90])
    refused = pytest.raises(InvalidInput, match=r"^1 file .*'d.tif' cannot be converted: it is")
    with refused as caught, shown(mixed, tmp_path, tmp_path / "web"):
        pass
    assert "--convert" not in str(caught.value)
    assert not (tmp_path / "web").exists()


def test_the_same_picture_is_written_once(tmp_path: Path, mixed: Items) -> None:
    items = Items(["x", "y"], content={"image": ["b.tif", str(tmp_path / "b.tif")]})
    with shown(items, tmp_path, tmp_path / "web") as made:
        assert made.converted == 2
    assert len(list((tmp_path / "web").iterdir())) == 1
    first = made.items.content["image"]
    with pytest.raises(KeyError), shown(items, tmp_path, tmp_path / "web"):
        raise KeyError("fails")
    assert Path(str(first[0])).exists(), "what was there before is kept"


@pytest.mark.parametrize("empty", [None, "", " \n\t"])
def test_items_with_nothing_to_show_beside_others_are_named_by_row(tmp_path: Path, empty: str | None) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    content = {"text": ["a text", empty, empty], "image": [None, None, "a.png"]}
    with shown(Items(list("abc"), content=content), tmp_path) as found:
        assert without_content(found.items) == ["row 2, item 'b'"]
        assert found.items.content["text"] == ("a text", None, None), "of blanks not even the id would be seen"


def test_where_all_are_known_by_their_ids_nothing_is_missing(tmp_path: Path) -> None:
    possible: list[dict[str, list[str | None]]] = [{"text": [None, ""], "image": [None, None]}, {}]
    for content in possible:
        with shown(Items(["a", "b"], content=content), tmp_path) as found:
            assert not without_content(found.items)
