"""Coarser places and periods that an OD plan could ask for: public groupings that it knows."""

from collections.abc import Iterator
from contextlib import suppress

from hushway.errors import HushwayError
from hushway.families.od.job import prepare_od
from hushway.families.od.mechanism.learned import LearnedOptions
from hushway.families.od.plan import ODPlan
from hushway.families.od.public.cells import ODCells
from hushway.release.forecast.coarser import Coarser, longer_periods

# What names single places, or totals that are made of them.
_OF_SINGLE_PLACES = (
    "places.pairs",
    "places.pair_columns",
    "published_totals",
    "mechanism.published_totals",
    "mechanism.budget_shares",
)


def coarser_od(plan: ODPlan) -> Iterator[Coarser]:
    """Yields plans of longer periods, of places by a public column, and of both."""
    periods = plan.time.periods(plan.path)
    yield from longer_periods(plan, periods)
    for column in dict.fromkeys(one.places for one in plan.defined_features.values()):
        by_column = None if column is None else _grouped(plan, column)
        if by_column is None:
            continue
        yield by_column
        for longer in longer_periods(by_column.plan, periods):
            yield Coarser(
                words=f"{by_column.words}, {longer.words}",
                changes={**by_column.changes, **longer.changes},
                plan=longer.plan,
            )


def _grouped(plan: ODPlan, column: str) -> Coarser | None:
    """Returns a plan whose places are the labels of a column; None if that makes no sense."""
    if plan.places.file is None or not isinstance(plan.mechanism, LearnedOptions):
        return None
    places = plan.places.model_copy(
        update={"group": column, "pairs": None, "include_intrazonal": True}
    )
    mechanism = plan.mechanism.model_copy(update={"published_totals": None, "budget_shares": None})
    changed = plan.model_copy(
        update={"places": places, "mechanism": mechanism, "published_totals": {}}
    )
    # A column that is not there, or with gaps, groups nothing.
    with suppress(HushwayError):
        if 1 < _places(changed) < _places(plan):
            taken_out = dict.fromkeys(_OF_SINGLE_PLACES)
            # Trips within a group are trips, too.
            changes = {"places.group": column, "places.include_intrazonal": True}
            return Coarser(words=f"places by {column}", changes=changes | taken_out, plan=changed)
    return None


def _places(plan: ODPlan) -> int:
    cells = prepare_od(plan).geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    return len(cells.locations)
