"""A server of a folder: its owner makes studies of files that are dropped, and copies, archives and deletes them."""

from __future__ import annotations

import io
import json
import re
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image
from tests.conftest import no_room

from ordinate.__main__ import main as run_command
from ordinate.data.items import Items
from ordinate.data.recipe import Recipe
from ordinate.embedding import FAMILIES
from ordinate.errors import InvalidInput, StorageFailed
from ordinate.server import making
from ordinate.server.app import create_app
from ordinate.server.limits import Limits
from ordinate.server.study_files import StudyFiles
from ordinate.study.study import Study
from ordinate.study.words import STAGES

SECRET = "a secret of these tests"


def picture(shade: int, kind: str = "PNG") -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (8, 6), (shade, 100, 50)).save(written, kind)
    return written.getvalue()


class Folder:
    """A server of a folder, and its owner's browser."""

    def __init__(self, path: Path, **limits: Any) -> None:
        self.path = path
        self.app = create_app(
            [], SECRET, folder=path, executor=lambda: ThreadPoolExecutor(1), limits=Limits(pair_seconds=60.0, **limits)
        )
        self.enter()

    def enter(self) -> None:
        self.client = TestClient(self.app, raise_server_exceptions=False)
        self.client.__enter__()
        self.link = f"/enter/{self.app.state.authenticator.signer.server_link()}"
        page = self.client.post(self.link)
        assert page.status_code == 200, page.text
        (csrf,) = re.findall('data-csrf="([^"]+)"', page.text)
        self.headers = {"X-CSRF-Token": csrf}

    def send(self, method: str, path: str, json: Any = None, **more: Any) -> Any:
        return self.client.request(method, f"/api/v1/server{path}", json=json, headers=self.headers, **more)

    def drop(self, draft: str, name: str, content: bytes) -> Any:
        return self.client.put(
            f"/api/v1/server/drafts/{draft}/files",
            params={"name": name},
            content=content,
            headers={**self.headers, "Content-Type": "application/octet-stream"},
        )

    def dropped(self, files: dict[str, bytes]) -> str:
        draft = str(self.send("POST", "/drafts", {}).json()["draft"])
        for name, content in files.items():
            response = self.drop(draft, name, content)
            assert response.status_code == 201, response.text
        return draft

    def make(self, name: str, files: dict[str, bytes], **wanted: Any) -> Any:
        return self.send("POST", f"/drafts/{self.dropped(files)}/study", {"name": name, **wanted})

    def overview(self) -> Any:
        return self.send("GET", "").json()

    def studies(self) -> list[str]:
        return [one["study"] for one in self.overview()["studies"]]

    def study(self, name: str) -> Study:
        study: Study = self.app.state.authenticator.find_study(name).study
        return study

    def close(self) -> None:
        self.client.__exit__(None, None, None)


@pytest.fixture
def folder(tmp_path):
    made = Folder(tmp_path)
    yield made
    made.close()


PHOTOS = {f"holiday/{k}.png": picture(20 * k) for k in range(4)}


def test_a_study_of_a_dropped_folder_is_served_at_once_and_after_a_restart(folder):
    draft = folder.dropped(PHOTOS)
    seen = folder.send("POST", f"/drafts/{draft}/preview", {}).json()
    assert (seen["items"], seen["kinds"], seen["refused"]) == (4, ["image"], [])
    assert [item["id"] for item in seen["first"]] == ["0.png", "1.png", "2.png", "3.png"]
    small = folder.client.get(
        f"/api/v1/server/drafts/{draft}/thumbnail", params={"name": seen["first"][0]["thumbnail_url"]}
    )
    assert small.headers["content-type"] == "image/webp"
    made = folder.send(
        "POST",
        f"/drafts/{draft}/study",
        {
            "name": "holiday",
            "question": "Which is *nicer*?",
            "random": 0.2,
            "item_variance": 2.0,
            "rules": {"target": 0.1},
        },
    )
    assert made.status_code == 201, made.text
    assert made.json()["items"] == 4
    study = folder.study("holiday")
    assert study.question == "Which is *nicer*?"
    assert (study.settings.random, study.settings.item_variance, study.rules.target) == (0.2, 2.0, 0.1)
    stored = sorted((folder.path / "holiday").rglob("*"))
    assert {path.name for path in stored if path.is_dir()} == {"media"}
    assert all(re.fullmatch(r"[0-9a-f]{16}\.png", path.name) for path in stored if path.parent.name == "media")
    joined = TestClient(folder.app).post(made.json()["link"]["url"], data={"name": "Ann"})
    assert joined.status_code == 200
    assert "<em>nicer</em>" in joined.text
    folder.close()
    again = Folder(folder.path)
    assert again.studies() == ["holiday"]
    assert TestClient(again.app).get(made.json()["link"]["url"]).status_code == 200
    again.close()


