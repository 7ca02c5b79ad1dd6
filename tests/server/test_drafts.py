"""Files that are dropped at awkward moments: while a study is made, on a full disk, in two requests at once, before a
kill."""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.server.test_folder import PHOTOS, Folder, picture

from ordinate.errors import MissingExtra, StorageFailed
from ordinate.server import drafts, making
from ordinate.server.drafts import Draft, Dropped, dropped_files
from ordinate.server.limits import Limits
from ordinate.server.problems import Problem
from ordinate.study.study import Study


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path / "served")
    yield made
    made.close()


def draft_of(folder: Folder, name: str) -> Draft:
    draft: Draft = folder.app.state.workspace.draft(name)
    return draft


def media(folder: Path) -> list[Path]:
    return sorted((folder / "media").iterdir())


# While a study is made ---------------------------------------------------------------------------------------------


def test_files_that_come_while_a_study_is_made_are_refused(folder, monkeypatch):
    go_on, made = threading.Event(), making.make

    def slow(*arguments: Any) -> int:
        go_on.wait(30)
        return made(*arguments)

    monkeypatch.setattr("ordinate.server.making.make", slow)
    draft = folder.dropped(PHOTOS)
    with ThreadPoolExecutor(1) as threads:
        making_it = threads.submit(folder.send, "POST", f"/drafts/{draft}/study", {"name": "one"})
        while folder.send("GET", f"/drafts/{draft}").json()["state"] != "working":
            assert not making_it.done()
        for place, method, body in (("study", "POST", {"name": "two"}), ("items", "POST", {"study": "one"})):
            assert folder.send(method, f"/drafts/{draft}/{place}", body).status_code in (404, 409)
        late = folder.drop(draft, "late.png", picture(200))
        assert late.status_code == 409
        assert "is being made" in late.json()["detail"]
        go_on.set()
        assert making_it.result().json()["items"] == 4
    assert len(media(folder.path / "one")) == len(folder.study("one").items) == 4
    assert folder.drop(draft, "later.png", picture(201)).status_code == 404


def test_a_file_that_is_being_checked_when_a_study_is_made_is_in_it(folder, monkeypatch):
    checking, go_on, keep = threading.Event(), threading.Event(), Draft._keep

    def slow(draft: Draft, name: str, arrived: Path) -> tuple[str, str]:
        checking.set()
        go_on.wait(30)
        return keep(draft, name, arrived)

    draft = folder.dropped(PHOTOS)
    monkeypatch.setattr(Draft, "_keep", slow)
    with ThreadPoolExecutor(2) as threads:
        dropping = threads.submit(folder.drop, draft, "holiday/last.png", picture(200))
        assert checking.wait(10)
        making_it = threads.submit(folder.send, "POST", f"/drafts/{draft}/study", {"name": "one"})
        while not draft_of(folder, draft).is_sealed:
            assert not making_it.done()
        go_on.set()
        assert dropping.result().status_code == 201
        assert making_it.result().json()["items"] == 5
    assert len(media(folder.path / "one")) == 5


def test_a_draft_of_which_no_study_could_be_made_takes_files_again(folder):
    draft = folder.dropped({"a.png": picture(1)})
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "one"}).status_code == 422
    assert folder.drop(draft, "b.png", picture(2)).status_code == 201
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "one"}).status_code == 201


def test_each_of_two_looks_at_once_is_answered(folder, monkeypatch):
    looking, go_on, find = threading.Event(), threading.Event(), making.find_items

    def slow(*arguments: Any) -> making.Found:
        looking.set()
        go_on.wait(30)
        return find(*arguments)

    monkeypatch.setattr("ordinate.server.making.find_items", slow)
    draft = folder.dropped(PHOTOS)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(folder.send, "POST", f"/drafts/{draft}/preview", {})
        assert looking.wait(10)
        second = threads.submit(folder.send, "POST", f"/drafts/{draft}/preview", {})
        while not folder.app.state.workspace._executors["look"]._work_queue.qsize():
            assert not second.done()
        go_on.set()
        assert [one.result().json()["items"] for one in (first, second)] == [4, 4]


def test_of_one_file_that_is_dropped_many_times_at_once_there_is_one(folder):
    draft = folder.dropped({})
    with ThreadPoolExecutor(6) as threads:
        replies = list(threads.map(lambda _: folder.drop(draft, "a.png", picture(1)).status_code, range(6)))
    assert replies == [201] * 6
    assert len(media(folder.path / ".drafts" / draft)) == len(dropped_files(folder.path / ".drafts" / draft)) == 1


