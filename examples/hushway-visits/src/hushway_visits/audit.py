"""Audits: claims about neighbours, tried on the real code, and mistakes that they must catch.

A scene is what one person does at one stop. It is played at many stops at once, each with a person
of its own, so that one release gives a run for each of them.
"""

import csv
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hushway import families as hw

from hushway_visits.city import DAY
from hushway_visits.mechanism import LaplaceOptions, TotalsOptions, VisitCounts, VisitsOptions
from hushway_visits.public import StopHours
from hushway_visits.rows import TapColumns, TapsSource, VisitCounter, VisitPart

_STOPS = 2000
_PERIODS = 8
_SETTINGS = hw.EngineSettings(memory_limit="1GB", threads=1, encrypt_spills=False)
# All of the budget for the cells; or half of it, and a quarter for either kind of totals.
_CELLS = LaplaceOptions(name="laplace")
_QUARTERS = TotalsOptions(share=Fraction(1, 4))

Look = Callable[[tuple[hw.Measured, ...]], hw.IntArray]


class Product:
    """The real parts of a release, put together as `publish` does; a mistake exchanges one."""

    part: type[VisitPart] = VisitPart
    counter: type[VisitCounter] = VisitCounter

    def counted(self, taps: Path, cells: StopHours, max_visits: int) -> VisitCounter:
        """Returns who counts the taps of a file."""
        key = hw.BoundingKey.draw(hw.os_source())
        return self.counter(
            source=TapsSource(taps, TapColumns()),
            cells=cells,
            unit=hw.Unit.PERSON,
            part=self.part(max_visits=max_visits, key=key),
            settings=_SETTINGS,
        )


def _universe() -> StopHours:
    places = tuple(
        hw.Location(id=f"s{number}", name="", lon=0.0, lat=0.0, zone="") for number in range(_STOPS)
    )
    day, minutes = date.fromisoformat(DAY), 24 * 60 // _PERIODS
    periods = hw.TimePlan(zone="UTC", first_day=day, last_day=day, minutes=minutes).periods
    return StopHours(stops=hw.Locations(places), periods=periods)


def _trial(
    product: Product, name: str, options: VisitsOptions, look: Look, **scene: int | Fraction
) -> hw.Trial:
    """Returns the claim that a scene with a person looks nearly like one with nobody.

    Args:
        product: What is audited.
        name: What is done.
        options: Which mechanism measures.
        look: Turns the answers of a release into a number for each stop.
        scene: The claimed `epsilon`, the limit `max_visits`, and in how many `periods` the person
            taps, and how many `times` in each.
    """
    cells, epsilon = _universe(), Fraction(scene["epsilon"])
    limit, periods, times = (int(scene[what]) for what in ("max_visits", "periods", "times"))
    spends = options.spends(hw.PureLoss(epsilon))
    mechanism = VisitCounts(name=options.name, spends=spends, max_visits=limit)
    starts = [f"{DAY}T{24 // _PERIODS * at:02d}:10:00" for at in range(periods)]
    hours = [start for start in starts for _ in range(times)]

    def world(words: str, stops: range) -> hw.World:
        with TemporaryDirectory(prefix="hushway-visits-") as folder:
            taps = Path(folder, "taps.csv")
            with taps.open("w", encoding="utf-8", newline="") as file:
                # Somebody at a stop that is on no list, so that there is always a row.
                rows = [(f"p{stop}", f"s{stop}", hour) for stop in stops for hour in hours]
                csv.writer(file).writerows(
                    [("person", "stop", "time"), ("nobody", "nowhere", hours[0]), *rows]
                )
            counter = product.counted(taps, cells, limit)
            counter.count(hw.Query(name="read once", cells=cells))

        def sample() -> hw.IntArray:
            budget = hw.filled_budget(hw.Unit.PERSON, hw.total(mechanism.losses))
            curator = hw.Curator(counter=counter, budget=budget, source=hw.os_source())
            answers = mechanism.measure(curator, cells)
            return look(tuple(one for one in answers if isinstance(one, hw.Measured)))

        return hw.World(words=words, sample=lambda runs: hw.as_many(sample, runs))

    return hw.Trial(
        name=name,
        statistic="a noisy number of each stop",
        epsilon=epsilon,
        worlds=(world("a person at every stop", range(_STOPS)), world("nobody", range(0))),
        tight=limit == periods == times == 1 and len(spends) == 1,
    )


def _first_cell(answers: tuple[hw.Measured, ...]) -> hw.IntArray:
    cells: hw.IntArray = answers[0].values.reshape(_STOPS, _PERIODS)[:, 0]
    return cells


def _stop_total(answers: tuple[hw.Measured, ...]) -> hw.IntArray:
    return np.asarray(answers[1].values, dtype=np.int64)


def one_visit(product: Product, epsilon: Fraction) -> hw.Trial:
    """Somebody taps once; the whole budget is spent on the cells."""
    scene = {"max_visits": 1, "periods": 1, "times": 1}
    return _trial(product, "one visit", _CELLS, _first_cell, epsilon=epsilon, **scene)


def many_taps(product: Product, epsilon: Fraction) -> hw.Trial:
    """Somebody taps six times at a stop in one period, which is one visit."""
    scene = {"max_visits": 1, "periods": 1, "times": 6}
    return _trial(product, "many taps", _CELLS, _first_cell, epsilon=epsilon, **scene)


def all_day(product: Product, epsilon: Fraction) -> hw.Trial:
    """Somebody is at a stop all day long, and one visit may count."""
    options, scene = (
        TotalsOptions(share=Fraction(1, 4)),
        {"max_visits": 1, "periods": 8, "times": 1},
    )
    return _trial(product, "all day at a stop", options, _stop_total, epsilon=epsilon, **scene)


def eight_visits(product: Product, epsilon: Fraction) -> hw.Trial:
    """Somebody is at a stop all day long, and all eight visits count."""
    options, scene = (
        TotalsOptions(share=Fraction(1, 4)),
        {"max_visits": 8, "periods": 8, "times": 1},
    )
    return _trial(product, "eight visits", options, _stop_total, epsilon=epsilon, **scene)


class _NoLimitPart(VisitPart):
    def chosen(self, person: hw.IntArray, cell: hw.IntArray) -> hw.IntArray:
        del cell
        return np.arange(len(person))


class _TapsPart(_NoLimitPart):
    def visits(self, session: hw.EmbeddedSession, rows: object) -> tuple[hw.IntArray, hw.IntArray]:
        table = session.fetch(rows)
        return np.arange(len(table)), np.asarray(table["cell"], dtype=np.int64)


class _OneVisitBound(VisitCounter):
    def bound(self, query: hw.Query) -> hw.Bound:
        del query
        return hw.Bound(cells=1, each=1, total=1)


class NoLimit(Product):
    """Counts all visits of a person, and draws noise for the limit."""

    part = _NoLimitPart


class EveryTap(Product):
    """Counts taps where it should count visits."""

    part = _TapsPart


class NoiseForOne(Product):
    """Counts as many visits as the limit allows, and draws noise for one."""

    counter = _OneVisitBound


SUITE: hw.Suite[Product] = hw.Suite(
    real=Product(),
    audits=(one_visit, many_taps, all_day, eight_visits),
    mutants=(
        hw.Mutant(name="no contribution limit", product=NoLimit(), audits=(all_day,)),
        hw.Mutant(name="every tap counts", product=EveryTap(), audits=(many_taps,)),
        hw.Mutant(name="noise for one visit", product=NoiseForOne(), audits=(eight_visits,)),
    ),
)
