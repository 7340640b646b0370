"""A publish of any family that is killed: the ledger and the disk tell one story afterwards."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.little_plans import FAMILIES

# Whether a release is shown, and what the ledger says of it.
PUBLISHED = [True, ["reserve", "publish"]]
NOT_BEGUN = [False, []]
LOST = [False, ["reserve", "abandon"]]


# Of trips, test_endings.py tries more moments, without an engine.
@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_a_killed_publish_can_always_be_settled(family: str, tmp_path: Path) -> None:
    # In a process of its own: children are forked from it, so it must not have started threads.
    done = subprocess.run(
        [sys.executable, "-m", "support.killed", str(tmp_path), family],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    undisturbed, *killed = json.loads(done.stdout)
    assert undisturbed == PUBLISHED
    assert NOT_BEGUN in killed
    assert LOST in killed
    assert all(story in (PUBLISHED, NOT_BEGUN, LOST) for story in killed)
