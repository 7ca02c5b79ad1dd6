"""Attacks by files that are dropped on the page where studies are made, and on the roles of a server of a folder."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.server.test_folder import PHOTOS, Folder, picture

from ordinate.server.signing import LinkSigner

HOSTILE_NAMES = [
    "../../../../etc/passwd",
    "..\\..\\windows\\system32\\a.png",
    "/etc/cron.d/job",
    "C:\\autoexec.bat",
    "a/../../b",
    "-rf",
    "'; DROP TABLE log; --",
    '"><img src=x onerror=alert(1)>.png',
    "%2e%2e%2fb",
    "con.png",
    "photos.db",
    "media",
]


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path / "served")
    yield made
    made.close()


@pytest.fixture
def draft(folder):
    return folder.dropped({})


def files_below(folder: Folder) -> list[Path]:
    return [path for path in folder.path.rglob("*") if path.is_file() and path.name != "manifest.jsonl"]


# Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_is_an_id_and_never_a_path(folder, draft, tmp_path, name):
    before = sorted(path for path in tmp_path.rglob("*") if ".drafts" not in path.parts)
    assert folder.drop(draft, name, picture(1)).status_code == 201
    assert sorted(path for path in tmp_path.rglob("*") if ".drafts" not in path.parts) == before
    (stored,) = files_below(folder)
    assert stored.parent == folder.path / ".drafts" / draft / "media"
    assert stored.stem.isalnum()
    assert folder.drop(draft, "z.png", picture(2)).status_code == 201
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "hostile"}).status_code == 201
    assert folder.client.get("/media/hostile/0/image").status_code == 200


@pytest.mark.parametrize("name", ["", "..", "a\x00b", "a\nb", "\u202egnp.exe", "x" * 301, "/"])
def test_what_is_no_name_is_refused(folder, draft, name):
    assert folder.drop(draft, name, picture(1)).status_code == 422
    assert files_below(folder) == []


def test_bytes_of_a_name_that_are_no_text_are_replaced(folder, draft):
    """As in every address; %ED%A0%80 would be half of a character."""
    address = f"/api/v1/server/drafts/{draft}/files?name=%ED%A0%80.png"
    kept = folder.client.put(address, content=picture(1), headers=folder.headers)
    assert kept.status_code == 201
    assert kept.json()["name"] == "\ufffd\ufffd\ufffd.png"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.png", b"<!doctype html><script>alert(1)</script>"),
        ("drawing.svg", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        ("drawing.png", b"<?xml version='1.0'?><svg onload='alert(1)'/>"),
        ("program.jpg", b"MZ\x90\x00" + bytes(100)),
        ("program.png", b"\x7fELF" + bytes(100)),
        ("document.png", b"%PDF-1.7 " + bytes(100)),
        ("nothing.png", b""),
        ("cut.png", picture(1)[:40]),
        ("cut.jpg", picture(1, "JPEG")[:300]),
        ("noise.png", bytes(range(256))),
        ("text.txt", b"\xff\xfe\x00"),
        ("list.parquet", b"PAR1" + bytes(100)),
        (".hidden.png", picture(1)),
        ("Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ],
)
def test_what_cannot_be_shown_is_refused_whatever_its_name(folder, draft, name, content):
    refused = folder.drop(draft, name, content)
    assert refused.status_code == 422, refused.text
    assert name in refused.json()["detail"]
    assert str(folder.path) not in refused.text
    assert files_below(folder) == []


def zipped(levels: int, size: int) -> bytes:
    data = bytes(size)
    for _ in range(levels):
        written = io.BytesIO()
        with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.png", data)
        data = written.getvalue()
    return data


def png_bomb(side: int) -> bytes:
    """A picture of side x side pixels in some kilobytes, whole and well-formed."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(side // 8 + 1)) for _ in range(side)) + packer.flush()
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_archives_are_not_unpacked(folder, draft):
    for name in ("bomb.zip", "bomb.png", "bomb.csv", "bomb.txt"):
        refused = folder.drop(draft, name, zipped(2, 10_000_000))
        assert refused.status_code == 422
    assert files_below(folder) == []


