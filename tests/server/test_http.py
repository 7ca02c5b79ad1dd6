"""What browsers, proxies and programs expect of HTTP, on every route: headers, methods, errors, addresses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fastapi.testclient import TestClient

from ordinate.data.items import Items
from ordinate.server.headers import ALWAYS

PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture
def with_picture(build: Any, tmp_path: Any) -> Any:
    (tmp_path / "a.png").write_bytes(PNG)
    return build(Items(["a", "b"], content={"image": ["a.png", "data:image/gif;base64,R0lGODlhAQABAAAAACw="]}))


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/openapi.json", "/api/v1/studies", "/api/v1/studies/essays"])
def test_head_is_get_without_the_body(site: Any, path: str) -> None:
    owner = site.program("owner")
    for _ in range(20):
        got, head, after = (
            owner.client.request(method, path, headers=owner.headers) for method in ("GET", "HEAD", "GET")
        )
        if got.content == after.content:  # else the study's results were computed meanwhile
            break
    assert head.status_code == got.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]


def test_head_of_pages_and_pictures(with_picture: Any) -> None:
    ann = with_picture.browser("Ann")
    for path in ("/judge/essays", "/media/essays/0/image", "/static/style.css", f"/join/essays/{with_picture.token()}"):
        head = ann.client.head(path)
        assert (head.status_code, head.content) == (200, b""), path
    assert ann.client.head("/media/essays/0/audio").status_code == 404


@pytest.mark.parametrize("row", [0, 1])
def test_a_picture_that_the_browser_has_is_not_sent_again(with_picture: Any, row: int) -> None:
    ann = with_picture.browser("Ann")
    first = ann.client.get(f"/media/essays/{row}/image")
    tag = first.headers["etag"]
    for known in (tag, f'"other", {tag}', f"W/{tag}"):
        again = ann.client.get(f"/media/essays/{row}/image", headers={"If-None-Match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert again.headers["x-content-type-options"] == "nosniff"
    assert ann.client.get(f"/media/essays/{row}/image", headers={"If-None-Match": '"other"'}).content == first.content


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/healthz", "GET, HEAD"),
        ("DELETE", "/api/v1/studies", "GET, HEAD, POST"),
        ("GET", "/api/v1/studies/essays/queries", "POST"),
        ("HEAD", "/api/v1/studies/essays/queries", "POST"),
        ("POST", "/api/v1/studies/essays/rules", "GET, HEAD, PATCH"),
        ("PUT", "/api/v1/studies/essays/items", "GET, HEAD, POST"),
        ("OPTIONS", "/api/v1/studies/essays/links", "GET, HEAD, POST"),
        ("PUT", "/join/essays/x", "GET, HEAD, POST"),
    ],
)
def test_a_wrong_method_is_told_all_right_ones(site: Any, method: str, path: str, allowed: str) -> None:
    response = site.client.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allowed


WRONG = [
    ("GET", "/nowhere", {}, 404),
    ("GET", "/api/v1/studies/essays", {}, 401),
    ("GET", "/api/v1/studies/nowhere", {}, 404),
    ("GET", "/static/nothing.js", {}, 404),
    ("GET", "/static/../app.py", {}, 404),
    ("GET", "/media/essays/0/image", {}, 401),
    ("GET", "/media/essays/x/image", {}, 422),
    ("GET", "/join/essays/x", {}, 401),
    ("PUT", "/", {}, 405),
    ("POST", "/api/v1/studies/essays/queries", {"Origin": "https://evil.example"}, 403),
    ("POST", "/api/v1/studies/essays/queries", {"Origin": "null"}, 403),
    ("POST", "/api/v1/studies/essays/queries", {"Origin": "http://["}, 400),
    ("POST", "/api/v1/studies/essays/queries", {"Origin": "http://[::1"}, 400),
    ("POST", "/api/v1/studies/essays/queries", {"Origin": ""}, 403),
]


@pytest.mark.parametrize(("method", "path", "headers", "status"), WRONG)
def test_every_error_is_a_problem_with_the_security_headers(
    site: Any, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    response = site.client.request(method, path, headers=headers)
    assert response.status_code == status
    assert response.headers.items() >= {name.lower(): value for name, value in ALWAYS.items()}.items()
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert response.headers["cache-control"] == "no-store"
    if not path.startswith("/join"):
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json()["status"] == status


@pytest.mark.parametrize("path", ["/nowhere", "/judge/essays", "/judge/nowhere", "/media/essays/0/image", "/"])
def test_people_get_a_page(site: Any, path: str) -> None:
    response = site.client.get(path, headers=PAGE)
    assert response.status_code in (401, 404)
    assert response.headers["content-type"].startswith("text/html")
    assert "<h1>" in response.text


def test_a_bug_has_the_security_headers(build: Any, caplog: Any) -> None:
    site = build()

    @site.app.get("/bug/{token}")
    def bug(token: str) -> None:
        raise RuntimeError("the password is sesame")

    response = site.client.get("/bug/secret-of-a-link")
    assert (response.status_code, response.headers["x-frame-options"]) == (500, "DENY")
    assert response.headers["content-type"] == "application/problem+json"
    assert "sesame" not in response.text
    assert "sesame" in caplog.text
    assert "GET /bug/{token} failed" in caplog.text
    assert "secret-of-a-link" not in caplog.text


# Addresses ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["https://example.org", "https://example.org/judging/", "http://example.org:8080/a/b"])
def public(request: Any, build: Any) -> Any:
    """A server behind a proxy, and its address without the slash at the end."""
    url = request.param.rstrip("/")
    return build(app={"url": url}), url


@pytest.mark.parametrize("stripped", [True, False])
def test_a_server_behind_a_path(public: Any, stripped: bool) -> None:
    """Whether the proxy removes the path or not, everything is found, and all addresses begin with it."""
    site, url = public
    host, root = url.split("://")[1].partition("/")[::2]
    root = f"/{root}" if root else ""
    asked = "" if stripped else root
    owner = site.program("owner")
    made = owner.client.post(
        f"{asked}/api/v1/studies/essays/links", json={"role": "annotator"}, headers=owner.headers
    ).json()
    assert made["url"] == f"{url}/join/essays/{made['token']}"
    # The proxy's own host is another one than the browser's.
    visitor = TestClient(site.app, base_url="http://10.0.0.1:8000")
    page = visitor.get(f"{asked}/join/essays/{made['token']}")
    assert f'href="{root}/static/' in page.text
    joined = visitor.post(
        f"{asked}/join/essays/{made['token']}",
        data={"name": "Ann"},
        headers={"Origin": f"{url.split('://')[0]}://{host}"},
        follow_redirects=False,
    )
    assert (joined.status_code, joined.headers["location"]) == (303, f"{root}/judge/essays")
    cookie = joined.headers["set-cookie"]
    assert f"Path={root or '/'};" in cookie
    assert ("Secure" in cookie) == url.startswith("https")
    style = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert visitor.get(style.removeprefix(root) if stripped else style).status_code == 200


def test_pages_behind_a_path_lead_nowhere_else(build: Any) -> None:
    site = build(app={"url": "https://example.org/judging"})
    visitor = TestClient(site.app, base_url="https://example.org")
    visitor.post(f"/judging/join/essays/{site.token('owner')}", data={"name": "Olga"})
    for path in ("/judging/judge/essays", "/judging/owner/essays"):
        page = visitor.get(path)
        assert page.status_code == 200
        addresses = re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text)
        assert addresses
        assert all(address.startswith("/judging/") for address in addresses), addresses


def test_pictures_have_the_path_too(build: Any, tmp_path: Any) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    site = build(Items(["a", "b"], content={"image": ["a.png", "a.png"]}), app={"url": "https://example.org/judging"})
    (query,) = site.program().ask()
    assert query["left"]["image_url"].startswith("/judging/media/essays/")
