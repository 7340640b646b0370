"""Keys in tests follow from names, so no run of the tests is luckier than another."""

import os

import pytest

from hushway.privacy.randomness import os_source
from support.keys import RepeatedKeys


def drawn() -> list[int]:
    return [int(word) for word in os_source().words(3)]


@pytest.fixture
def keys(request: pytest.FixtureRequest) -> RepeatedKeys:
    """What this run of tests itself uses."""
    plugins = request.config.pluginmanager.get_plugins()
    return next(plugin for plugin in plugins if isinstance(plugin, RepeatedKeys))


@pytest.fixture
def drawn_by_fixture() -> list[int]:
    return drawn()


def test_what_a_test_draws_follows_from_its_name(
    keys: RepeatedKeys, request: pytest.FixtureRequest
) -> None:
    first = drawn()
    assert drawn() != first
    with keys.of(request.node.nodeid):
        assert drawn() == first
    with keys.of("another test"):
        assert drawn() != first


def test_a_key_is_given_once(keys: RepeatedKeys) -> None:
    assert keys.urandom(32) != keys.urandom(32)


def test_what_was_drawn_for_another_name_in_between_is_not_drawn_again(keys: RepeatedKeys) -> None:
    before = drawn()
    with keys.of("in between"):
        between = drawn()
    assert drawn() not in (before, between)


def test_fixtures_draw_their_own(drawn_by_fixture: list[int]) -> None:
    assert drawn() != drawn_by_fixture


def test_another_process_asks_the_operating_system(
    keys: RepeatedKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    for _ in range(2):
        with keys.of("a parent"), monkeypatch.context() as patch:
            patch.setattr(os, "getpid", lambda: -2)
            given.append(keys.urandom(32))
    assert given[0] != given[1]
