"""Keys of noise that come again: what a test publishes is the same in every run.

A release in a test is drawn as a steward's is, by the source that counts as private. Only what the
operating system would give that source as its key follows from the name of the test, or of the
fixture that publishes. Without that, one run in some hundred met a release that held nothing to
damage or to look for. Processes that a test starts ask the operating system as ever.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hushway.privacy import randomness


class RepeatedKeys:
    """A plugin that gives every test and every fixture keys of its own, whatever ran before."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._names: list[str] = []
        self._given: list[int] = []

    def urandom(self, size: int) -> bytes:
        """Returns what the operating system would return, or what follows from the test's name."""
        # A forked child that got its parent's keys would draw its parent's noise.
        if not self._names or os.getpid() != self._process:
            return os.urandom(size)
        self._given[-1] += 1
        text = f"{self._names[-1]} {self._given[-1]}"
        return hashlib.shake_256(text.encode()).digest(size)

    def getpid(self) -> int:
        """Returns the process, which a source asks for beside its key."""
        return os.getpid()

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Lets keys follow from a name, until something else has its own."""
        self._names.append(name)
        self._given.append(0)
        randomness._forget_all()
        try:
            yield
        finally:
            self._names.pop()
            self._given.pop()
            randomness._forget_all()

    def pytest_configure(self, config: pytest.Config) -> None:
        """Stands between the source and the operating system until the run ends."""
        patch = pytest.MonkeyPatch()
        patch.setattr(randomness, "os", self)
        config.add_cleanup(patch.undo)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, request: pytest.FixtureRequest) -> Iterator[Any]:
        """What fixtures publish is the same, whichever test is the first to ask for them."""
        place = getattr(request, "param_index", 0)
        with self.of(f"{request.node.nodeid} {request.fixturename} {place}"):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """So is what the test itself does."""
        with self.of(item.nodeid):
            yield
