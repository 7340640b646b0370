"""What is wrong with the taps, for the steward's own screen, before any budget is touched."""

from dataclasses import dataclass, replace
from typing import Any, Final

import ibis
from hushway import families as hw

from hushway_visits.public import StopHours
from hushway_visits.rows import Taps, TapsSource, VisitCounter, VisitPart, mark

_WORDS: Final = {
    **hw.ROW_WORDS,
    "unknown_place": ("The stop is not in the public list of stops.", hw.UNKNOWN),
    "outside_window": hw.OUTSIDE_WINDOW,
    "shared_ids": (hw.TOO_MANY, f"{hw.LEAVE_OUT} or give each card an id of its own."),
}
# A card may be used often, but hardly every minute.
_MINUTES_OF_DAY = 24 * 60


@dataclass(frozen=True, kw_only=True)
class TapRows:
    """The taps of a plan.

    Attributes:
        source: Where they are.
        cells: The public stops and periods.
        max_visits: How many visits of one person count.
        unit: Who is protected.
        policy: What becomes of taps that cannot be counted.
    """

    source: TapsSource
    cells: StopHours
    max_visits: int
    unit: hw.Unit
    policy: hw.Policy

    def counter(self, context: hw.CountingContext) -> VisitCounter:
        """Returns who counts them, each person bounded."""
        return VisitCounter(
            source=self.source,
            cells=self.cells,
            unit=self.unit,
            part=VisitPart(max_visits=self.max_visits, key=context.key),
            settings=context.settings,
            progress=context.progress,
        )

    def check(self, settings: hw.EngineSettings, *, notes: bool) -> hw.RowsChecked:
        """Returns what is wrong with the taps; with notes also what may be, and what was found.

        Privacy:
            Exact counts, for the steward's own screen; nothing of it may enter a release.

        Raises:
            DataError: The taps cannot be read at all, or there are none.
        """
        with hw.open_session(settings) as session:
            reading = hw.Reading(
                layout=session.layout(self.source), read=Taps(self.source), together="person"
            )
            rows = session.rows(reading)
            grid = hw.time_grid(self.cells.periods, self.source.clock)
            marked = mark(session, rows, self.cells.stops, grid)
            found = hw.counts_found(session, self._summary(marked), "taps", "tap", None)
            profile = hw.rows_found(found)
            if notes:
                found |= hw.ids_with_too_many(session, hw.rows_between(rows, grid))
                profile = replace(profile, **self._notes(session, rows, marked, found))
        return hw.rows_checked(found, profile, self.source.columns, self.policy, _WORDS)

    def _summary(self, rows: ibis.Table) -> ibis.Table:
        """Returns one row with the number of taps of every kind."""
        kinds = {
            **hw.null_kinds(rows, {"person": "person", "location": "location"}),
            **hw.time_kinds(rows, self.cells.periods if self.source.clock == "local" else None),
            "unknown_place": rows.location.notnull() & rows.place.isnull(),
            "kept": rows.kept,
        }
        return hw.summary_of(rows, kinds, **hw.place_counts("stop", rows.location, rows.place))

    def _notes(
        self, session: hw.Session, rows: ibis.Table, marked: ibis.Table, found: dict[str, int]
    ) -> dict[str, Any]:
        periods = self.cells.periods
        kept = marked.filter(marked.kept)
        visits = kept.select("person", "place", "period").distinct()
        people = kept.group_by("person").aggregate(rows=kept.count())
        visitors = visits.group_by("person").aggregate(rows=visits.count())
        plausible = len(periods.days) * _MINUTES_OF_DAY
        limited = hw.sizes_of(session, visitors, "rows").limited(
            "max_visits", "visits", self.max_visits
        )
        return {
            "times": hw.times_found(session, rows, periods, self.source.clock),
            "places": (hw.places_found("stops", "stop", len(self.cells.stops), found),),
            "people": hw.sizes_of(session, people, "rows").people(plausible),
            "limits": (limited,),
        }
