"""From a plan to a job, by its family."""

from hushway.job.job import Job
from hushway.job.od import prepare_od
from hushway.job.sequences import prepare_sequences
from hushway.plan import ODPlan, Plan


def prepare(plan: Plan) -> Job:
    """Reads the public files of a plan and sets up its mechanism.

    Raises:
        GeographyError: A public file is wrong.
    """
    return prepare_od(plan) if isinstance(plan, ODPlan) else prepare_sequences(plan)
