"""Whether the files that a plan names are there, asked before any of them is read."""

import os
from collections.abc import Iterator
from pathlib import Path

from hushway.errors import PlanError
from hushway.release.plan_sections import AnyPlan
from hushway.release.plan_values import Section


def refuse_missing_files(plan: AnyPlan) -> None:
    """Refuses a plan that names files which are not there, also those that nothing would read.

    A pipe or a device counts as missing: reading it could take for ever. The protected rows are
    left to those who know their folders and patterns.

    Raises:
        PlanError: Files are missing; the message lists all of them.
    """
    missing = [
        f"  {option}: there is no file {path}"
        for option, path in _named(plan)
        # A timetable or a road network may be a folder.
        if not os.path.isfile(path) and not os.path.isdir(path)  # noqa: PTH112, PTH113  never raise
    ]
    if missing:
        raise PlanError(
            "The plan names files that are not there, or that are no files:\n" + "\n".join(missing),
            advice="Correct the names, which are taken from the plan's own folder; leave out what "
            "is not needed.",
        )


def _named(plan: AnyPlan) -> Iterator[tuple[str, Path]]:
    for table in type(plan).model_fields:
        section = getattr(plan, table)
        if isinstance(section, Section):
            for option in section.named_files:
                name = getattr(section, option)
                if name is not None:
                    yield f"{table}.{option}", plan.path(name)