def test_a_picture_that_unfolds_to_gigabytes_is_refused(folder, draft):
    bomb = png_bomb(30_000)
    assert len(bomb) < 1_000_000
    refused = folder.drop(draft, "bomb.png", bomb)
    assert refused.status_code == 422
    assert "too large" in refused.json()["detail"]
    written = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(written, "TIFF", compression="group4")
    refused = folder.drop(draft, "bomb.tiff", written.getvalue())
    assert refused.status_code == 422
    assert "too large" in refused.json()["detail"]
    assert files_below(folder) == []


@pytest.mark.parametrize(
    "tail",
    [b"<script>alert(1)</script>", b"<?php system('id'); ?>", b"PK\x03\x04" + bytes(60)],
    ids=["html", "php", "zip"],
)
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_picture_that_is_something_else_too_is_sent_as_a_picture_alone(folder, kind, tail):
    files = {"a.html": picture(1, kind) + tail, "b.png": picture(2)}
    made = folder.make("polyglot", files)
    assert made.status_code == 201, made.text
    sent = folder.client.get("/media/polyglot/0/image")
    assert sent.headers["content-type"] == f"image/{kind.lower()}"
    assert sent.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in sent.headers["content-security-policy"]
    small = folder.client.get("/media/polyglot/0/thumbnail")
    assert small.headers["content-type"] == "image/webp"
    assert tail not in small.content


def test_a_file_above_the_limit_is_not_kept(tmp_path):
    folder = Folder(tmp_path, upload=1000, text=500)
    draft = folder.dropped({})
    large = picture(1) + bytes(2000)
    assert folder.drop(draft, "a.png", large).status_code == 413
    without_length: Any = (large[start : start + 100] for start in range(0, len(large), 100))
    assert folder.drop(draft, "a.png", without_length).status_code == 413
    assert folder.drop(draft, "a.txt", b"x" * 800).status_code == 422
    assert files_below(folder) == []
    folder.close()


def test_very_many_files_are_refused(tmp_path):
    folder = Folder(tmp_path, upload_files=20)
    draft = folder.dropped({f"{k}.txt": b"%d" % k for k in range(20)})
    refused = folder.drop(draft, "one more.txt", b"x")
    assert refused.status_code == 413
    assert "at most 20 files" in refused.json()["detail"]
    assert len(files_below(folder)) == 20
    folder.close()


def test_all_files_of_a_study_together_have_a_limit(tmp_path):
    folder = Folder(tmp_path, upload_total=300)
    draft = folder.dropped({"0.txt": b"x" * 200})
    assert folder.drop(draft, "1.txt", b"y" * 101).status_code == 413
    assert folder.drop(draft, "2.txt", b"z" * 100).status_code == 201
    assert folder.drop(draft, "3.txt", b"z").status_code == 413
    folder.close()


def test_a_disk_that_is_nearly_full_takes_no_files(tmp_path):
    folder = Folder(tmp_path, upload_free=2**60)
    draft = folder.dropped({})
    assert folder.drop(draft, "a.png", picture(1)).status_code == 507
    assert files_below(folder) == []
    folder.close()


def test_the_same_file_again_is_the_same_and_another_of_its_name_is_refused(folder, draft):
    for _ in range(2):
        assert folder.drop(draft, "a.png", picture(1)).status_code == 201
    assert len(files_below(folder)) == 1
    assert folder.drop(draft, "a.png", picture(2)).status_code == 422


@pytest.mark.parametrize("name", ["../x", "0" * 16, "..%2f..%2fetc", "holiday"])
def test_a_draft_is_no_path(folder, name):
    assert folder.send("GET", f"/drafts/{name}").status_code == 404
    assert folder.send("POST", f"/drafts/{name}/study", {"name": "x"}).status_code == 404