# Records -------------------------------------------------------------------------------------------------------------


def test_a_record_that_was_cut_short_costs_its_own_file_alone(folder):
    draft = folder.dropped(PHOTOS)
    place = folder.path / ".drafts" / draft
    manifest = place / drafts.MANIFEST
    manifest.write_bytes(manifest.read_bytes()[:-20])  # a power cut
    (place / "half.part").write_bytes(b"x")
    folder.close()
    again = Folder(folder.path)
    assert again.send("GET", f"/drafts/{draft}").json()["files"] == 3
    assert (len(media(place)), list(place.glob("*.part"))) == (3, [])
    for name in ("holiday/3.png", "holiday/4.png"):
        assert again.drop(draft, name, picture(len(name) + int(name[8]))).status_code == 201
    assert again.send("POST", f"/drafts/{draft}/study", {"name": "one"}).json()["items"] == 5
    again.close()


def test_a_file_that_another_server_moves_meanwhile_is_no_stray(folder):
    draft = folder.dropped(PHOTOS)
    place = folder.path / ".drafts" / draft
    (place / "moved.part").symlink_to(place / "gone")  # found in the folder, and gone when it is looked at
    assert len(Draft(place, Limits(), alone=False).files()) == 4


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk with no more room: a write is cut short there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_record_that_does_not_fit_on_the_disk_is_not_begun(tmp_path):
    manifest, one = tmp_path / drafts.MANIFEST, Dropped("a.png", "image", "media/0.png", 10, "0")
    drafts._append(manifest, one)
    before = manifest.read_bytes()
    with files_of_at_most(len(before) + 10), pytest.raises(OSError, match="No space left"):
        drafts._append(manifest, one)
    assert manifest.read_bytes() == before
    drafts._append(manifest, one._replace(name="b.png"))
    assert [found.name for found in dropped_files(tmp_path)] == ["a.png", "b.png"]


# Room ----------------------------------------------------------------------------------------------------------------