def test_a_table_with_the_files_that_it_names(folder):
    table = b"code,picture,image,size\n" + b"".join(b"p%d,nice,pics/%d.png,%d\n" % (k, k, k) for k in range(5))
    files = {"list.csv": table, **{f"box/pics/{k}.png": picture(k) for k in range(4)}, "other.png": picture(99)}
    draft = folder.dropped(files)
    seen = folder.send("POST", f"/drafts/{draft}/preview", {"feature_columns": ["size"]}).json()
    assert (seen["items"], seen["id_column"], seen["numbers"]) == (4, "code", ["size"])
    assert seen["refused"] == [{"name": "p4", "reason": "row 5: image 'pics/4.png' was not dropped"}]
    assert any("other.png" in note for note in seen["notes"])
    other = folder.send("POST", f"/drafts/{draft}/preview", {"text_column": "picture"}).json()
    assert other["first"][0]["text"] == "nice"
    assert other["text_column"] == "picture"
    body = {"name": "table", "feature_columns": ["size"], "text_column": "picture"}
    assert folder.send("POST", f"/drafts/{draft}/study", body).status_code == 201
    items = folder.study("table").items
    assert items.ids == ("p0", "p1", "p2", "p3")
    assert items.feature_names == ("size",)
    assert items.content["text"] == ("nice",) * 4


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [("a.csv", b"id,text\n1,a,b\n2,c\n", "a.csv: row 1 (line 2)"), ("a.json", b"[{", "a.json: ")],
)
def test_what_is_wrong_with_a_table_is_said_of_its_own_name(folder, name, content, where):
    refused = folder.send("POST", f"/drafts/{folder.dropped({name: content})}/preview", {})
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(where)
    assert "given" not in refused.json()["detail"]


def test_texts_and_a_table_without_ids(folder):
    assert folder.make("essays", {"a.txt": b"One.", "b.md": "Zw\u00f6lf".encode()}).status_code == 201
    assert folder.study("essays").items.content["text"] == ("One.", "Zw\u00f6lf")
    draft = folder.dropped({"same.csv": b"a,b\n1,2\n1,2\n"})
    refused = folder.send("POST", f"/drafts/{draft}/preview", {})
    assert refused.status_code == 422
    assert "no column can be the ids" in refused.json()["detail"]


def test_an_encoder_makes_the_features_and_those_of_new_items(folder, batches):
    files = {f"{k}.txt": b"word " * k for k in range(1, 6)}
    assert folder.make("texts", files, encoder="auto").status_code == 201
    assert folder.study("texts").items.features.shape[1] > 0
    draft = folder.dropped({"new.txt": b"fresh"})
    added = folder.send("POST", f"/drafts/{draft}/items", {"study": "texts"})
    assert added.status_code == 200, added.text
    assert folder.study("texts").items.ids[-1] == "new.txt"


