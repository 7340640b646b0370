"""Writes a file of aliases for names in rows that the public list of places does not have."""

import os
from pathlib import Path

from hushway.errors import PlanError
from hushway.families.load import load_plan
from hushway.release.folder.new_file import write_new
from hushway.release.plans.sections import PlaceListPlan
from hushway.steward.jobs import PlanLike
from hushway.tables.aliases import aliases_csv, read_aliases
from hushway.tables.check import RowsChecked

OPTION = "places.aliases"


def write_aliases(plan: PlanLike, checked: RowsChecked, file: Path) -> int:
    """Writes names without a place, each with the place that it is most like; the plan reads them.

    Privacy:
        The file holds names found in rows. It is for the steward, who reads it before rows are
        read by it; no release tells of it.

    Returns:
        How many names it has.

    Raises:
        PlanError: The plan is no file, or has no list of places.
        ReleaseError: The file exists already.
    """
    if not isinstance(plan, str | Path):
        raise PlanError("Aliases are written for a plan in a file.", advice="Give its path.")
    places = getattr(load_plan(plan), "places", None)
    if not isinstance(places, PlaceListPlan):
        raise PlanError(
            "The plan has no list of places, which aliases could name.",
            advice="Leave out --aliases.",
        )
    folder = Path(plan).parent
    names = {} if places.aliases is None else read_aliases(folder / places.aliases)
    found = () if checked.found is None else checked.found.places
    names |= {one.name: one.nearest or "" for places in found for one in places.names}
    write_new(file, aliases_csv(names))
    _name_in_plan(Path(plan), file)
    return len(names)


def _name_in_plan(plan: Path, file: Path) -> None:
    from hushway.steward.plan_edit import with_changes

    named = os.path.relpath(file, plan.parent)
    text = with_changes(plan.read_text(encoding="utf-8"), {OPTION: named})
    plan.write_text(text, encoding="utf-8")