def test_a_table_names_only_files_that_were_dropped(folder, tmp_path):
    (tmp_path / "secret.png").write_bytes(picture(7))
    rows = ["../../secret.png", str(tmp_path / "secret.png"), "file:///etc/passwd", "0.png", "1.png"]
    table = "id,image\n" + "".join(f"{k},{place}\n" for k, place in enumerate(rows))
    draft = folder.dropped({"t.csv": table.encode(), "0.png": picture(1), "1.png": picture(2)})
    refused = folder.send("POST", f"/drafts/{draft}/preview", {})
    assert refused.status_code == 422
    assert "https://" in refused.json()["detail"]
    table = table.replace("file:///etc/passwd", "../manifest.jsonl")
    draft = folder.dropped({"t.csv": table.encode(), "0.png": picture(1), "1.png": picture(2)})
    seen = folder.send("POST", f"/drafts/{draft}/preview", {}).json()
    assert [one["name"] for one in seen["refused"]] == ["0", "1", "2"]
    assert seen["items"] == 2


# Roles -----------------------------------------------------------------------------------------------------------

OWNER_OF_SERVER = [
    ("GET", "", None),
    ("POST", "/markdown", {"text": "x"}),
    ("POST", "/drafts", {}),
    ("GET", "/drafts/{draft}", None),
    ("DELETE", "/drafts/{draft}", None),
    ("PUT", "/drafts/{draft}/files?name=a.png", None),
    ("GET", "/drafts/{draft}/thumbnail?name=a.png", None),
    ("POST", "/drafts/{draft}/preview", {}),
    ("POST", "/drafts/{draft}/study", {"name": "x"}),
    ("POST", "/drafts/{draft}/items", {"study": "holiday"}),
    ("POST", "/studies/{study}/duplicate", {"name": "x"}),
    ("POST", "/studies/{study}/archive", {}),
    ("POST", "/studies/{study}/delete", {"name": "holiday"}),
    ("POST", "/archived/{study}/restore", {}),
    ("POST", "/archived/{study}/delete", {"name": "holiday"}),
]


def test_every_route_of_the_server_is_in_this_list(folder):
    paths = folder.client.get("/api/v1/openapi.json").json()["paths"]
    prefix = "/api/v1/server"
    known = {row[1].partition("?")[0] for row in OWNER_OF_SERVER}
    assert {path.removeprefix(prefix) for path in paths if path.startswith(prefix)} == known


@pytest.mark.parametrize(("method", "path", "body"), OWNER_OF_SERVER)
def test_only_the_owner_of_the_server_manages_its_folder(folder, method, path, body):
    folder.make("holiday", PHOTOS)
    address = "/api/v1/server" + path.format(draft=folder.dropped(PHOTOS), study="holiday")
    study, signer = folder.study("holiday"), folder.app.state.authenticator.signer
    for role in ("owner", "annotator"):
        headers = {"Authorization": f"Bearer {signer.link(study.token, study.make_link(role).id)}"}
        assert TestClient(folder.app).request(method, address, json=body, headers=headers).status_code == 401
    assert TestClient(folder.app).request(method, address, json=body).status_code == 401
    for csrf in ({}, {"X-CSRF-Token": "guess"}):
        if method != "GET":
            assert folder.client.request(method, address, json=body, headers=csrf).status_code == 403
    assert folder.studies() == ["holiday"]


def test_pages_of_the_owner_of_a_server_open_to_nobody_else(folder):
    folder.make("holiday", PHOTOS)
    for path in ("/", "/new", "/owner/holiday"):
        assert folder.client.get(path).status_code == 200
        assert TestClient(folder.app).get(path).status_code in (401, 404)
    study, signer = folder.study("holiday"), folder.app.state.authenticator.signer
    visitor = TestClient(folder.app)
    visitor.post(f"/join/holiday/{signer.link(study.token, study.make_link('owner').id)}", data={"name": "O"})
    assert visitor.get("/owner/holiday").status_code == 200
    assert visitor.get("/").status_code == 404


@pytest.mark.parametrize("forged", ["x", "x" * 5000, LinkSigner("another secret, long enough").server_link()])
def test_forged_links_of_a_server_are_refused(folder, forged):
    assert TestClient(folder.app).get(f"/enter/{forged}").status_code == 401
    assert TestClient(folder.app).post(f"/enter/{forged}").status_code == 401
    headers = {"Authorization": f"Bearer {forged}"}
    assert TestClient(folder.app).get("/api/v1/server", headers=headers).status_code == 401
    session = LinkSigner("another secret, long enough").server_session()
    for cookie in (forged, session):
        assert TestClient(folder.app, cookies={"ordinate-server": cookie}).get("/new").status_code == 404


