"""From a plan to a job, by its family."""

from typing import assert_never

from hushway.families.density.job import prepare_density
from hushway.families.density.plan import DensityPlan
from hushway.families.links.job import prepare_links
from hushway.families.links.plan import LinksPlan
from hushway.families.load import Plan
from hushway.families.od.job import prepare_od
from hushway.families.od.plan import ODPlan
from hushway.families.sequences.job import prepare_sequences
from hushway.families.sequences.plan import SequencesPlan
from hushway.release.job import Job
from hushway.release.plan_sections import refuse_missing_files


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
