"""Runs a release on a made-up city, so that the machine code of its mechanism is made and kept.

Run as a process of its own: python -m hushway.warming.rehearse TYPE MECHANISM
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hushway.auditing.product import filled_budget
from hushway.engine.key import BoundingKey
from hushway.families.load import plan_from, prepare
from hushway.families.registry import family_named
from hushway.numerics.code_folder import code_folder
from hushway.privacy.curator import Curator
from hushway.privacy.loss import total
from hushway.privacy.randomness import SeededSource
from hushway.release.job import CountingContext, settings_of


def rehearse(release_type: str, mechanism: str) -> None:
    """Checks, counts and fits rows of a made-up city. Nothing is written that stays.

    Privacy:
        The rows are invented here, and the noise is replayable: nobody is counted. No ledger is
        touched.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = prepare(plan_from(rehearsed_plan(release_type, mechanism, folder), folder=folder))
        settings, source = settings_of(job.plan), SeededSource(1)
        job.rows.check(settings, notes=False)
        counter = job.rows.counter(
            CountingContext(
                key=BoundingKey.draw(source), bits=source, settings=settings, progress=_unheard
            )
        )
        budget = filled_budget(job.plan.privacy.unit, total(job.mechanism.losses))
        curator = Curator(counter=counter, budget=budget, source=source)
        job.mechanism.fit(job.mechanism.measure(curator, job.geography), job.geography)


def rehearsed_plan(release_type: str, mechanism: str, folder: Path) -> dict[str, Any]:
    """Writes the rows of a made-up city, and returns a plan for them."""
    return {
        "release_type": release_type,
        "ledger": {"period": "none"},
        "release": {"folder": "release", "title": "A rehearsal"},
        # Loading what encrypts takes longer than counting these rows.
        "engine": {"encrypt_spills": False},
        "mechanism": {"name": mechanism},
        **(family_named(release_type).little_plan(folder) or {}),
    }


def _unheard(_share: float) -> None:
    pass


def marker(release_type: str, mechanism: str) -> Path | None:
    """Returns the file that says that a rehearsal was run with just these sources; None if nowhere.

    It lies with the machine code, whose folder is called after all that the code depends on.
    """
    folder = code_folder()
    return None if folder is None else folder / f"rehearsed-{release_type}-{mechanism}"


def main() -> None:
    """Rehearses what the arguments name, and notes that it was done."""
    release_type, mechanism = sys.argv[1:]
    rehearse(release_type, mechanism)
    done = marker(release_type, mechanism)
    if done is not None:
        done.touch()


if __name__ == "__main__":
    main()
