"""The fleet that a city would size by a release of invented trips, where there is a network."""

import time
from pathlib import Path
from typing import Any, Final

from hushway.errors import HushwayError, PlanError
from hushway.families.od.fit.table import ODTable
from hushway.geography.itineraries import itineraries
from hushway.privacy.query import Counter, Query
from hushway.release.job import Job
from hushway.transit.day_demand import DayDemand, Hours, one_day
from hushway.transit.fleet import MEAN_WAIT_S
from hushway.transit.judge import judge_fleet
from hushway.transit.network.file import read_network
from hushway.transit.operations import ServiceRules
from hushway.workbench.worker_events import EventWriter

NETWORK: Final = "network.toml"
_MORNING: Final = (8 * 60, 10 * 60)
_MOST_SECONDS: Final = 30.0


class _TooLongError(Exception):
    pass


def sized_fleet(
    job: Job, table: object, counter: Counter, folder: Path, events: EventWriter
) -> dict[str, Any] | None:
    """Sizes the fleet of the morning, by the noisy table and by the invented trips themselves.

    Args:
        job: The plan.
        table: What was published of invented trips.
        counter: Who counts those trips.
        folder: The folder of the plan, which may have a network.toml.
        events: Told what is being done.

    Returns:
        The two fleets; None without a network, or where it takes too long.
    """
    if not isinstance(table, ODTable) or not (folder / NETWORK).is_file():
        return None
    universe = table.universe
    truth = counter.count(Query(name=universe.name, cells=universe))
    began = time.monotonic()

    def progress(step: str, share: float | None = None, /) -> None:
        if time.monotonic() - began > _MOST_SECONDS:
            raise _TooLongError
        events.progress(step, share)

    try:
        demand, hours = _morning(table, truth.cells, truth.values)
        verdict = judge_fleet(
            demand[0],
            itineraries(read_network(folder / NETWORK, universe.locations)),
            truth=demand[1],
            draws=1,
            rules=ServiceRules(),
            mean_wait_s=MEAN_WAIT_S,
            progress=progress,
        ).value
    except (HushwayError, _TooLongError):
        return None
    true_days = verdict.truth
    return {
        "hours": None if hours is None else "08:00-10:00",
        "vehicles": verdict.fleet.median,
        "vehicles_without_noise": None if true_days is None else true_days.fleet.median,
        "zones": [{"zone": one.zone, "vehicles": one.fleet.median} for one in verdict.zones],
        "unit": str(job.plan.privacy.unit),
    }


def _morning(
    table: ODTable, cells: Any, counts: Any
) -> tuple[tuple[DayDemand, DayDemand], Hours | None]:
    """Returns the demand of the morning by both tables; of the whole day if periods are longer."""
    for hours in (_MORNING, None):
        try:
            noisy = one_day(table.universe, table.cells, table.counts, hours=hours)
            return (noisy, one_day(table.universe, cells, counts, hours=hours)), hours
        except PlanError:
            continue
    raise PlanError("The periods hold no day.", advice="Name hours.")
