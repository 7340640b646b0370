"""What a release is off by, against the exact rows of its plan: for the steward's own eyes."""

from pathlib import Path

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import family_certified
from hushway.families.verify import read_certificate, verify
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import os_source
from hushway.progress import Progress
from hushway.release.job import CountingContext, Job, settings_of
from hushway.release.true_errors import TrueErrors
from hushway.tables.check import refuse_problems


def true_errors(release: Path, plan: Path, *, progress: Progress) -> Internal[TrueErrors]:
    """Compares a release with all rows of its plan.

    Privacy:
        Reads all exact rows, nobody's cut down: what it returns carries no guarantee and is refused
        by every writer of releases. It spends nothing, because nothing of it may be published.

    Args:
        release: The release folder.
        plan: The plan that it was published with.
        progress: Told what is being done.

    Raises:
        ReleaseError: There is no release, or it does not verify.
        PlanError: The plan is not that of the release.
        DataError: Rows have problems that the plan refuses.
    """
    if not verify(release).intact:
        raise ReleaseError(
            f"The release {release.name} is not as it was written.",
            advice="See what is wrong with: hushway verify RELEASE",
        )
    terms = read_certificate(release).terms
    family = family_certified(terms.release_type)
    if family.true_errors is None:
        raise ReleaseError(
            f"Releases of the type {family.name} cannot be compared with the truth.",
            advice="Compare a release of another type.",
        )
    job = prepare(load_plan(plan))
    same = job.terms.release_type == terms.release_type
    if not same or job.terms.domain.digest != terms.domain.digest:
        raise PlanError(
            f"The plan does not count {job.wording.counted} by the places and periods of the "
            "release.",
            advice="Give the plan that the release was published with, and its public files.",
        )
    return family.true_errors(release, job, exact_context(job, progress))


def exact_context(job: Job, progress: Progress) -> CountingContext:
    """Checks the rows of a job, and returns what counts them.

    Raises:
        DataError: Rows have problems that the plan refuses.
    """
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