def test_ticked_columns_are_a_block_beside_what_an_encoder_makes(folder, batches):
    rows = "".join(f'{k},"word {k}",{k * k},x\n' for k in range(1, 6))
    table = {"t.csv": f"id,text,size,kind\n{rows}".encode()}
    draft = folder.dropped(table)
    found = folder.send("POST", f"/drafts/{draft}/preview", {"feature_columns": ["size"]}).json()
    assert (found["kinds"], found["numbers"]) == (["text"], ["size"])
    made = folder.make("texts", table, encoder="auto", feature_columns=["size"])
    assert made.status_code == 201, made.text
    items = folder.study("texts").items
    assert [(one.name, one.names) for one in items.blocks] == [("text", None), ("columns", ("size",))]
    assert items.features[:, -1].tolist() == [1, 4, 9, 16, 25]
    assert folder.send("POST", "/studies/texts/duplicate", {"name": "again"}).status_code == 201
    for name in ("texts", "again"):
        draft = folder.dropped({"more.csv": b"id,text,size\n6,new word,36\n5,known,25\n"})
        added = folder.send("POST", f"/drafts/{draft}/items", {"study": name})
        assert (added.status_code, added.json()["items"]) == (200, 1), added.text
        items = folder.study(name).items
        assert (items.ids[-1], items.features[-1, -1]) == ("6", 36)
        assert items.features[-1, :-1].any()
    draft = folder.dropped({"new.txt": b"fresh"})
    refused = folder.send("POST", f"/drafts/{draft}/items", {"study": "texts"})
    assert refused.status_code == 422
    assert "features from the columns 'size'; drop a table with them" in refused.json()["detail"]
    vectors = {"v.csv": b'id,text,v\na,one,"[1, 2]"\nb,two,"[3, 4]"\n'}
    refused = folder.make("vectors", vectors, encoder="auto", feature_columns=["v"])
    assert (refused.status_code, "'v' holds vectors" in refused.json()["detail"]) == (422, True), refused.text


def test_new_items_of_a_study_of_principal_components_bring_the_columns_that_were_reduced(folder):
    table: dict[str, list[Any]] = {
        "id": list("abcd"),
        "size": [1, 5, 2, 8],
        "weight": [3, 1, 4, 1],
        "kind": ["x", "y", "x", "y"],
    }
    read = Items.from_columns(table, feature_columns=("size", "weight"), categorical=("kind",))
    reduced, recipe = Recipe.of_given(read, 2)
    draft = folder.dropped({"more.csv": b"id,size,weight,kind\na,1,3,x\ne,8,1,y\n"})
    wanted = making.Wanted((), recipe, frozenset("a"))
    items = making.find_more(folder.path / ".drafts" / draft, making.Columns(), wanted)
    assert items.ids == ("e",)
    assert items.features == pytest.approx(reduced.features[3:])  # those of d, which has the same numbers
    draft = folder.dropped({"more.txt": b"e"})
    with pytest.raises(InvalidInput, match="from the columns 'size', 'weight', 'kind'; drop a table with them"):
        making.find_more(folder.path / ".drafts" / draft, making.Columns(), wanted)
    _, bare = Recipe.of_given(Items(list("abcd"), features=read.features), 2)
    with pytest.raises(InvalidInput, match="given as a matrix"):
        making.find_more(folder.path / ".drafts" / draft, making.Columns(), making.Wanted((), bare, frozenset("a")))


def test_items_are_added_with_their_files_and_those_that_are_there_stay(folder):
    assert folder.make("holiday", PHOTOS).status_code == 201
    draft = folder.dropped({"3.png": picture(1), "4.png": picture(250)})
    seen = folder.send("POST", f"/drafts/{draft}/preview", {"study": "holiday"}).json()
    assert (seen["items"], seen["new"]) == (2, 1)
    assert folder.send("POST", f"/drafts/{draft}/items", {"study": "holiday"}).json()["items"] == 1
    study = folder.study("holiday")
    assert study.items.ids == ("0.png", "1.png", "2.png", "3.png", "4.png")
    shown = folder.client.get("/media/holiday/4/image")
    assert shown.content == picture(250)
    again = folder.dropped({"4.png": picture(250)})
    assert folder.send("POST", f"/drafts/{again}/items", {"study": "holiday"}).status_code == 422


def test_a_copy_has_the_items_and_rules_and_no_answers(folder):
    folder.make("holiday", PHOTOS, rules={"budget": 50})
    old = folder.study("holiday")
    old.set_rules(question="Which is *better*?", deadline="2999-01-01T00:00Z")
    old.tell(old.ask().id, "left")
    assert folder.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code == 201
    assert {change.by for change in folder.study("again").changes()} == {"owner"}, "of the server"
    assert old.changes()[-1][1:] == ("owner", "created the study")
    new = folder.study("again")
    assert new.items.ids == old.items.ids
    assert (new.rules.budget, new.question, new.comparisons()) == (50, "Which is *better*?", [])
    assert new.rules.deadline is None
    assert folder.client.get("/media/again/0/image").content == picture(0)
    assert folder.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code == 409


