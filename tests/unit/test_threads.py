"""A plan takes no more threads than there are processors."""

import logging
from pathlib import Path

import pytest

from hushway.families.load import plan_from
from hushway.release import job
from support.little_plans import little_plan


@pytest.mark.parametrize(("asked", "used"), [(None, None), (1, 1), (3, 3), (4, 3), (10**9, 3)])
def test_threads_beyond_the_processors_are_not_made(
    asked: int | None,
    used: int | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(job, "processors", lambda: 3)
    facts = little_plan("od")
    facts["engine"]["threads"] = asked
    with caplog.at_level(logging.WARNING):
        assert job.settings_of(plan_from(facts, folder=Path())).threads == used
    assert ("more threads than the 3 processors" in caplog.text) == (
        asked is not None and asked > 3
    )
