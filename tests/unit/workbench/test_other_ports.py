"""Other servers on this machine: they receive nothing that opens the workbench."""

import errno
import socket
from pathlib import Path

import httpx2
import pytest

from hushway.errors import HushwayError
from hushway.workbench import http_server
from hushway.workbench.addresses import LOOPBACK
from support.little_bench import come_in
from support.other_port import another_port
from support.served import served


def test_another_port_gets_nothing_that_it_could_replay(plan: Path) -> None:
    """Like a browser, the client sends its cookies to all ports of a host."""
    with (
        served(plan.parent) as bench,
        another_port() as other,
        httpx2.Client(base_url=bench.address.url, timeout=60) as browser,
    ):
        come_in(browser, bench.printed)
        assert browser.get("/api/state").json()["plans"]
        # Only the page's own script sets this header, and only for its own server.
        del browser.headers["Authorization"]
        browser.get(other.url)
        browser.get(f"{other.url}/again")
        assert len(other.heard) == 2
        answers = list(other.replayed(bench.address.url))
    assert {status for status, _ in answers} <= {401, 403}
    assert not [text for _, text in answers if "plan.toml" in text]


def test_localhost_is_taken_under_both_of_its_numbers() -> None:
    listeners = http_server.listen_as_localhost()
    ports = {listener.getsockname()[1] for listener in listeners}
    numbers = [listener.getsockname()[0] for listener in listeners]
    for listener in listeners:
        listener.close()
    assert len(ports) == 1
    assert numbers in ([LOOPBACK, "::1"], [LOOPBACK])


def test_a_port_on_which_somebody_else_would_answer_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[int] = []
    bound = http_server._bound

    def first_two_are_taken(host: str, port: int) -> socket.socket:
        if host == http_server.LOOPBACK_6 and len(taken) < 2:
            taken.append(port)
            raise OSError(errno.EADDRINUSE, "taken")
        return bound(host, port)

    monkeypatch.setattr(http_server, "_bound", first_two_are_taken)
    first, *others = http_server.listen_as_localhost()
    assert first.getsockname()[1] not in taken
    for listener in (first, *others):
        listener.close()


@pytest.mark.parametrize("number", [errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT])
def test_without_ipv6_one_number_is_enough(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    _refuse_ipv6(monkeypatch, number)
    (only,) = http_server.listen_as_localhost()
    with only:
        assert only.getsockname()[0] == LOOPBACK


def test_if_no_port_is_free_under_both_numbers_that_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _refuse_ipv6(monkeypatch, errno.EADDRINUSE)
    with pytest.raises(HushwayError, match="No port is free") as caught:
        http_server.listen_as_localhost()
    assert "End other servers" in caught.value.advice


def _refuse_ipv6(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    bound = http_server._bound

    def refuse(host: str, port: int) -> socket.socket:
        if host == http_server.LOOPBACK_6:
            raise OSError(number, "no")
        return bound(host, port)

    monkeypatch.setattr(http_server, "_bound", refuse)