def test_an_archived_study_opens_nothing_until_it_is_taken_out(folder):
    made = folder.make("holiday", PHOTOS).json()
    old = folder.study("holiday")
    old.tell(old.ask().id, "left")
    assert folder.send("POST", "/studies/holiday/archive", {}).status_code == 200
    assert folder.overview() | {"encoders": []} == {"studies": [], "archived": ["holiday"], "encoders": []}
    assert TestClient(folder.app).get(made["link"]["url"]).status_code == 404
    assert folder.make("holiday", PHOTOS).status_code == 409
    assert folder.send("POST", "/archived/holiday/restore", {}).status_code == 200
    (line,) = folder.overview()["studies"]
    assert (line["study"], line["answers"], line["state"]) == ("holiday", 1, "running")
    assert line["last_answer"] is not None
    assert TestClient(folder.app).get(made["link"]["url"]).status_code == 200


def test_a_name_that_was_taken_meanwhile_is_a_conflict_and_no_failure_of_the_disk(folder, monkeypatch):
    """A failure of the disk would be tried again by programs and pages."""
    assert folder.make("holiday", PHOTOS).status_code == 201
    assert folder.send("POST", "/studies/holiday/archive", {}).status_code == 200
    (folder.path / "holiday").mkdir()
    refused = folder.send("POST", "/archived/holiday/restore", {})
    assert (refused.status_code, "rename its folder" in refused.json()["detail"]) == (409, True), refused.text
    draft = folder.dropped(PHOTOS)

    def create(*given: Any, made: Any = making._create) -> None:
        made(*given)
        (folder.path / "second").mkdir(exist_ok=True)

    monkeypatch.setattr(making, "_create", create)
    refused = folder.send("POST", f"/drafts/{draft}/study", {"name": "second"})
    assert (refused.status_code, "choose another name" in refused.json()["detail"]) == (409, True), refused.text
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "third"}).status_code == 201


def test_start_page_study_page_and_command_say_the_same_of_how_a_study_stands(folder, capsys):
    folder.make("essays", {"a.txt": b"One.", "b.txt": b"Two.", "c.txt": b"Three."})
    study = folder.study("essays")
    study.tell(study.ask("Ann").id, "left")
    rules: dict[str, dict[str, Any]] = {
        "running": {},
        "paused": {"paused": True},
        "over": {"deadline": "2020-01-31T12:00:00Z"},  # also where it was paused before
        "finished": {"paused": False, "deadline": None, "budget": 1},
    }
    for state, changed in rules.items():
        study.set_rules(**changed)
        (line,) = folder.overview()["studies"]
        status = folder.client.get("/api/v1/studies/essays", headers=folder.headers).json()
        assert line["state"] == status["state"] == study.stage == state
        assert line["state_in_words"] == status["state_in_words"] == STAGES[state]
        assert run_command(["status", str(folder.path / "essays" / "essays.db")]) == 0
        assert re.search(rf"^state +{STAGES[state]}$", capsys.readouterr().out, re.MULTILINE)


def test_a_study_is_deleted_with_its_media_once_its_name_is_typed(folder):
    folder.make("holiday", PHOTOS)
    folder.make("other", PHOTOS)
    assert folder.send("POST", "/studies/holiday/delete", {"name": "holliday"}).status_code == 422
    assert (folder.path / "holiday").is_dir()
    assert folder.send("POST", "/studies/holiday/delete", {"name": "holiday"}).status_code == 200
    assert folder.send("POST", "/studies/other/archive", {}).status_code == 200
    assert folder.send("POST", "/archived/other/delete", {"name": "nothing"}).status_code == 422
    assert folder.send("POST", "/archived/other/delete", {"name": "other"}).status_code == 200
    assert [path.name for path in folder.path.rglob("*") if path.is_file()] == []


def test_a_study_made_elsewhere_is_served_but_not_moved(tmp_path):
    Study.create(Items(["a", "b"]), storage=f"sqlite:///{tmp_path / 'mine.db'}").close()
    (tmp_path / "junk.db").write_bytes(b"no study")
    folder = Folder(tmp_path)
    (line,) = folder.overview()["studies"]
    assert (line["study"], line["own_folder"]) == ("mine", False)
    for path, body in (("archive", {}), ("delete", {"name": "mine"})):
        refused = folder.send("POST", f"/studies/mine/{path}", body)
        assert refused.status_code == 422
        assert "made elsewhere" in refused.json()["detail"]
    assert (tmp_path / "mine.db").is_file()
    assert folder.client.get("/owner/mine").status_code == 200
    folder.close()


