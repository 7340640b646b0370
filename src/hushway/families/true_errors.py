"""What a release is off by, against the exact rows of its plan: for the steward's own eyes."""

from pathlib import Path

from hushway.errors import PlanError, ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import family_certified
from hushway.families.verify import verified
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.release.forecast.true_errors import TrueErrors, exact_context


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
    certificate, _ = verified(release)
    terms = certificate.terms
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
