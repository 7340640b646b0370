"""A release, and the same release again from other rows with the answers of the first.

What differs between any two releases of one plan, whatever their rows are, is made the same here.
That is this short list, and there is nothing else:

- the moment: `created_at`, times of files and of entries of the ledger. A release shows when it was
  begun, to the second, and neither how long counting nor how long fitting took;
- the id of the release: a moment and a random word;
- the hash of the ledger's entry: of the id, of the moment, of what the plan says, of the key that
  decides whose rows are kept, a secret too random to guess, and of the letters by which ledgers are
  told apart. All of them are known before the first row is counted.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hushway.families.load import plan_from, prepare
from hushway.privacy import randomness
from hushway.privacy.ledger import Ledger, book, inspection
from hushway.privacy.loss import Measure, loss_of
from hushway.release.job import Job
from hushway.steward import certify
from hushway.steward import publish as publishing
from support.keys import RepeatedKeys
from support.replay.curators import Player, Recorder, Tape, looks_kept
from support.replay.rows import Crowd, another_crowd, one_crowd, write_public_and

Files = dict[str, tuple[bytes, int]]
"""Everything that a folder shows: bytes and times of all files, by their names."""

Change = Callable[[Job], Job]

_NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


class _Noon(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]  # one moment, not a _Noon
        return _NOON.astimezone(tz)


def _as_it_is(job: Job) -> Job:
    return job


def replayed(
    facts: dict[str, Any], folder: Path, change: Change = _as_it_is
) -> tuple[tuple[Files, Tape], tuple[Files, Tape]]:
    """Publishes one crowd, and then another with the answers that the first was given.

    Args:
        facts: The plan, as plain values.
        folder: An empty folder.
        change: Plants a mistake.

    Returns:
        What both releases show, what they asked, and what the answers to their own rows were.

    Raises:
        AskedOtherwiseError: The second asked something else than the first.
    """
    first, second = Tape(), Tape()
    with looks_kept(first):
        one = _published(facts, folder / "one", one_crowd, partial(Recorder, first), change)
    with looks_kept(second):
        play = partial(Player, first, second)
        other = _published(facts, folder / "other", another_crowd, play, change)
    return (one, first), (other, second)


def _published(
    facts: dict[str, Any],
    folder: Path,
    crowd: Crowd,
    curator: Callable[..., Any],
    change: Change,
) -> Files:
    write_public_and(crowd, folder)
    with _nothing_passes(folder), pytest.MonkeyPatch.context() as patch:
        patch.setattr(publishing, "Curator", curator)
        job = prepare(plan_from(facts, folder=folder))
        with Ledger.connect(job.plan.ledger_url()) as ledger:
            ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
        release = publishing.publish(change(job), anyway=True).folder
    return {
        str(path.relative_to(release)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(release.rglob("*"))
        if path.is_file()
    }


@contextmanager
def _nothing_passes(folder: Path) -> Iterator[None]:
    """Lets the clock stand still, and every release begin with the same key of noise."""
    keys = RepeatedKeys()
    with pytest.MonkeyPatch.context() as patch, keys.of("replay"):
        patch.setattr(randomness, "os", keys)
        patch.setattr(certify, "datetime", _Noon)
        for module in (book, inspection):
            patch.setattr(module, "now_text", lambda: _NOON.isoformat(timespec="seconds"))
        patch.setattr(secrets, "token_hex", lambda length: "00" * length)
        # Ledgers that are alike to the last byte would be taken for copies of one.
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield
