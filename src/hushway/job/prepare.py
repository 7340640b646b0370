"""From a plan to a job, by its family."""

from typing import assert_never

from hushway.job.density import prepare_density
from hushway.job.job import Job
from hushway.job.links import prepare_links
from hushway.job.od import prepare_od
from hushway.job.sequences import prepare_sequences
from hushway.plan import DensityPlan, LinksPlan, ODPlan, Plan, SequencesPlan
from hushway.plan.named_files import refuse_missing_files


def prepare(plan: Plan) -> Job:
    """Reads the public files of a plan and sets up its mechanism.

    Raises:
        PlanError: A file that the plan names is not there.
        GeographyError: A public file is wrong.
    """
    refuse_missing_files(plan)
    match plan:
        case ODPlan():
            return prepare_od(plan)
        case SequencesPlan():
            return prepare_sequences(plan)
        case DensityPlan():
            return prepare_density(plan)
        case LinksPlan():
            return prepare_links(plan)
        case _:
            assert_never(plan)
