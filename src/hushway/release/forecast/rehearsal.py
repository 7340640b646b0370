"""What a plan makes of invented rows: its mechanism, with noise that is not secret."""

from typing import Any, Final

from hushway.privacy.curator import Curator
from hushway.privacy.query import Counter
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress, quiet
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.job import Job

_SEED: Final = 1


def rehearsed(job: Job, counter: Counter, *, progress: Progress = quiet) -> Any:
    """Returns the table that a mechanism makes of invented rows."""
    progress("Counting invented rows with noise")
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(_SEED))
    measured = job.mechanism.measure(curator, job.geography)
    progress("Fitting")
    return job.mechanism.fit(measured, job.geography)