def test_a_program_creates_a_study_in_the_folder_with_all_options(folder):
    program = TestClient(folder.app)
    headers = {"Authorization": f"Bearer {folder.link.rpartition('/')[2]}"}
    body = {
        "name": "made",
        "items": [{"id": "a", "features": [1.0]}, {"id": "b", "features": [2.0]}],
        "random": 0.3,
        "coefficient_variance": 4.0,
        "scaling": "standard",
        "rules": {"target": 0.2, "cuts": [1]},
    }
    assert program.post("/api/v1/studies", json=body, headers=headers).status_code == 201
    study = folder.study("made")
    assert (study.settings.random, study.settings.coefficient_variance, study.settings.scaling) == (
        0.3,
        4.0,
        "standard",
    )
    assert (study.rules.target, study.rules.cuts) == (0.2, (1,))


# Failures --------------------------------------------------------------------------------------------------------


def test_a_name_that_is_taken_or_no_name(folder):
    assert folder.make("holiday", PHOTOS).status_code == 201
    assert folder.make("holiday", PHOTOS).status_code == 409
    for name in ("", "Holiday", "a/b", "..", ".archive", "-a", "a" * 65, "a b"):
        assert folder.make(name, PHOTOS).status_code == 422, name
    assert folder.studies() == ["holiday"]


def test_a_study_that_cannot_be_made_leaves_nothing_but_the_draft(folder):
    draft = folder.dropped({"a.txt": b"One."})
    refused = folder.send("POST", f"/drafts/{draft}/study", {"name": "one"})
    assert refused.status_code == 422
    assert "at least two items" in refused.json()["detail"]
    assert folder.studies() == []
    assert not (folder.path / "one").exists()
    state = folder.send("GET", f"/drafts/{draft}").json()
    assert state["state"] == "failed"
    assert str(folder.path) not in json.dumps([refused.json(), state])
    # More files mend it.
    assert folder.drop(draft, "b.txt", b"Two.").status_code == 201
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "one"}).status_code == 201


@pytest.mark.parametrize("error", [InvalidInput("not this one"), StorageFailed("the disk is busy"), OSError("broken")])
@pytest.mark.parametrize("fails", ["media.require_inside", "Prefetcher", "Study.make_link"])
def test_a_study_that_cannot_be_served_once_it_is_made_leaves_the_draft(folder, monkeypatch, fails, error):
    draft = folder.dropped({**PHOTOS, "notes.txt": b"Sunny."})
    dropped = _tree(folder.path)

    def refuse(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(f"ordinate.server.served_study.{fails}", refuse)
        assert folder.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).status_code >= 422
    assert folder.studies() == []
    assert _tree(folder.path) == dropped
    assert folder.send("GET", f"/drafts/{draft}").json() == {
        "draft": draft,
        "state": "open",
        "files": 5,
    } | dict.fromkeys(["done", "total", "reason", "study", "items", "link"])
    assert folder.drop(draft, "more.txt", b"Rainy.").status_code == 201
    made = folder.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).json()
    assert (made["items"], folder.studies()) == (6, ["holiday"])
    assert folder.client.get(made["link"]["url"]).status_code == 200
    with monkeypatch.context() as patch:
        patch.setattr(f"ordinate.server.served_study.{fails}", refuse)
        before = _tree(folder.path)
        assert folder.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code >= 422
        assert _tree(folder.path) == before
    assert folder.send("POST", "/studies/holiday/duplicate", {"name": "again"}).status_code == 201


def _tree(folder: Path) -> list[str]:
    """The files in a folder, without what comes and goes."""
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if path.name != "progress" and not path.name.endswith(("-wal", "-shm")))


