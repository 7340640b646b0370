"""What rides that are made of taps must not give away: where others went."""

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import ibis
import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, cases_of
from hushway.auditing.product import microseconds, small_batches
from hushway.auditing.suite import mutant
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.key import BoundingKey
from hushway.engine.session import Reading, Session, Shape
from hushway.families.od.audit.stage import ODProduct, ODStage, ToyUniverse, staged, toy_universe
from hushway.families.od.rows.counter import EngineTrips
from hushway.geography.locations import NOT_KNOWN, Location, Locations
from hushway.journeys.calendars import day_number
from hushway.journeys.rides import PublicRides
from hushway.journeys.taps import TapColumns, TapsSource
from hushway.journeys.timetable import Pattern, Timetable
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource

_CORNERS = 150
_OTHERS = 20
_MINUTE_US = 60_000_000
_DAY_US = 24 * 60 * _MINUTE_US


@dataclass(frozen=True, kw_only=True)
class Tap:
    """A tap at the first or at the last stop of the line of every corner."""

    person: int
    last: bool = False
    minute: int = 0


def _stop(corner: int, last: int) -> str:
    return f"{'last' if last else 'first'} {corner}"


def _toy() -> ToyUniverse:
    """Returns a universe of lines far from each other, each with two stops, one way."""
    names = [_stop(corner, last) for corner in range(_CORNERS) for last in range(2)]
    toy = toy_universe(places=2, periods=1)
    places = [
        Location(id=name, name=name, lon=0.01 * (n % 2), lat=0.1 * (n // 2), zone="toy")
        for n, name in enumerate(names)
    ]
    nowhere = replace(places[0], id=NOT_KNOWN, name=NOT_KNOWN)
    cells = replace(toy.cells, locations=Locations((*places, nowhere)))
    return ToyUniverse(cells=cells, corners=_CORNERS)


def _rides(day: date) -> PublicRides:
    number = day_number(day)
    timetable = Timetable(
        stops=tuple(_stop(corner, last) for corner in range(_CORNERS) for last in range(2)),
        lon=np.tile([0.0, 0.01], _CORNERS),
        lat=np.repeat(0.1 * np.arange(_CORNERS), 2),
        station=np.arange(2 * _CORNERS),
        routes=tuple(map(str, range(_CORNERS))),
        gated=(False,) * _CORNERS,
        patterns=tuple(
            Pattern(route=n, stops=(2 * n, 2 * n + 1), seconds=(0, 300), services=frozenset({0}))
            for n in range(_CORNERS)
        ),
        trips={},
        services=(None,),
    )
    return PublicRides(timetable=timetable, walk_m=500, days=(number - 1, number + 1))


@dataclass(frozen=True, kw_only=True)
class TapsStage(ODStage):
    """A toy universe whose trips are made of taps in files."""

    in_files: bool = True
    unit: Unit = Unit.DEVICE

    @cached_property
    def source(self) -> TapsSource:
        """The taps, but for where they are."""
        day = self.universe.periods.first_day
        start = int(microseconds(day, np.zeros(1, dtype=np.int64))[0])
        return TapsSource(
            path=Path(),
            columns=TapColumns(line="line"),
            rides=_rides(day),
            counted="rides",
            span_us=(start, start + _DAY_US),
        )

    def columns(self, scene: tuple[Any, ...]) -> dict[str, Any]:
        """Returns the taps in files."""
        taps = [(corner, tap) for corner in range(_CORNERS) for tap in scene]
        opens = self.universe.periods.opens
        since = np.array([opens + tap.minute for _, tap in taps], dtype=np.int64) * _MINUTE_US
        return {
            "person": [corner * (_OTHERS + 1) + tap.person for corner, tap in taps],
            "stop": [_stop(corner, tap.last) for corner, tap in taps],
            "line": [str(corner) for corner, _ in taps],
            "time": microseconds(self.universe.periods.first_day, since),
        }

    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the embedded engine, or what the product has instead."""
        return (self.product.engine or EngineTrips)(
            source=replace(self.source, path=folder),
            cells=self.universe,
            unit=self.unit,
            max_trips=self.max_trips,
            **self.limits,
            key=BoundingKey.draw(source),
            settings=small_batches(1000),
        )


def _along_lines(stage: TapsStage, curator: Curator) -> IntArray:
    """Returns the noisy count of rides from the first to the last stop of every line."""
    (answer,) = stage.measured(curator)
    first = 2 * np.arange(_CORNERS)
    return np.asarray(answer.values[stage.universe.encode(np.zeros_like(first), first, first + 1)])


def _staged(product: ODProduct, epsilon: Fraction) -> ODStage:
    return staged(product, epsilon, kind=TapsStage, toy=_toy(), max_trips=2)


_ALONE = tuple(Tap(person=1 + n, minute=n) for n in range(_OTHERS))
# Where this one went is where all of the others would be guessed to have gone.
OTHER_DESTINATIONS = Case(
    "files: taps of somebody who went on, among those of whom nobody knows where they went",
    "the noisy count of rides to where that one went",
    stage=_staged,
    look=_along_lines,
    one=(*_ALONE, Tap(person=0), Tap(person=0, last=True, minute=30)),
    other=_ALONE,
    words=("the taps", "none of them"),
    effort=Fraction(1, 10),
)

AUDITS = cases_of(globals())


class LearnsFromOthers(EngineTrips):
    """Guesses where people went by where others went from the same stop."""

    def reading(self, session: Session) -> Reading:
        """Returns how rides come in, with ends that are not known filled in."""
        reading = super().reading(session)
        assert reading.shape is not None  # noqa: S101  what taps have
        return replace(reading, shape=partial(_filled, reading.shape))


def _filled(shape: Shape, session: EmbeddedSession, taps: ir.Table) -> ir.Table:
    rides = shape(session, taps)
    known = rides.filter(rides.destination != NOT_KNOWN).group_by("origin")
    usual = known.aggregate(usual=lambda table: table.destination.max())
    joined = rides.left_join(usual, "origin").drop("origin_right")
    ends = ibis.ifelse(joined.destination == NOT_KNOWN, joined.usual, joined.destination)
    return joined.mutate(destination=ibis.coalesce(ends, joined.destination)).drop("usual")


MUTANTS = (
    mutant(
        "ends of rides learnt from others", ODProduct(engine=LearnsFromOthers), OTHER_DESTINATIONS
    ),
)
