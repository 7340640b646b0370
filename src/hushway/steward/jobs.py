"""Plans as the verbs take them: a file, a plan, or a job that was prepared from one."""

from pathlib import Path

from hushway.errors import PlanError
from hushway.families.load import load_plan, prepare
from hushway.release.job import Job
from hushway.release.plans.sections import AnyPlan

PlanLike = Job | AnyPlan | Path | str


def plan_of(plan: PlanLike, *, step: str | None = None) -> AnyPlan:
    """Returns the plan itself.

    Args:
        plan: A plan in any form.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        PlanError: The file is missing, is not TOML, or does not describe a release; or a step is
            named beside a plan that has been read.
    """
    if isinstance(plan, str | Path):
        return load_plan(plan, step=step)
    if step is not None:
        raise PlanError(
            "The plan has been read, with its step.",
            advice='Name the step when it is read: load_plan("plan.toml", step="2026-04").',
        )
    return plan.plan if isinstance(plan, Job) else plan


def job_of(plan: PlanLike, *, rows: bool = False, step: str | None = None) -> Job:
    """Returns the prepared job.

    Args:
        plan: A plan in any form.
        rows: Whether the protected rows must exist too. They are not read here.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        PlanError: The plan is wrong, or files or columns that it names do not exist.
        GeographyError: A public file is wrong.
    """
    read = plan_of(plan, step=step)
    return plan if isinstance(plan, Job) else prepare(read, rows=rows)
