"""Whoever sends half a request stops nobody: such connections are few, and end soon."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest

from hushway.workbench import connections
from support.little_bench import come_in
from support.served import Served, served

HALF = b"GET / HTTP/1.1\r\nHost: "
HALF_A_BODY = (
    b"POST /api/login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
    b"Content-Length: 9\r\n\r\n{"
)
# None of them waits for as long as this, unless the server has forgotten a connection.
PATIENCE_S = 60


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as found:
        yield found


def half_sent(bench: Served) -> socket.socket:
    connection = socket.create_connection((bench.address.host, bench.address.port), PATIENCE_S)
    connection.sendall(HALF)
    return connection


def is_closed(connection: socket.socket) -> bool:
    """Waits until the server says or ends something."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_half_sent_requests_make_room_for_the_steward(bench: Served) -> None:
    with ExitStack() as stack:
        client = stack.enter_context(httpx2.Client(base_url=bench.address.url, timeout=PATIENCE_S))
        come_in(client, bench.printed)
        assert client.get("/api/state").status_code == 200
        held = [stack.enter_context(half_sent(bench)) for _ in range(3 * connections.MOST_UNKNOWN)]
        # The oldest are closed, as many as are too many; a new one of the steward's is taken.
        assert all(is_closed(one) for one in held[: 2 * connections.MOST_UNKNOWN])
        with httpx2.Client(base_url=bench.address.url, timeout=PATIENCE_S) as other:
            other.headers["Authorization"] = client.headers["Authorization"]
            assert other.get("/api/tasks").status_code == 200
        assert client.get("/api/tasks").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        HALF,
        HALF_A_BODY,
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_request_that_does_not_come_to_an_end_is_ended(
    bench: Served, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_SECONDS", 0.1)
    host = f"{bench.address.host}:{bench.address.port}".encode()
    address = bench.address.host, bench.address.port
    with socket.create_connection(address, PATIENCE_S) as connection:
        connection.sendall(sent.replace(b"{host}", host))
        assert is_closed(connection)


def test_a_connection_of_the_stewards_has_all_the_time_it_needs(
    bench: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited: list[connections.LimitedConnection] = []
    monkeypatch.setattr(
        connections.UnknownConnections, "end", lambda _all, one: limited.append(one)
    )
    monkeypatch.setattr(connections, "MOST_SECONDS", 3600.0)
    monkeypatch.setattr(connections, "MOST_UNKNOWN", 0)
    with httpx2.Client(base_url=bench.address.url, timeout=PATIENCE_S) as client:
        come_in(client, bench.printed)
        assert len(limited) == 1
        unknown = limited[0]._unknown
        assert limited[0] in unknown._open
        assert client.get("/api/tasks").status_code == 200
        assert limited[0] not in unknown._open
        assert len(limited) == 1
