"""How far a release is from the truth, for the steward's own eyes."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray
from hushway.engine.key import BoundingKey
from hushway.privacy.randomness import os_source
from hushway.progress import Progress
from hushway.release.job import CountingContext, Job, settings_of
from hushway.tables.check import refuse_problems


@dataclass(frozen=True, kw_only=True)
class TrueErrors:
    """How far a release is from the truth.

    Privacy:
        Made of exact counts: only ever inside `hushway.privacy.measured.Internal`.

    Attributes:
        counted: What is counted, such as "trips".
        total: All of them as published, and as they are.
        misplaced: The sum of absolute errors over all cells, as a share of all that is counted;
            None if figures overlap, as prefixes do.
        figures: The mean absolute error of figures that readers look up, by their names.
    """

    counted: str
    total: tuple[float, float]
    misplaced: float | None
    figures: dict[str, float]


def mean_error(published: FloatArray, true: FloatArray) -> float:
    """Returns the mean absolute error of figures; 0 if there are none."""
    return float(np.abs(published - true).mean()) if len(published) else 0.0


def grid_errors(counted: str, place: str, published: FloatArray, true: FloatArray) -> TrueErrors:
    """Compares figures by (place, period), with 0 where nothing is published.

    Args:
        place: What a place is called, such as "an area".
    """
    busy, shown = true > 0, published > 0
    misplaced = float(np.abs(published - true).sum()) / max(1.0, float(true.sum()))
    return TrueErrors(
        counted=counted,
        total=(float(published.sum()), float(true.sum())),
        misplaced=misplaced,
        figures={
            f"{place} in a period that holds {counted}": mean_error(published[busy], true[busy]),
            f"{place} in a period that is published above 0": mean_error(
                published[shown], true[shown]
            ),
            f"{place}'s total": mean_error(published.sum(axis=1), true.sum(axis=1)),
            "a period's total": mean_error(published.sum(axis=0), true.sum(axis=0)),
            f"all {counted}": abs(float(published.sum() - true.sum())),
        },
    )


def exact_context(job: Job, progress: Progress) -> CountingContext:
    """Checks the rows of a job, and returns what counts them."""
    settings = settings_of(job.plan)
    progress(f"Checking the {job.wording.rows}")
    refuse_problems(job.rows.check(settings, notes=False).everything)
    counting = f"Counting the exact {job.wording.counted}"
    progress(counting)
    source = os_source()
    return CountingContext(
        key=BoundingKey.draw(source),
        bits=source,
        settings=settings,
        progress=lambda share: progress(counting, share),
    )
