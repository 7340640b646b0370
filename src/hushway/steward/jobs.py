"""Plans as the verbs take them: a file, a plan, or a job that was prepared from one."""

from pathlib import Path

from hushway.families.load import load_plan, prepare
from hushway.release.job import Job
from hushway.release.plans.sections import AnyPlan

PlanLike = Job | AnyPlan | Path | str


def plan_of(plan: PlanLike) -> AnyPlan:
    """Returns the plan itself.

    Raises:
        PlanError: The file is missing, is not TOML, or does not describe a release.
    """
    if isinstance(plan, Job):
        return plan.plan
    return load_plan(plan) if isinstance(plan, str | Path) else plan


def job_of(plan: PlanLike, *, rows: bool = False) -> Job:
    """Returns the prepared job.

    Args:
        plan: A plan in any form.
        rows: Whether the protected rows must exist too. They are not read here.

    Raises:
        PlanError: The plan is wrong, or files or columns that it names do not exist.
        GeographyError: A public file is wrong.
    """
    return plan if isinstance(plan, Job) else prepare(plan_of(plan), rows=rows)
