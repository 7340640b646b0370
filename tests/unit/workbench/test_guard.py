"""Who is refused: strangers, other names, other pages, too much."""

import tempfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.entry import Entry
from hushway.workbench.guard import MOST_BYTES
from support.little_bench import ORIGIN, OURS, PORT, Steward, steward_of

CHANGES = [
    ("POST", "/api/plans"),
    ("PUT", "/api/plans/x"),
    ("POST", "/api/plans/x/publish"),
    ("DELETE", "/api/tasks/x"),
    ("PATCH", "/api/state"),
    ("OPTIONS", "/api/state"),
]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"localhost:{PORT}",
        LOOPBACK,
        f"{LOOPBACK}:{PORT + 1}",
        f"{LOOPBACK}.evil.example:{PORT}",
        f"{LOOPBACK}:{PORT}@evil.example",
        f"{LOOPBACK}:x",
        "",
    ],
)
def test_a_name_that_is_not_ours_is_misdirected(steward: Steward, host: str) -> None:
    response = steward.client.get("/api/state", headers={"Host": host})
    assert response.status_code == 421
    assert "plans" not in response.text


@pytest.mark.parametrize(("method", "path"), CHANGES)
@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        f"https://{LOOPBACK}:{PORT}",
        f"http://localhost:{PORT}",
        f"http://{LOOPBACK}:{PORT + 1}",
        LOOPBACK,
    ],
)
def test_a_change_that_another_page_asks_for_is_forbidden(
    steward: Steward, method: str, path: str, origin: str | None
) -> None:
    headers = {"X-Hushway": "1"} | ({} if origin is None else {"Origin": origin})
    assert steward.client.request(method, path, headers=headers).status_code == 403


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_without_our_mark_is_forbidden(steward: Steward, method: str, path: str) -> None:
    response = steward.client.request(method, path, headers={"Origin": ORIGIN})
    assert response.status_code == 403


@pytest.mark.parametrize("path", ["/", "/assets/steward.js", "/api/state", "/api/tasks", "/none"])
@pytest.mark.parametrize("cookie", [None, "", "wrong", "é"])
def test_nobody_sees_anything_without_having_come_in(
    steward: Steward, path: str, cookie: str | None
) -> None:
    name = next(iter(steward.client.cookies))
    steward.client.cookies.clear()
    headers = {} if cookie is None else {"Cookie": f"{name}={cookie}".encode()}
    assert steward.client.get(path, headers=headers).status_code == 401
    assert steward.client.post("/api/plans", headers=OURS | headers).status_code == 401


def test_the_printed_address_lets_one_browser_in_once() -> None:
    entry = Entry(PORT)
    token = entry.token
    assert token is not None
    assert entry.come_in("") is None
    assert entry.come_in(token[:-1]) is None
    session = entry.come_in(token)
    assert session is not None
    assert session != token
    assert entry.come_in(token) is None
    assert entry.token is None
    assert entry.admits(session)
    assert not entry.admits(token)
    assert not entry.admits(None)


def test_a_used_address_is_refused(steward: Steward) -> None:
    response = steward.client.get("/enter?token=used")
    assert response.status_code == 401
    assert "set-cookie" not in response.headers


def test_the_cookie_is_for_this_server_and_its_own_pages_alone(plan: Path) -> None:
    with steward_of(plan.parent) as found:
        response = found.client.get("/api/state")
        assert "set-cookie" not in response.headers
        (cookie,) = found.client.cookies.jar
    assert cookie.name == f"hushway-{PORT}"
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "strict"


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/plans/none", "/none"])
def test_every_answer_tells_browsers_what_it_may_do(steward: Steward, path: str) -> None:
    headers = steward.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert not [name for name in headers if name.startswith("access-control-")]


def test_too_much_is_refused_whether_it_is_announced_or_not(steward: Steward) -> None:
    path = f"/api/plans/{steward.plan}/edit"
    assert (
        steward.client.post(path, content=b" " * (MOST_BYTES + 1), headers=OURS).status_code == 413
    )

    def pieces() -> object:
        for _ in range(MOST_BYTES // 1000 + 2):
            yield b" " * 1000

    assert steward.client.post(path, content=pieces(), headers=OURS).status_code == 413
    wrong = OURS | {"Content-Length": "-1"}
    assert steward.client.post(path, content=b"{}", headers=wrong).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"1",
        b"{",
        b"\xff\xfe",
        b'{"text": NaN}',
        b"[" * 100_000,
        b'{"a":' * 30 + b"1" + b"}" * 30,
    ],
)
def test_a_body_that_is_no_small_object_is_refused(steward: Steward, body: bytes) -> None:
    response = steward.client.post(f"/api/plans/{steward.plan}/edit", content=body, headers=OURS)
    assert response.status_code == 400
    assert response.json()["message"]


def test_what_nobody_foresaw_tells_its_class_alone(
    steward: Steward, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(_shelf: object) -> None:
        raise ValueError("rider-private-007")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where its details are kept
    monkeypatch.setattr("hushway.workbench.shelf.Shelf.plans", fail)
    response = steward.client.get("/api/state")
    assert response.status_code == 500
    assert "ValueError" in response.text
    assert "rider-private-007" not in response.text
    assert response.headers["content-security-policy"]


def test_nothing_but_requests_is_answered(steward: Steward) -> None:
    with pytest.raises(WebSocketDisconnect), steward.client.websocket_connect("/api/state"):
        pass


@pytest.mark.parametrize(
    ("host", "asked", "ours"),
    [
        ("0.0.0.0", f"192.168.1.5:{PORT}", True),  # noqa: S104  what others choose
        ("0.0.0.0", f"evil.example:{PORT}", False),  # noqa: S104  what others choose
        ("::1", f"[::1]:{PORT}", True),
        ("::1", f"{LOOPBACK}:{PORT}", False),
        ("10.0.0.7", f"10.0.0.7:{PORT}", True),
        ("10.0.0.7", f"10.0.0.8:{PORT}", False),
    ],
)
def test_elsewhere_too_a_server_knows_its_own_names(host: str, asked: str, ours: bool) -> None:
    assert Address(host=host, port=PORT).is_ours(asked) is ours


def test_loopback_is_told_from_the_rest() -> None:
    assert Address(host=LOOPBACK, port=1).is_loopback
    assert Address(host="::1", port=1).is_loopback
    assert not Address(host="0.0.0.0", port=1).is_loopback  # noqa: S104  what others choose
    assert not Address(host="city.example", port=1).is_loopback


def test_the_first_page_is_the_workbench(steward: Steward) -> None:
    client: TestClient = steward.client
    assert client.get("/").headers["content-type"].startswith("text/html")
    assert client.get("/assets/steward.js").headers["content-type"].startswith("text/javascript")
    for name in ("../steward.html", "%2e%2e/steward.html", "..%2fsteward.html", "none.js"):
        assert client.get(f"/assets/{name}").status_code == 404
