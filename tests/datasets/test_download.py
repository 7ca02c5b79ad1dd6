"""Fetching files, from a server on this machine."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ordinate.datasets import DATASETS, download
from ordinate.datasets.source import Remote
from ordinate.errors import InvalidInput, StorageFailed

BODY = b"label,score\n" + b"https://example.org/a.jpg,10\n" * 30_000


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path != "/unsized":
            self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY[:1000] if self.path == "/short" else BODY)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()
        thread.join()


def remote(url, name="gt.csv"):
    return Remote(name, url, hashlib.sha256(BODY).hexdigest())


@pytest.mark.parametrize("path", ["/whole", "/unsized"])
def test_a_file_arrives_whole_and_its_size_is_shown_on_the_way(server, tmp_path, path):
    seen = []
    sizes = download([remote(server + path)], tmp_path / "new" / "folder", lambda *shown: seen.append(shown))
    assert sizes == {"gt.csv": len(BODY)}
    assert (tmp_path / "new" / "folder" / "gt.csv").read_bytes() == BODY
    assert seen[-1] == ("gt.csv", len(BODY), None if path == "/unsized" else len(BODY))
    assert [entry.name for entry in (tmp_path / "new" / "folder").iterdir()] == ["gt.csv"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [("/missing", "the server answered 404"), ("/short", f"the connection ended after 1,000 of {len(BODY):,} bytes")],
)
def test_what_the_server_fails_to_send_is_said_and_not_kept(server, tmp_path, path, reason):
    with pytest.raises(StorageFailed, match=reason):
        download([remote(server + path)], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_other_bytes_than_the_published_ones_are_not_kept(server, tmp_path):
    with pytest.raises(StorageFailed, match="are not the published file"):
        download([Remote("gt.csv", f"{server}/whole", "0" * 64)], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_network(server, tmp_path):
    with pytest.raises(StorageFailed, match=r"could not be downloaded: .*check the network") as caught:
        download([remote("http://127.0.0.1:1/gt.csv")], tmp_path)
    assert caught.value.exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_the_right_file_stays_and_another_is_refused_before_anything_is_fetched(server, tmp_path):
    (tmp_path / "gt.csv").write_bytes(BODY)
    assert download([remote("http://127.0.0.1:1/gt.csv")], tmp_path) == {"gt.csv": len(BODY)}
    (tmp_path / "gt.csv").write_bytes(b"mine")
    with pytest.raises(InvalidInput, match="exists and is not the published file"):
        download([remote(f"{server}/whole", "first.csv"), remote(f"{server}/whole")], tmp_path)
    assert (tmp_path / "gt.csv").read_bytes() == b"mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["gt.csv"]


def test_a_folder_that_cannot_be_written(server, tmp_path, ordinary_user):
    tmp_path.chmod(0o500)
    with pytest.raises(StorageFailed, match="permission denied"):
        download([remote(f"{server}/whole")], tmp_path)


def test_an_interrupt_leaves_nothing_behind(server, tmp_path):
    def interrupt(*shown):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        download([remote(f"{server}/whole")], tmp_path, interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", DATASETS)
def test_published_addresses_are_safe_and_stay(name):
    for file in DATASETS[name].remote:
        assert file.url.startswith("https://")
        assert file.url.endswith(f"/{file.name}")
        assert len(bytes.fromhex(file.sha256)) == 32
