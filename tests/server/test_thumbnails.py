"""Small versions of pictures: how large, which way up, for whom, and of what there is none."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from ordinate.data.items import Items
from ordinate.data.thumbnails import SIZE, thumbnail


def opened(data: bytes | None) -> Image.Image:
    assert data is not None
    return Image.open(io.BytesIO(data))


def test_a_thumbnail_is_small_and_upright_and_for_those_with_a_link(build: Any, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (1500, 3000, 3)).astype(np.uint8)
    rotated = Image.Exif()
    rotated[0x0112] = 6  # to be turned by a quarter
    Image.fromarray(pixels).save(tmp_path / "large.jpg", exif=rotated)
    site = build(Items(["a", "b"], content={"image": ["large.jpg", None]}))
    ann = site.browser("Ann")
    (query,) = ann.ask()
    (url,) = (item["thumbnail_url"] for item in (query["left"], query["right"]) if item["thumbnail_url"])
    response = ann.client.get(url)
    assert opened(response.content).size == (SIZE // 2, SIZE)
    assert len(response.content) < (tmp_path / "large.jpg").stat().st_size / 20
    assert response.headers["content-type"] == "image/webp"
    assert response.headers["cache-control"] == "private, max-age=86400"
    assert TestClient(site.app).get(url).status_code == 401
    # A file that changes gets a new one.
    Image.new("RGB", (10, 10), "red").save(tmp_path / "large.jpg")
    assert opened(ann.client.get(url).content).size == (10, 10)


@pytest.mark.parametrize(
    ("image", "mode"),
    [
        (Image.new("RGBA", (8, 8), (0, 0, 0, 0)), "RGBA"),
        (Image.new("LA", (8, 8)), "RGBA"),
        (Image.new("P", (8, 8)), "RGB"),
        (Image.new("1", (8, 8)), "RGB"),
    ],
)
def test_transparent_pictures_stay_transparent(image: Image.Image, mode: str) -> None:
    written = io.BytesIO()
    image.save(written, "PNG")
    assert opened(thumbnail(io.BytesIO(written.getvalue()))).mode == mode


def test_deep_greys_span_black_to_white() -> None:
    written = io.BytesIO()
    Image.fromarray(np.linspace(1000, 3000, 64 * 64).reshape(64, 64).astype(np.uint16)).save(written, "PNG")
    values = np.asarray(opened(thumbnail(io.BytesIO(written.getvalue()))).convert("L"))
    assert values.min() < 10
    assert values.max() > 245


def test_there_is_none_of_what_is_no_picture(build: Any, tmp_path: Path) -> None:
    (tmp_path / "cut.jpg").write_bytes(b"\xff\xd8\xff" + bytes(100))
    (tmp_path / "page.png").write_bytes(b"<html></html>")
    Image.new("RGB", (4, 4), "red").save(tmp_path / "in-table.png")
    table = "data:image/png;base64," + base64.b64encode((tmp_path / "in-table.png").read_bytes()).decode()
    places = ["cut.jpg", "page.png", "missing.png", table, None]
    client = build(Items([f"item {k}" for k in range(5)], content={"image": places})).browser().client
    found = [client.get(f"/media/essays/{row}/thumbnail").status_code for row in range(6)]
    assert found == [404, 404, 404, 200, 404, 404]


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    written = io.BytesIO()
    Image.new("1", (30_000, 5_000)).save(written, "PNG")
    with pytest.warns(Image.DecompressionBombWarning):
        assert thumbnail(io.BytesIO(written.getvalue())) is None