def test_a_link_of_a_server_is_no_session_and_no_link_of_a_study(folder):
    folder.make("holiday", PHOTOS)
    signer, token = folder.app.state.authenticator.signer, folder.study("holiday").token
    assert TestClient(folder.app, cookies={"ordinate-server": signer.server_link()}).get("/").status_code == 404
    assert TestClient(folder.app).get(f"/join/holiday/{signer.server_link()}").status_code == 401
    assert (
        TestClient(folder.app, cookies={f"ordinate-{token}": signer.server_session()}).get("/owner/holiday").status_code
        == 401
    )


def test_whoever_judges_in_the_browser_of_the_owner_judges_as_themselves(folder):
    """The owner opens a link for annotators: that page acts for the annotator, and the owner's page for the owner."""
    made = folder.make("holiday", PHOTOS).json()
    folder.client.post(made["link"]["url"], data={"name": "Ann"})
    judging = folder.client.get("/judge/holiday").text
    owning = folder.client.get("/owner/holiday").text
    tokens = [page.partition('data-csrf="')[2].partition('"')[0] for page in (judging, owning)]
    assert tokens[0] != tokens[1]
    ann, owner = ({"X-CSRF-Token": token} for token in tokens)
    given = folder.client.post("/api/v1/studies/holiday/queries", json={}, headers=ann).json()
    assert given["queries"][0]["annotator"] == "Ann"
    assert folder.client.patch("/api/v1/studies/holiday/rules", json={"paused": True}, headers=ann).status_code == 403
    assert folder.client.patch("/api/v1/studies/holiday/rules", json={"paused": True}, headers=owner).status_code == 200


def test_the_owner_of_one_study_reads_no_pictures_of_another(folder):
    folder.make("holiday", PHOTOS)
    folder.make("mine", PHOTOS)
    picture_of_holiday = next((folder.path / "holiday" / "media").iterdir()).name
    (folder.path / "private").mkdir()
    (folder.path / "private" / "x.png").write_bytes(picture(77))
    # A study without a folder of its own, whose folder is that of all.
    server = {"Authorization": f"Bearer {folder.link.rpartition('/')[2]}"}
    body = {"name": "flat", "items": [{"id": "a", "image": "private/x.png"}, {"id": "b", "text": "b"}]}
    program = TestClient(folder.app)
    made = program.post("/api/v1/studies", json=body, headers=server)
    assert made.status_code == 201
    places = ("private/x.png", f"holiday/media/{picture_of_holiday}")
    signer = folder.app.state.authenticator.signer
    for name in ("mine", "flat"):
        study = folder.study(name)
        headers = {"Authorization": f"Bearer {signer.link(study.token, study.make_link('owner').id)}"}
        spy = {"name": "spy", "items": [{"id": str(row), "image": place} for row, place in enumerate(places)]}
        assert program.post("/api/v1/studies", json=spy, headers=headers).status_code == 403
        # Also without files: a study in the folder could be given some later.
        spy["items"] = [{"id": "a"}, {"id": "b"}]
        assert program.post("/api/v1/studies", json=spy, headers=headers).status_code == 403
        for place in places:
            address, items = f"/api/v1/studies/{name}/items", {"items": [{"id": "c", "image": place}]}
            assert program.post(address, json=items, headers=headers).status_code == (422 if name == "mine" else 403)
    assert "spy" not in folder.studies()
    assert [len(folder.study(name).items) for name in ("mine", "flat")] == [4, 2]
    plain = {"items": [{"id": "c", "image": "https://example.org/a.png"}]}
    assert program.post("/api/v1/studies/flat/items", json=plain, headers=headers).status_code == 200
    assert (
        program.post(
            "/api/v1/studies/flat/items", json={"items": [{"id": "d", "image": places[1]}]}, headers=server
        ).status_code
        == 200
    )
