"""What all tests share: nothing of the user's own is touched."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, and no clock: a test must not fail by luck.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")


@pytest.fixture(scope="session", autouse=True)
def state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Lets ledgers be remembered somewhere else than in the user's home."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def nothing_remembered(
    state_of_its_own: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forgets ledgers after each test: many use copies of one, and would look like old ones."""
    monkeypatch.setenv(
        "XDG_STATE_HOME", str(state_of_its_own / str(abs(hash(request.node.nodeid))))
    )