def test_a_study_that_cannot_be_read_is_not_said_to_be_gone(tmp_path):
    for name in ("essays", "poems"):
        Study.create(Items(["a", "b"]), storage=f"sqlite:///{tmp_path}/{name}.db").close()
    (tmp_path / "essays.db").write_bytes(b"half of a file")
    folder = Folder(tmp_path)
    try:
        assert folder.studies() == ["poems"]
        refused = folder.client.get("/api/v1/studies/essays", headers={"Accept": "application/json"})
        assert (refused.status_code, refused.json()["type"]) == (503, "urn:ordinate:TryLater")
        assert refused.headers["Retry-After"]
        assert str(tmp_path) not in refused.text
        assert folder.client.get("/api/v1/studies/letters").status_code == 404
        assert folder.client.get("/api/v1/studies/poems").status_code == 200
    finally:
        folder.close()


def test_what_is_left_of_a_study_of_another_name_is_in_no_study(folder, monkeypatch):
    """A server that is killed between making a study and publishing it leaves it in the draft."""
    draft = folder.dropped(PHOTOS)
    place = folder.path / ".drafts" / draft
    making.make(place, StudyFiles(folder.path).target(place, "first"), making.Plan(making.Columns(), None, None, {}))
    assert folder.send("POST", f"/drafts/{draft}/study", {"name": "second"}).status_code == 201
    assert [path.name for path in folder.path.rglob("*.db")] == ["second.db"]


@pytest.mark.skipif(FAMILIES["timm"].is_installed, reason="timm is installed here")
def test_an_encoder_that_is_not_installed_is_refused_with_the_command_that_installs_it(folder):
    refused = folder.make("photos", PHOTOS, encoder="timm:resnet34")
    assert refused.status_code == 422
    assert "python -m pip install 'ordinate[image]'" in refused.json()["detail"]
    assert folder.studies() == []


WRONG_RULES = [({"aim": ["above:nothere"]}, 404), ({"aim": ["top:50"]}, 422), ({"cuts": [5, 2]}, 422)]


@pytest.mark.parametrize(("rules", "status"), WRONG_RULES)
def test_rules_that_do_not_fit_leave_the_draft_and_no_study(folder, rules, status):
    draft = folder.dropped(PHOTOS)
    refused = folder.send("POST", f"/drafts/{draft}/study", {"name": "one", "rules": rules})
    assert refused.status_code == status, refused.text
    server = {"Authorization": f"Bearer {folder.link.rpartition('/')[2]}"}
    body = {"name": "two", "items": [{"id": "a"}, {"id": "b"}], "rules": rules}
    assert TestClient(folder.app).post("/api/v1/studies", json=body, headers=server).status_code == status
    assert folder.studies() == []
    assert [path.name for path in folder.path.iterdir()] == [".drafts"]
    right = {"name": "one", "rules": {"aim": ["above:1.png"]}}
    assert folder.send("POST", f"/drafts/{draft}/study", right).status_code == 201
    rules = folder.study("one").rules
    assert (rules.aim, rules.lease, rules.again) == (("above:1.png",), 600.0, False)


@pytest.mark.parametrize("moment", ["files", "study", "published"])
def test_a_server_that_is_killed_while_a_study_is_made_leaves_it_whole_or_absent(tmp_path, moment):
    """As the folder stands at three moments; a kill adds nothing to what is written."""
    folder = Folder(tmp_path / "live")
    draft = folder.dropped(PHOTOS)
    place = folder.path / ".drafts" / draft
    if moment != "files":
        making.make(
            place, StudyFiles(folder.path).target(place, "holiday"), making.Plan(making.Columns(), None, None, {})
        )
    if moment == "published":
        folder.app.state.workspace.studies.publish(folder.app.state.workspace.draft(draft), "holiday")
    shutil.copytree(folder.path, tmp_path / "killed")
    folder.close()
    after = Folder(tmp_path / "killed")
    assert after.studies() == (["holiday"] if moment == "published" else [])
    if moment != "published":
        # What was dropped is still there, and the study is made of it.
        assert after.send("POST", f"/drafts/{draft}/study", {"name": "holiday"}).status_code == 201
    assert len(after.study("holiday").items) == 4
    kept = _tree(after.path / "holiday")
    assert (len(kept), kept[0], {path.rpartition("/")[0] for path in kept[1:]}) == (5, "holiday.db", {"media"})
    after.close()


