"""The verdict on a table: the fleets of the days drawn from it, and how they do on true days."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from statistics import fmean, median_high

import numpy as np
import pytest

from hushway.errors import PlanError, PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.registry import contents_of
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.geography.transit import TransitNetwork
from hushway.numerics.compiled import rows
from hushway.privacy.measured import Internal
from hushway.transit.day_demand import DayDemand, one_day
from hushway.transit.fleet import size_fleet
from hushway.transit.judge import Drawn, FleetVerdict, drivers, judge_fleet
from hushway.transit.legs import leg_rows
from hushway.transit.operations import Operations, ServiceRules, operate
from support.rider_scenes import placed

RULES = ServiceRules()
WAIT_S = 180
EIGHT, TEN = 8 * 3600, 10 * 3600


def silent(_step: str, _share: float | None = None, /) -> None:
    pass


@pytest.fixture(scope="module")
def routes() -> Itineraries:
    rng = np.random.Generator(np.random.PCG64(11))
    spots = rng.uniform(0, 4_000, (12, 2)).tolist()
    places = placed(*((*spot, "west" if spot[0] < 2_000 else "east") for spot in spots))
    return itineraries(TransitNetwork(locations=places, hubs=(), lines=()))


def demand_of(routes: Itineraries, *, trips: int, seed: int = 1, days: int = 1) -> DayDemand:
    """Some trips at random, of so many days together."""
    universe = ODCells(
        locations=routes.network.locations,
        periods=Periods(
            zone="Europe/Paris",
            first_day=date(2026, 3, 2),
            last_day=date(2026, 3, 1 + days),
            opens=480,
            closes=600,
            minutes=30,
        ),
    )
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = np.bincount(rng.integers(universe.size, size=trips * days))
    cells = np.flatnonzero(drawn)
    return one_day(universe, cells, drawn[cells])


def judged(
    demand: DayDemand, routes: Itineraries, *, truth: DayDemand | None = None, draws: int = 3
) -> FleetVerdict:
    return judge_fleet(
        demand, routes, truth=truth, draws=draws, rules=RULES, mean_wait_s=WAIT_S, progress=silent
    ).value


def sized(demand: DayDemand, routes: Itineraries, seed: int) -> tuple[int, ...]:
    return size_fleet(
        routes, demand.draw(seed), rules=RULES, window_s=demand.window_s, mean_wait_s=WAIT_S
    ).sizes


def test_the_verdict_holds_the_fleets_of_all_days_that_are_drawn(routes: Itineraries) -> None:
    demand = demand_of(routes, trips=120, days=3)
    verdict = judged(demand, routes, draws=4)
    sizes = [sized(demand, routes, seed) for seed in range(4)]
    assert verdict.fleet.shuttles == tuple(sum(each) for each in sizes)
    assert [zone.zone for zone in verdict.zones] == ["east", "west"]
    assert [zone.fleet.shuttles for zone in verdict.zones] == list(zip(*sizes, strict=True))
    assert verdict.sizes == tuple(median_high(zone.fleet.shuttles) for zone in verdict.zones)
    assert verdict.truth is None
    assert verdict.first.sizes == sizes[0]
    assert [zone.at_least for zone in verdict.zones] == [
        zone.bound.shuttles for zone in verdict.first.zones
    ]
    assert 0 < verdict.first.at_least <= verdict.fleet.shuttles[0]


def test_the_median_is_a_whole_number_of_shuttles() -> None:
    drawn = Drawn((5, 9, 6, 8))
    assert (drawn.median, drawn.least, drawn.most) == (8, 5, 9)


def test_a_table_that_is_the_truth_does_exactly_as_well_as_the_truth(routes: Itineraries) -> None:
    demand = demand_of(routes, trips=120)
    verdict = judged(demand, routes, truth=demand)
    assert verdict.truth is not None
    assert verdict.truth.fleet == verdict.fleet
    assert verdict.truth.by_table == verdict.truth.by_truth
    assert verdict.truth.by_table.fleet == verdict.sizes
    assert all(zone.truth == zone.fleet for zone in verdict.zones)


def test_true_days_are_served_by_the_fleet_of_the_table(routes: Itineraries) -> None:
    demand, truth = demand_of(routes, trips=50), demand_of(routes, trips=200, seed=2)
    verdict = judged(demand, routes, truth=truth, draws=2)
    assert verdict.truth is not None
    few, enough = verdict.truth.by_table, verdict.truth.by_truth
    assert sum(few.fleet) < sum(enough.fleet)
    assert few.mean_trip_wait_s > enough.mean_trip_wait_s
    days = [
        operate(routes, truth.draw(seed), few.fleet, rules=RULES, window_s=truth.window_s)
        for seed in range(2)
    ]
    for figure in (
        "mean_leg_wait_s",
        "mean_trip_wait_s",
        "mean_in_vehicle_s",
        "mean_idle_s",
        "unserved_legs",
        "unserved_trips",
    ):
        assert getattr(few, figure) == fmean(getattr(day, figure) for day in days)
    assert verdict.truth.fleet.shuttles == tuple(sum(sized(truth, routes, s)) for s in range(2))


def test_the_sentence_tells_fleet_range_and_truth(routes: Itineraries) -> None:
    verdict = judged(demand_of(routes, trips=40), routes, draws=1)
    several = replace(verdict, fleet=Drawn((41, 39, 43)))
    assert several.sentence == "fleet 41 vehicles, 39-43 over 3 draws"
    assert replace(verdict, fleet=Drawn((41,))).sentence == "fleet 41 vehicles"
    seen = judged(demand_of(routes, trips=40), routes, truth=demand_of(routes, trips=40), draws=1)
    assert seen.truth is not None
    truth = replace(seen.truth, fleet=Drawn((40, 38, 44)))
    assert (
        replace(several, truth=truth).sentence == "fleet 41 vehicles, 39-43 over 3 draws; truth 40"
    )
    assert (
        replace(several, fleet=Drawn((41,)), truth=truth).sentence == "fleet 41 vehicles; truth 40"
    )


def test_the_same_question_gets_the_same_answer(routes: Itineraries) -> None:
    demand, truth = demand_of(routes, trips=60, days=2), demand_of(routes, trips=70, days=2, seed=3)
    first, again = (judged(demand, routes, truth=truth, draws=2) for _ in range(2))
    assert first == again


def test_a_verdict_is_refused_by_every_writer_of_releases(routes: Itineraries) -> None:
    demand = demand_of(routes, trips=20)
    verdict = judge_fleet(
        demand, routes, truth=demand, draws=1, rules=RULES, mean_wait_s=WAIT_S, progress=silent
    )
    assert isinstance(verdict, Internal)
    with pytest.raises(PrivacyError, match="against the truth"):
        contents_of(verdict)
    with pytest.raises(PrivacyError, match="not a published table"):
        contents_of(verdict.value)


def test_a_day_without_trips_needs_no_shuttle(routes: Itineraries) -> None:
    demand = replace(
        demand_of(routes, trips=1),
        cells=np.zeros(0, dtype=np.int64),
        sums=np.zeros(0, dtype=np.int64),
    )
    verdict = judged(demand, routes, truth=demand, draws=2)
    assert verdict.sentence == "fleet 0 vehicles, 0-0 over 2 draws; truth 0"


def test_progress_is_told_and_never_goes_beyond_the_end(routes: Itineraries) -> None:
    told: list[tuple[str, float | None]] = []
    demand = demand_of(routes, trips=30)
    judge_fleet(
        demand,
        routes,
        truth=demand,
        draws=2,
        rules=RULES,
        mean_wait_s=WAIT_S,
        progress=lambda step, share=None: told.append((step, share)),
    )
    assert len({step for step, _ in told}) == 4
    assert [share for _, share in told] == [0.0, 0.5] * 4


def without_draws(demand: DayDemand, routes: Itineraries) -> FleetVerdict:
    return judged(demand, routes, draws=0)


def with_other_places(demand: DayDemand, routes: Itineraries) -> FleetVerdict:
    fewer = Locations(routes.network.locations.places[:-1])
    return judged(demand, itineraries(TransitNetwork(locations=fewer, hubs=(), lines=())))


def with_other_hours(demand: DayDemand, routes: Itineraries) -> FleetVerdict:
    universe = demand.universe
    shorter = one_day(universe, demand.cells, demand.sums, hours=(480, 540))
    return judged(demand, routes, truth=shorter)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (without_draws, "No day"),
        (with_other_places, "other places"),
        (with_other_hours, "cells of the table"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    routes: Itineraries, ask: Callable[[DayDemand, Itineraries], FleetVerdict], words: str
) -> None:
    with pytest.raises(PlanError, match=words):
        ask(demand_of(routes, trips=5), routes)


def worked(*legs: tuple[int, int, int], end_s: int = TEN) -> Operations:
    """Operations in which shuttles worked from asking to leaving; -1 where nobody came."""
    leg = leg_rows(len(legs))[: len(legs)]
    for row, (shuttle, request_s, leave_s) in zip(leg, legs, strict=True):
        row["shuttle"], row["request_s"], row["leave_s"] = shuttle, request_s, leave_s
        row["board_s"] = -1 if shuttle < 0 else request_s + 1
    return Operations(
        trip=rows(0, arrival_s=np.int64),
        leg=leg,
        shuttle=rows(0, busy_s=np.int64),
        window_s=(EIGHT, end_s),
    )


def test_a_driver_is_needed_for_every_shuttle_with_something_to_do_in_an_hour() -> None:
    nine = 9 * 3600
    day = worked(
        (0, EIGHT, EIGHT + 60),  # the first hour
        (0, EIGHT + 30, EIGHT + 90),  # the same shuttle: one driver
        (1, nine - 10, nine),  # ends with the hour
        (2, nine - 10, nine + 1),  # both hours
        (3, nine, nine + 60),  # the second hour
        (-1, nine, -1),  # nobody came
        (4, TEN, TEN + 60),  # asked for after the window
    )
    shifts = drivers(day, (1,))
    assert shifts.on_duty(2).tolist() == [3, 2]
    assert drivers(day, (2,)).drivers.tolist() == [3]


def test_a_last_hour_that_is_cut_short_is_an_hour_of_a_shift() -> None:
    half_past = EIGHT + 3600 + 1800
    day = worked((0, EIGHT, EIGHT + 9), (0, half_past - 60, half_past + 60), end_s=half_past)
    assert drivers(day, (1, 2)).paid_periods == 2
    late = worked((0, half_past, half_past + 60), end_s=half_past)
    assert drivers(late, (1, 2)).total == 0


def test_a_shift_that_does_not_fit_into_the_day_is_refused() -> None:
    with pytest.raises(PlanError, match="No shift fits"):
        drivers(worked((0, EIGHT, EIGHT + 9)), (3,))


def test_no_more_drivers_than_shuttles_are_on_duty_in_a_simulated_day(routes: Itineraries) -> None:
    demand = demand_of(routes, trips=150)
    fleet = judged(demand, routes, draws=1).sizes
    day = operate(routes, demand.draw(0), fleet, rules=RULES, window_s=demand.window_s)
    on_duty = drivers(day, (1,)).on_duty(2)
    assert on_duty.max() <= sum(fleet)
    used = set(day.leg["shuttle"][day.leg["board_s"] >= 0].tolist())
    assert on_duty.max() > 0
    assert on_duty.sum() >= len(used)
