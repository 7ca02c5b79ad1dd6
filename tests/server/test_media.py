"""Files of items: whose, which, and from where."""

from __future__ import annotations

import base64
import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from ordinate.data.items import Items
from ordinate.errors import InvalidInput
from ordinate.server.pages import SMALL


@pytest.fixture
def picture(tmp_path: Path) -> bytes:
    Image.new("RGB", (3, 2), "red").save(tmp_path / "a.png")
    return (tmp_path / "a.png").read_bytes()


def test_pictures_come_to_those_with_a_link(build, picture):
    site = build(Items(["a", "b"], content={"image": ["a.png", None]}))
    ann = site.browser("Ann")
    (query,) = ann.ask()
    url = next(item["image_url"] for item in (query["left"], query["right"]) if item["image_url"])
    assert "a.png" not in url
    response = ann.client.get(url)
    assert response.content == picture
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]
    assert "private" in response.headers["cache-control"]
    assert TestClient(site.app).get(url).status_code == 401
    token = site.token()
    assert site.client.get(url, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_parts_of_a_sound_come_when_asked_for(build, tmp_path):
    (tmp_path / "a.mp3").write_bytes(b"ID3" + bytes(1000))
    site = build(Items(["a", "b"], content={"audio": ["a.mp3", None]}))
    response = site.browser().client.get("/media/essays/0/audio", headers={"Range": "bytes=0-2"})
    assert (response.status_code, response.content) == (206, b"ID3")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.png", b"<html><script>alert(1)</script></html>"),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("text.jpg", b"root:x:0:0:root:/root:/bin/bash\n"),
        ("empty.png", b""),
        ("script.mp3", b"alert(1)"),
    ],
)
def test_what_is_no_picture_is_not_sent_whatever_its_name(build, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    site = build(Items(["a", "b"], content={"image": [name, None], "audio": [name, None]}))
    ann = site.browser()
    assert ann.client.get("/media/essays/0/image").status_code == 404
    assert ann.client.get("/media/essays/0/audio").status_code == 404


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>.png", 'a"b.png', "a\nb.png", "ü ?#%2e.png"])
def test_any_file_name_does(build, tmp_path, picture, name):
    (tmp_path / name).write_bytes(picture)
    site = build(Items(["a", "b"], content={"image": [name, None]}))
    ann = site.browser()
    assert ann.client.get("/media/essays/0/image").content == picture
    assert name not in ann.client.get("/judge/essays").text


@pytest.mark.parametrize("place", ["../secret.png", "/etc/passwd", "sub/../../secret.png", "link.png"])
def test_files_outside_the_study_are_not_served(build, tmp_path, picture, place):
    (tmp_path.parent / "secret.png").write_bytes(picture)
    (tmp_path / "sub").mkdir(exist_ok=True)
    if not os.path.lexists(tmp_path / "link.png"):
        (tmp_path / "link.png").symlink_to(tmp_path.parent / "secret.png")
    with pytest.raises(InvalidInput, match=r"lies outside .* --media"):
        build(Items(["a", "b"], content={"image": [place, None]}))


def test_a_file_that_moves_outside_later_is_not_served(build, tmp_path, picture):
    site = build(Items(["a", "b"], content={"image": ["a.png", None]}))
    (tmp_path.parent / "secret.png").write_bytes(picture)
    (tmp_path / "a.png").unlink()
    (tmp_path / "a.png").symlink_to(tmp_path.parent / "secret.png")
    assert site.browser().client.get("/media/essays/0/image").status_code == 404


def test_a_folder_that_is_named_is_served(build, tmp_path, picture, tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    (folder / "b.png").write_bytes(picture)
    items = Items(["a", "b"], content={"image": [str(folder / "b.png"), None]})
    site = build(items, app={"media_folders": [folder]})
    assert site.browser().client.get("/media/essays/0/image").content == picture


@pytest.mark.parametrize(
    "path",
    [
        "/media/essays/../image",
        "/media/essays/0/..%2f..%2f..%2fetc%2fpasswd",
        "/media/essays/-1/image",
        "/media/essays/99/image",
        "/media/essays/0/text",
        "/media/essays/0/__class__",
        "/media/..%2fessays/0/image",
        "/static/..%2f..%2fapp.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
    ],
)
def test_no_path_of_the_request_reaches_the_disk(build, picture, path):
    site = build(Items(["a", "b"], content={"image": ["a.png", None]}))
    assert site.browser().client.get(path).status_code in (404, 422)


@pytest.mark.parametrize(
    "place", ["../x.png", "/etc/x.png", "C:\\x.png", "..\\x.png", "a/../../x.png", "file:///etc/passwd", "link.png"]
)
def test_items_that_come_over_the_network_name_no_files_elsewhere(site, tmp_path, picture, place):
    (tmp_path.parent / "x.png").write_bytes(picture)
    (tmp_path / "link.png").symlink_to(tmp_path.parent / "x.png")
    owner = site.program("owner")
    new = {"items": [{"id": "new", "features": [1, 2, 3], "text": "x", "image": place}]}
    response = owner.post("/items", new)
    assert response.status_code == 422
    assert str(tmp_path.parent) not in response.text.replace(place, "")
    assert len(site.study.items) == 12


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("page.png", "is an HTML page, which browsers do not show"),
        ("empty.png", "is empty; save or copy it again"),
        ("short.png", "is a picture that is cut short"),
        ("none.png", "is no file in the folder of the study"),
        ("ftp://example.org/a.png", "is an address that annotators cannot open"),
        ("data:text/html,<b>", "is a data: URL that holds no image"),
    ],
)
def test_items_that_come_over_the_network_are_checked_as_those_of_a_table(site, tmp_path, picture, image, reason):
    (tmp_path / "page.png").write_bytes(b"<html><b>hi</b></html>")
    (tmp_path / "empty.png").touch()
    (tmp_path / "short.png").write_bytes(picture[:-30])
    (tmp_path / "whole.png").write_bytes(picture)
    owner = site.program("owner")

    def send(*images):
        items = [{"id": f"new {place}", "features": [1, 2, 3], "text": "x", "image": place} for place in images]
        return owner.post("/items", {"items": items})

    refused = send("whole.png", image)
    assert refused.status_code == 422
    assert f"row 2, item 'new {image}': image '{image}' {reason}" in refused.json()["detail"]
    study = {"name": "other", "items": [{"id": "a", "image": image}, {"id": "b", "text": "b"}]}
    assert owner.client.post("/api/v1/studies", json=study, headers=owner.headers).status_code == 422
    assert not (tmp_path / "other.db").exists()
    assert send("whole.png", "https://example.org/a.png").status_code == 200
    assert len(site.study.items) == 14


