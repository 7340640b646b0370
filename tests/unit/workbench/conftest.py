"""A steward's folder, and a browser that has come in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.little_bench import Steward, open_account, steward_of, write_plan


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """The smallest plan, in a folder of its own."""
    folder = tmp_path / "city"
    folder.mkdir()
    return write_plan(folder)


@pytest.fixture
def funded(plan: Path) -> Path:
    """The same, with an account that can pay for four releases."""
    open_account(plan)
    return plan


@pytest.fixture
def steward(plan: Path) -> Iterator[Steward]:
    """A browser that has come in."""
    with steward_of(plan.parent) as found:
        yield found