@pytest.mark.parametrize(
    "line", [b'{"id": "a", "text": "one"}', b'{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}', b"not JSON"]
)
def test_files_of_a_user_that_have_names_of_ours_stay(tmp_path, line):
    """`manifest.jsonl` is what many tables of items are called, also beside a study that was made in the terminal."""
    files = ["manifest.jsonl", "progress", "video.part", "given/notes.txt"]
    theirs = [tmp_path / name / file for name in ("essays", "speech") for file in files]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(line)
    Study.create(Items(["a", "b"]), storage=f"sqlite:///{tmp_path}/essays/essays.db").close()
    folder = Folder(tmp_path)
    assert folder.studies() == ["essays"]
    folder.close()
    assert [path.read_bytes() for path in theirs] == [line] * len(theirs)


def test_what_a_killed_server_was_deleting_is_gone_after_the_next_start(tmp_path):
    (tmp_path / ".deleted" / "x" / "media").mkdir(parents=True)
    folder = Folder(tmp_path)
    assert not (tmp_path / ".deleted").exists()
    folder.close()


def test_items_that_cannot_be_added_leave_their_files_in_the_draft(folder):
    folder.make("table", {"t.csv": b"id,size\na,1\nb,2\n"}, feature_columns=["size"])
    draft = folder.dropped(PHOTOS)
    refused = folder.send("POST", f"/drafts/{draft}/items", {"study": "table"})
    assert refused.status_code == 422
    assert len(folder.study("table").items) == 2
    assert list((folder.path / "table").rglob("*.png")) == []
    assert len(list((folder.path / ".drafts" / draft / "media").glob("*.png"))) == 4


SIZES = {"t.csv": b"id,size,kind\na,1,x\nb,2,x\n"}
GROUPS = {"t.csv": b"id,size,group\na,1,g\nb,2,g\nc,1,h\nd,2,h\n"}


@pytest.mark.parametrize(
    ("made", "more", "reason"),
    [
        (SIZES, b"id,kind\nc,y\n", "column 'size'"),
        (SIZES, b"id,size\nc,big\n", "row 1 of column 'size' holds 'big'"),
        (SIZES, b"id,size\nc,\n", "row 1 of column 'size' is empty"),
        (SIZES, b"id,size\nc,inf\n", "row 1 of column 'size'"),
        (SIZES, b"id,size,group\nc,3,g\n", "the study has no groups"),
        (GROUPS, b"id,size\ne,3\n", "the study has groups; give each of these items its group"),
        ({"v.csv": b'id,v\na,"[1, 2]"\nb,"[3, 4]"\n'}, b'id,v\nc,"[5, 6]"\n', "those of the study have 2"),
    ],
)
def test_a_preview_refuses_what_the_study_would_refuse(folder, made, more, reason):
    column = "v" if "v.csv" in made else "size"
    assert folder.make("table", made, feature_columns=[column]).status_code == 201
    draft = folder.dropped({"more.csv": more})
    answers = [folder.send("POST", f"/drafts/{draft}/{what}", {"study": "table"}) for what in ("preview", "items")]
    for refused in answers:
        assert (refused.status_code, reason in refused.json()["detail"]) == (422, True), refused.text


def test_a_preview_says_what_an_encoder_could_not_read(folder, batches):
    assert folder.make("texts", {f"{k}.txt": b"word " * k for k in range(1, 6)}, encoder="auto").status_code == 201
    draft = folder.dropped({"more.csv": b"id,text\n1.txt,known\nb,\n"})
    for what in ("preview", "items"):
        refused = folder.send("POST", f"/drafts/{draft}/{what}", {"study": "texts"})
        assert (refused.status_code, "item 'b' (row 1) has no text" in refused.json()["detail"]) == (422, True)


def test_what_finds_no_room_on_the_disk_is_refused_and_works_once_there_is(small_disk):
    disk = small_disk("4m")
    folder = Folder(disk, upload_free=0)

    def without_room_first(path: str, body: Any) -> Any:
        with no_room(disk):
            refused = folder.send("POST", path, body)
        assert (refused.status_code, "the disk of the server is full" in refused.text) == (507, True), refused.text
        return folder.send("POST", path, body)

    try:
        draft = folder.dropped(PHOTOS)
        assert without_room_first(f"/drafts/{draft}/study", {"name": "one"}).status_code == 201
        draft = folder.dropped({"holiday/9.png": picture(9)})
        assert without_room_first(f"/drafts/{draft}/items", {"study": "one"}).json()["items"] == 1
        assert without_room_first("/studies/one/duplicate", {"name": "two"}).status_code == 201
        assert sorted(folder.studies()) == ["one", "two"]
        for name in ("one", "two"):
            assert len(folder.study(name).items) == 5
            assert [folder.client.get(f"/media/{name}/{row}/image").status_code for row in range(5)] == [200] * 5
        assert len(list(disk.rglob("*.png"))) == 10
    finally:
        folder.close()