class _FullDisk:
    def write(self, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def close(self) -> None: ...


def test_a_disk_that_fills_up_while_a_file_arrives_is_said(folder, monkeypatch):
    draft, opened = folder.dropped({}), Path.open

    def full(path: Path, mode: str = "r", *more: Any, **named: Any) -> Any:
        return _FullDisk() if path.suffix == ".part" and "x" in mode else opened(path, mode, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        refused = folder.drop(draft, "a.png", picture(1))
    assert (refused.status_code, refused.headers["content-type"]) == (507, "application/problem+json")
    assert "disk of the server is full" in refused.json()["detail"]
    assert folder.drop(draft, "a.png", picture(1)).status_code == 201


def test_a_disk_that_is_full_when_a_file_is_recorded_leaves_nothing_of_it(folder, monkeypatch):
    draft = folder.dropped({})

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(drafts, "_append", full)
        assert folder.drop(draft, "a.png", picture(1)).status_code == 507
    assert media(folder.path / ".drafts" / draft) == []


def test_room_is_held_for_files_that_are_arriving(tmp_path):
    folder = Folder(tmp_path, upload_total=1000, upload_files=2)
    name = folder.dropped({})
    draft = draft_of(folder, name)
    with draft.arriving(900):
        refused = folder.drop(name, "a.txt", b"x" * 200)
        assert (refused.status_code, "1,000 bytes together" in refused.text) == (413, True)
        with draft.arriving(50), pytest.raises(Problem, match="at most 2 files"), draft.arriving(1):
            pass
    assert folder.drop(name, "a.txt", b"x" * 200).status_code == 201
    free = shutil.disk_usage(tmp_path).free
    roomy = Draft(draft.folder, folder.app.state.limits.__class__(upload_free=free - 2**30))
    with pytest.raises(Problem, match="nearly full"), roomy.arriving(2**31):
        pass
    folder.close()


# Items that are added ------------------------------------------------------------------------------------------------


def test_a_server_that_is_killed_while_items_are_added_keeps_what_was_dropped(folder, monkeypatch, tmp_path):
    """As the folder stands before and after the study has the items."""
    folder.make("holiday", PHOTOS)
    draft = folder.dropped({"4.png": picture(250), "5.png": picture(251)})
    add = Study.add_items

    def killed(study: Study, items: Any) -> None:
        shutil.copytree(folder.path, tmp_path / "before")
        add(study, items)
        shutil.copytree(folder.path, tmp_path / "after")

    with monkeypatch.context() as patch:
        patch.setattr(Study, "add_items", killed)
        assert folder.send("POST", f"/drafts/{draft}/items", {"study": "holiday"}).status_code == 200
    assert not (folder.path / ".drafts" / draft).exists()
    for moment, status in (("before", 200), ("after", 422)):
        after = Folder(tmp_path / moment)
        assert after.send("GET", f"/drafts/{draft}").json()["files"] == 2
        assert after.send("POST", f"/drafts/{draft}/items", {"study": "holiday"}).status_code == status
        assert len(after.study("holiday").items) == len(media(after.path / "holiday")) == 6
        assert after.client.get("/media/holiday/5/image").content == picture(251)
        after.close()


@pytest.mark.parametrize("stored", [False, True])
def test_files_stay_where_it_is_not_known_whether_their_items_were_stored(folder, monkeypatch, stored):
    folder.make("holiday", PHOTOS)
    draft = folder.dropped({"4.png": picture(250)})
    add = Study.add_items

    def fail(study: Study, items: Any) -> None:
        if stored:
            add(study, items)
        raise StorageFailed("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Study, "add_items", fail)
        assert folder.send("POST", f"/drafts/{draft}/items", {"study": "holiday"}).status_code == 503
    again = folder.send("POST", f"/drafts/{draft}/items", {"study": "holiday"})
    assert again.status_code == (422 if stored else 200)
    assert folder.client.get("/media/holiday/4/image").content == picture(250)
    assert len(media(folder.path / "holiday")) == 5


# Studies that leave --------------------------------------------------------------------------------------------------


def test_a_study_that_cannot_be_moved_is_served_on(folder, monkeypatch):
    folder.make("holiday", PHOTOS)
    rename = Path.rename

    def fail(path: Path, target: Any) -> Path:
        if path.name == "holiday":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", fail)
        assert folder.send("POST", "/studies/holiday/archive", {}).status_code == 503
        assert folder.send("POST", "/studies/holiday/delete", {"name": "holiday"}).status_code == 503
    assert (folder.studies(), folder.overview()["archived"]) == (["holiday"], [])
    assert folder.client.get("/media/holiday/0/image").status_code == 200
    assert folder.send("POST", "/studies/holiday/archive", {}).status_code == 200


def test_of_two_who_archive_a_study_at_once_one_hears_that_it_is_gone(folder, monkeypatch):
    folder.make("holiday", PHOTOS)
    registry = folder.app.state.authenticator.registry
    both, remove = threading.Barrier(2), registry.remove

    def together(*arguments: Any) -> None:
        both.wait(10)
        remove(*arguments)

    monkeypatch.setattr(registry, "remove", together)
    with ThreadPoolExecutor(2) as threads:
        replies = threads.map(lambda _: folder.send("POST", "/studies/holiday/archive", {}).status_code, range(2))
        assert sorted(replies) == [200, 404]
    assert folder.overview()["archived"] == ["holiday"]


def test_what_is_being_deleted_is_left_alone_by_whoever_begins_a_study(folder):
    (folder.path / ".deleted" / "0" / "media").mkdir(parents=True)
    folder.dropped({})
    assert (folder.path / ".deleted" / "0" / "media").is_dir()


def test_a_study_that_cannot_be_served_stays_in_the_archive(folder):
    folder.make("holiday", PHOTOS)
    assert folder.send("POST", "/studies/holiday/archive", {}).status_code == 200
    file = folder.path / ".archive" / "holiday" / "holiday.db"
    whole = file.read_bytes()
    file.write_bytes(b"no study")
    assert folder.send("POST", "/archived/holiday/restore", {}).status_code == 503
    assert (folder.studies(), folder.overview()["archived"]) == ([], ["holiday"])
    file.write_bytes(whole)
    assert folder.send("POST", "/archived/holiday/restore", {}).status_code == 200
    assert folder.studies() == ["holiday"]


def test_a_picture_that_needs_a_package_which_is_not_installed_is_refused_with_the_reason(folder, monkeypatch):
    def missing(_: bytes) -> None:
        raise MissingExtra("no_such_package", "dicom", "a DICOM picture")

    monkeypatch.setattr(drafts, "web_version", missing)
    draft = folder.dropped({})
    written = io.BytesIO()
    Image.new("RGB", (8, 6)).save(written, "TIFF")
    refused = folder.drop(draft, "a.tiff", written.getvalue())
    assert refused.status_code == 422
    assert "needs the package no_such_package" in refused.json()["detail"]