@pytest.mark.parametrize("written", [False, True])
def test_greys_of_twelve_bits_are_sent_as_versions_that_browsers_show(build, tmp_path, written):
    ramp = np.linspace(100, 4000, 64 * 64).reshape(64, 64).astype(np.uint16)
    ramp[0, :5] = 65535  # a marker that was burned in
    file = io.BytesIO()
    Image.fromarray(ramp).save(file, "PNG")
    (tmp_path / "deep.png").write_bytes(file.getvalue())
    place = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode() if written else "deep.png"
    site = build(Items(["a", "b"], content={"image": [place, None]}))
    ann = site.browser()
    sent = ann.client.get("/media/essays/0/image")
    assert sent.headers["content-type"] == "image/png"
    assert "sandbox" in sent.headers["content-security-policy"]
    picture = Image.open(io.BytesIO(sent.content))
    assert picture.mode == "L"
    shown = np.asarray(picture)
    assert [np.percentile(shown, share) for share in (2, 50, 98)] == pytest.approx([4, 127, 251], abs=2)
    again = ann.client.get("/media/essays/0/image", headers={"If-None-Match": sent.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert TestClient(site.app).get("/media/essays/0/image").status_code == 401
    # What the file holds now is what is sent.
    if not written:
        Image.fromarray(ramp[::-1].copy()).save(tmp_path / "deep.png")
        turned = np.asarray(Image.open(io.BytesIO(ann.client.get("/media/essays/0/image").content)))
        assert turned[0].mean() > turned[-10].mean()


def test_cmyk_is_sent_in_colours_that_browsers_show(build, tmp_path):
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(tmp_path / "red.jpg")
    site = build(Items(["a", "b"], content={"image": ["red.jpg", None]}))
    sent = site.browser().client.get("/media/essays/0/image")
    assert sent.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(sent.content)).mode == "RGB"


def test_pictures_written_into_the_table(build, picture):
    written = "data:image/png;base64," + base64.b64encode(picture).decode()
    hostile = "data:text/html;base64," + base64.b64encode(b"<script>alert(1)</script>").decode()
    site = build(Items(["a", "b"], content={"image": [written, hostile]}))
    ann = site.browser()
    response = ann.client.get("/media/essays/0/image")
    assert (response.content, response.headers["content-type"]) == (picture, "image/png")
    assert ann.client.get("/media/essays/1/image").status_code == 404


@pytest.fixture
def sound(build, tmp_path):
    """Fetches a sound of so many bytes, with what else is asked for."""
    site = build(Items(["a", "b"], content={"audio": ["a.mp3", None]}))
    ann = site.browser()

    def fetch(size, **headers):
        content = (b"ID3" + bytes(range(256)) * (size // 256 + 1))[:size]
        (tmp_path / "a.mp3").write_bytes(content)
        os.utime(tmp_path / "a.mp3", (1e9, 1e9))
        return ann.client.get("/media/essays/0/audio", headers=headers), content

    return fetch


@pytest.mark.parametrize("size", [SMALL, SMALL + 1])
def test_small_files_and_large_ones_come_alike(sound, size):
    """A small one is read at once, a large one in pieces."""
    response, content = sound(size)
    assert response.status_code == 200
    assert response.content == content
    state = str(1e9) + "-" + str(size)
    assert {name: response.headers[name] for name in ("accept-ranges", "content-length", "content-type", "etag")} == {
        "accept-ranges": "bytes",
        "content-length": str(size),
        "content-type": "audio/mpeg",
        "etag": f'"{hashlib.md5(state.encode()).hexdigest()}"',
    }
    assert response.headers["last-modified"] == "Sun, 09 Sep 2001 01:46:40 GMT"
    assert "sandbox" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "private, max-age=3600"
    assert "content-disposition" not in response.headers
    again, _ = sound(size, **{"If-None-Match": response.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    part, _ = sound(size, Range="bytes=10-19")
    assert (part.status_code, part.content) == (206, content[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{size}"
    beyond, _ = sound(size, Range=f"bytes={size}-")
    assert beyond.status_code == 416
    changed, _ = sound(size, Range="bytes=10-19", **{"If-Range": '"other"'})
    assert (changed.status_code, changed.content) == (200, content)


def test_a_picture_that_is_replaced_is_looked_at_again(build, tmp_path):
    """Which version a browser is sent depends on the file as it is now."""
    Image.new("L", (3, 2), 7).save(tmp_path / "a.png")
    ann = build(Items(["a", "b"], content={"image": ["a.png", None]})).browser()
    assert Image.open(io.BytesIO(ann.client.get("/media/essays/0/image").content)).mode == "L"
    Image.fromarray(np.full((2, 3), 40_000, np.uint16)).save(tmp_path / "a.png")
    os.utime(tmp_path / "a.png", (1e9, 1e9))
    assert Image.open(io.BytesIO(ann.client.get("/media/essays/0/image").content)).mode != "I;16"