def test_other_files_are_looked_at_while_a_study_is_being_made(folder, monkeypatch):
    go_on = threading.Event()
    made = making.make
    monkeypatch.setattr("ordinate.server.making.make", lambda *arguments: (go_on.wait(30), made(*arguments))[1])
    slow, quick = folder.dropped(PHOTOS), folder.dropped(PHOTOS)
    with ThreadPoolExecutor(1) as threads:
        making_it = threads.submit(folder.send, "POST", f"/drafts/{slow}/study", {"name": "slow"})
        while folder.send("GET", f"/drafts/{slow}").json()["state"] != "working":
            assert not making_it.done()
        assert folder.send("POST", f"/drafts/{quick}/preview", {}).json()["items"] == 4
        assert folder.send("POST", f"/drafts/{slow}/preview", {}).status_code == 409
        assert folder.send("DELETE", f"/drafts/{slow}").status_code == 409
        go_on.set()
        assert making_it.result().status_code == 201


# Questions -------------------------------------------------------------------------------------------------------


def test_the_log_keeps_when_the_question_changed(folder):
    folder.make("holiday", PHOTOS, question="Which is nicer?")
    study = folder.study("holiday")
    page = folder.client.get("/owner/holiday").text
    (csrf,) = re.findall('data-csrf="([^"]+)"', page)
    changed = folder.client.patch(
        "/api/v1/studies/holiday/rules", json={"question": "Which is **better**?"}, headers={"X-CSRF-Token": csrf}
    )
    assert changed.json()["question"] == "Which is **better**?"
    assert "<strong>better</strong>" in folder.client.get("/judge/holiday").text
    assert study.settings.question == "Which is nicer?"
    with Study.open(f"sqlite:///{folder.path / 'holiday' / 'holiday.db'}") as opened:
        assert opened.question == "Which is **better**?"


def test_a_link_as_a_qr_code(folder):
    made = folder.make("holiday", PHOTOS).json()
    code = folder.client.get(f"/api/v1/studies/holiday/links/{made['link']['id']}/qr.svg")
    assert code.headers["content-type"] == "image/svg+xml"
    assert code.content.startswith(b"<svg")
    assert b"<script" not in code.content
    folder.study("holiday").revoke_link(made["link"]["id"])
    assert folder.client.get(f"/api/v1/studies/holiday/links/{made['link']['id']}/qr.svg").status_code == 404


@pytest.mark.parametrize("what", ["preview", "items"])
def test_nobody_waits_for_a_study_that_is_busy_while_its_owner_adds_items(folder, what):
    """The event loop answers others while the owner's request waits for its turn at the study."""
    folder.make("holiday", PHOTOS)
    draft = folder.dropped({"4.png": picture(250)})
    study, busy, go_on = folder.study("holiday"), threading.Event(), threading.Event()

    def occupy() -> None:
        with study.unchanged():
            busy.set()
            go_on.wait(30)

    with ThreadPoolExecutor(2) as threads:
        occupied = threads.submit(occupy)
        assert busy.wait(10)
        asked = threads.submit(folder.send, "POST", f"/drafts/{draft}/{what}", {"study": "holiday"})
        began = time.monotonic()
        while time.monotonic() < began + 1.0:
            assert folder.client.get("/healthz").status_code == 200
        assert time.monotonic() < began + 2.0
        assert not asked.done()
        go_on.set()
        assert asked.result().status_code == 200
        occupied.result()


def test_columns_that_no_dropped_table_could_have_are_refused(folder):
    refused = folder.make("holiday", PHOTOS, feature_columns=["size"])
    assert (refused.status_code, "the column 'size'" in refused.json()["detail"]) == (422, True), refused.text
