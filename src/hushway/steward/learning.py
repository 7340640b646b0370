"""A release of a series learns from those before it, if the ledger knows them."""

from hushway.errors import ReleaseError
from hushway.families.other_steps import earlier_releases, learning_from
from hushway.families.sealed import witness_of
from hushway.privacy.ledger import Ledger
from hushway.progress import Progress, quiet
from hushway.release.job import Job
from hushway.release.others import OtherRelease


def learning(job: Job, ledger: Ledger | None, progress: Progress = quiet) -> Job:
    """Returns a job whose fit learns from earlier releases, if its plan says so.

    Privacy:
        What a fit learns from must have been charged for: the ledger has to know each release,
        with these very files.

    Raises:
        ReleaseError: A release is not as it was sealed, or the ledger does not know it.
        PlanError: The mechanism learns from none.
    """
    series = job.plan.series
    if series is None or series.learn_from is None or ledger is None:
        return job
    progress("Reading the releases of earlier steps")
    others = earlier_releases(job, job.plan.path(series.learn_from))
    for other in others:
        _refuse_unknown(other, ledger)
    return learning_from(job, others)


def _refuse_unknown(other: OtherRelease, ledger: Ledger) -> None:
    certificate = other.certificate
    unlike = ledger.witness(witness_of(certificate, other.seal))
    if unlike or not ledger.binds_files(certificate.release_id):
        raise ReleaseError(
            f"The ledger does not know the release {other.folder.name} with these very files, so "
            "that nothing may be learnt from it. Nothing was spent.",
            advice="Move it out of the folder that series.learn_from names.",
        )
