"""Coarser places that a plan for sequences could ask for, and records without times."""

from collections.abc import Iterator
from contextlib import suppress

from hushway.errors import HushwayError
from hushway.families.sequences.job import planned_taxonomy
from hushway.families.sequences.plan import SequencesPlan, TaxonomyPlan
from hushway.release.forecast.coarser import Coarser

_ZONE = "zone"
# What groups single places.
_TAXONOMY = ("taxonomy.columns", "taxonomy.gtfs", "taxonomy.fan_out")


def coarser_sequences(plan: SequencesPlan) -> Iterator[Coarser]:
    """Yields plans without times, of places by a public column, and of both."""
    finest = Coarser(words="", changes={}, plan=plan)
    bare = plan
    if plan.records.times:
        bare = _without_times(plan)
        finest = Coarser(words="no times", changes={"records.times": False}, plan=bare)
        yield finest
    for column in dict.fromkeys((*reversed(plan.taxonomy.columns), _ZONE)):
        changed = _grouped(bare, column)
        # A column that is not there, or with gaps, groups nothing.
        with suppress(HushwayError):
            if 1 < _places(changed) < _places(plan):
                words = ", ".join(filter(None, (f"places by {column}", finest.words)))
                changes = {"places.group": column, **dict.fromkeys(_TAXONOMY), **finest.changes}
                yield Coarser(words=words, changes=changes, plan=changed)


def _without_times(plan: SequencesPlan) -> SequencesPlan:
    records = plan.records.model_copy(update={"times": False})
    return plan.model_copy(update={"records": records})


def _grouped(plan: SequencesPlan, column: str) -> SequencesPlan:
    places = plan.places.model_copy(update={"group": column})
    return plan.model_copy(update={"places": places, "taxonomy": TaxonomyPlan()})


def _places(plan: SequencesPlan) -> int:
    return len(planned_taxonomy(plan).taxonomy.locations)
