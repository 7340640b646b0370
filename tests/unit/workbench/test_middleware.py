"""Who is refused: strangers, other names, other pages, too much."""

import tempfile
from importlib.resources import files
from pathlib import Path

import pytest
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from hushway.families.load import load_plan, prepare
from hushway.steward.publish import publish
from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.login import Login, OneTimeTokens
from hushway.workbench.middleware import MOST_BYTES
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
    headers = {} if origin is None else {"Origin": origin}
    assert steward.client.request(method, path, headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/api/state", "/api/tasks", "/api/schema/od", "/none"])
@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Bearer é", "Basic {session}", "{session}"],
)
def test_nobody_sees_anything_without_the_session_token(
    steward: Steward, path: str, given: str | None
) -> None:
    session = steward.client.headers.pop("Authorization").removeprefix("Bearer ")
    headers = {} if given is None else {"Authorization": given.format(session=session).encode()}
    assert steward.client.get(path, headers=headers).status_code == 401
    assert steward.client.post("/api/plans", headers=OURS | headers).status_code == 401


@pytest.mark.parametrize("way", ["cookie", "query", "twice"])
def test_the_session_token_counts_in_its_header_alone(steward: Steward, way: str) -> None:
    """What a browser sends by itself, or keeps in a history, opens nothing."""
    given = steward.client.headers.pop("Authorization")
    session = given.removeprefix("Bearer ")
    headers = {
        "cookie": [("Cookie", f"session={session}; hushway-{PORT}={session}")],
        "query": [],
        "twice": [("Authorization", given), ("Authorization", given)],
    }[way]
    query = f"?token={session}&session={session}" if way == "query" else ""
    assert steward.client.get(f"/api/state{query}", headers=headers).status_code == 401


def test_pages_hold_nothing_of_the_stewards(steward: Steward) -> None:
    """They are shown to everybody, because a browser that opens a page sends no header."""
    known = {path: steward.client.get(path).content for path in ("/", "/assets/steward.js")}
    session = steward.client.headers.pop("Authorization").removeprefix("Bearer ")
    for path, content in known.items():
        assert steward.client.get(path).content == content
        assert (
            files("hushway") / "web" / (path.strip("/") or "steward.html")
        ).read_bytes() == content
        assert session.encode() not in content


def test_the_printed_address_lets_one_browser_in_once() -> None:
    login = Login()
    token = login.token
    assert token is not None
    assert login.redeem("") is None
    assert login.redeem(token[:-1]) is None
    session = login.redeem(token)
    assert session is not None
    assert session != token
    assert login.redeem(token) is None
    assert login.token is None
    assert login.knows("/", Headers({"Authorization": f"Bearer {session}"}))
    assert not login.knows("/", Headers({"Authorization": f"Bearer {token}"}))
    assert not login.knows("/", Headers())


def test_the_printed_address_shows_its_token_to_no_server() -> None:
    login = Login()
    assert login.link(ORIGIN) == f"{ORIGIN}/#token={login.token}"


def test_a_used_address_is_refused(steward: Steward) -> None:
    for token in ("used", ""):
        response = steward.client.post("/api/login", json={"token": token}, headers=OURS)
        assert response.status_code == 401
        assert "session" not in response.text
    assert steward.client.get("/api/login?token=used").status_code == 404


def test_no_answer_sets_a_cookie(steward: Steward) -> None:
    """Browsers would send it to every other server on this machine."""
    for path in ("/", "/assets/steward.js", "/api/state", f"/api/plans/{steward.plan}", "/none"):
        assert "set-cookie" not in steward.client.get(path).headers
    assert not list(steward.client.cookies.jar)


def test_the_page_of_a_certificate_is_shown_once(funded: Path) -> None:
    """A frame asks for it without a header."""
    publish(prepare(load_plan(funded)))
    with steward_of(funded.parent) as steward:
        path = f"/api/plans/{steward.plan}/certificate"
        page, other = (steward.client.get(path).json()["page"] for _ in range(2))
        assert page != other
        del steward.client.headers["Authorization"]
        first = steward.client.get(page)
        assert first.status_code == 200
        assert first.headers["content-security-policy"].startswith("sandbox;")
        assert steward.client.get(page).status_code == 401
        assert steward.client.get("/certificates/guess").status_code == 401
        assert steward.client.get(path).status_code == 401
        assert steward.client.get(other).status_code == 200


def test_tickets_that_nobody_uses_are_not_kept_for_ever(tmp_path: Path) -> None:
    tickets = OneTimeTokens()
    given = [tickets.issue(tmp_path) for _ in range(60)]
    assert [tickets.redeem(ticket) for ticket in given] == [None] * 10 + [tmp_path] * 50


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
    monkeypatch.setattr("hushway.workbench.plan_folder.PlanFolders.plans", fail)
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
