"""What every mechanism must do, whatever its family. A new family adds itself to CASES."""

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from datetime import date
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.errors import BudgetError
from hushway.families.density.mechanism.series import density_series, naive_laplace
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import (
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    VisitCells,
    VisitLimits,
)
from hushway.families.links.audit.stage import rings
from hushway.families.links.mechanism.counts import link_counts
from hushway.families.links.public.universe import LinkUniverse, MovementLimits, MovementQueryCells
from hushway.families.od.fit.weights import Weights
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.hierarchical import od_hierarchical
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.families.sequences.mechanism.tree import prefix_tree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator, bound_of
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource
from hushway.release.mechanism import Forecast, Mechanism
from support.announced import is_as_announced

BOUND = Bound(cells=3, each=3, total=3)


def od_cells() -> ODCells:
    zones = ("north", "south", "south")
    places = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone=zones[i % 3]) for i in range(12))
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=720, minutes=60)
    return ODCells(locations=Locations(tuple(places)), periods=periods)


CELLS = od_cells()
EPSILON, RHO = PureLoss(Fraction(2, 3)), ZCDPLoss(Fraction(1, 9))


def features() -> tuple[Feature, ...]:
    zones = place_pair_labels(CELLS, "zone", CELLS.locations.labels_in("zone"))
    parity = labels_of_codes("parity", np.arange(CELLS.pairs) % 2, ["even", "odd"])
    return (
        total_feature(CELLS),
        period_feature(CELLS),
        pair_feature(CELLS, "zones", zones),
        pair_feature(CELLS, "parity", parity, by_period=False),
    )


def od_table(table: Any) -> list[Any]:
    return [
        table.cells.tolist(),
        table.counts.tolist(),
        table.standard_errors.tolist(),
        table.threshold,
    ]


def stations() -> SequenceUniverse:
    places = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone="z") for i in range(60))
    return SequenceUniverse(taxonomy=Taxonomy(locations=Locations(tuple(places))))


STATIONS = stations()


def sequence_table(table: Any) -> list[Any]:
    return [table.parent.tolist(), table.code.tolist(), table.counts.tolist(), table.ends.tolist()]


def quarters() -> DensityUniverse:
    """Six squares in a row and four towers, in bins of six hours for two days."""
    boxes = [shapely.box(2.3 + i / 100, 48.8, 2.31 + i / 100, 48.81) for i in range(6)]
    areas = Areas(areas=tuple(Area(id=str(i), name="", shape=box) for i, box in enumerate(boxes)))
    towers = (
        Location(id=str(i), name="", lon=2.304 + i * 0.016, lat=48.804, zone="") for i in range(4)
    )
    periods = Periods(
        zone="Europe/Paris",
        first_day=date(2007, 9, 10),
        last_day=date(2007, 9, 11),
        opens=0,
        closes=1440,
        minutes=360,
        cycle="window",
    )
    return density_universe(areas, periods, Locations(tuple(towers)))


QUARTERS, LIMITS = quarters(), VisitLimits(max_visits=3, max_visits_in_total=9)


def density_table(table: Any) -> list[Any]:
    return [
        table.counts.tolist(),
        table.standard_error.tolist(),
        table.cluster.tolist(),
        table.measured_series.tolist(),
        table.measured_total,
    ]


# Twenty ring roads of one way, each a zone of its own.
RINGS, DRIVES = rings(corners=20).universe, MovementLimits(max_items=3)


def link_table(table: Any) -> list[Any]:
    return [
        table.period.tolist(),
        table.link.tolist(),
        table.counts.tolist(),
        table.standard_error.tolist(),
        None if table.speed is None else np.nan_to_num(table.speed, nan=-1).tolist(),
        None if table.class_totals is None else table.class_totals.tolist(),
    ]


@dataclass(frozen=True)
class Case:
    """A mechanism, its geography, and its table as plain values."""

    mechanism: Mechanism[Any, Any]
    geography: Any
    plain: Callable[[Any], list[Any]]


CASES = {
    "od dense laplace": Case(DenseLaplace(spend=PureLoss(Fraction(1, 3))), CELLS, od_table),
    "od sparse laplace": Case(
        SparseLaplace(spend=PureLoss(Fraction(1, 3)), expected_false=20.0), CELLS, od_table
    ),
    "od learned": Case(od_learned(CELLS, features(), budget=EPSILON), CELLS, od_table),
    "od learned gaussian": Case(od_learned(CELLS, features(), budget=RHO), CELLS, od_table),
    "od cbdp": Case(od_cbdp(CELLS, features(), budget=EPSILON), CELLS, od_table),
    "od cbdp gaussian": Case(od_cbdp(CELLS, features(), budget=RHO), CELLS, od_table),
    "od cbdp lazy": Case(od_cbdp(CELLS, features(), budget=EPSILON, lazy=True), CELLS, od_table),
    "od cbdp nested": Case(
        od_cbdp(CELLS, features(), budget=EPSILON, nest=True, weights=Weights.UNIFORM),
        CELLS,
        od_table,
    ),
    "od cbdp plainly rounded": Case(
        od_cbdp(CELLS, features(), budget=EPSILON, controlled=False), CELLS, od_table
    ),
    "od hierarchical": Case(od_hierarchical(CELLS, features(), budget=EPSILON), CELLS, od_table),
    "prefix tree": Case(
        prefix_tree(STATIONS, budget=PureLoss(Fraction(30)), height=3), STATIONS, sequence_table
    ),
    "prefix tree gaussian": Case(
        prefix_tree(STATIONS, budget=ZCDPLoss(Fraction(30)), height=3), STATIONS, sequence_table
    ),
    "density": Case(density_series(LIMITS, budget=RHO), QUARTERS, density_table),
    "density by cosines": Case(
        density_series(LIMITS, budget=RHO, denoise="sure"), QUARTERS, density_table
    ),
    "density by cuts": Case(
        density_series(LIMITS, budget=RHO, denoise="cuts"), QUARTERS, density_table
    ),
    "density unclustered": Case(
        density_series(LIMITS, budget=RHO, clustering=False), QUARTERS, density_table
    ),
    "density unscaled": Case(
        density_series(LIMITS, budget=RHO, scaling=False), QUARTERS, density_table
    ),
    "density laplace": Case(density_series(LIMITS, budget=EPSILON), QUARTERS, density_table),
    "density naive": Case(naive_laplace(LIMITS, budget=EPSILON), QUARTERS, density_table),
    "links": Case(link_counts(DRIVES, budget=RHO), RINGS, link_table),
    "links laplace": Case(link_counts(DRIVES, budget=EPSILON), RINGS, link_table),
    "links with speeds": Case(
        link_counts(DRIVES, budget=RHO, speeds=Fraction(1, 4)), RINGS, link_table
    ),
    "links unfitted": Case(
        link_counts(
            DRIVES,
            budget=RHO,
            classes=Fraction(0),
            publish_above_se=0.0,
            shrink_to_class=False,
            conserve=False,
        ),
        RINGS,
        link_table,
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


class Town:
    """Three busy cells, and a budget that can be empty."""

    unit = Unit.PERSON

    def __init__(self, *, scale: int = 1, poor: bool = False) -> None:
        self._scale = scale
        self._poor = poor
        self.counted = 0
        self.charged: list[Event] = []

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        if isinstance(query.cells, VisitCells):
            return Bound(**query.cells.reach(LIMITS)._asdict())
        if isinstance(query.cells, MovementQueryCells):
            return Bound(**query.cells.reach(DRIVES)._asdict())
        return BOUND

    def count(self, query: Query) -> ExactCounts:
        self.counted += 1
        if isinstance(query.cells, VisitCells):
            return self._visits(query.cells)
        assert query.cells.size > 40
        cells = np.array([2, 17, 40], dtype=np.int64)
        return ExactCounts(cells=cells, values=cells * self._scale)

    def _visits(self, asked: VisitCells) -> ExactCounts:
        """A busy site at the start and one at the end of whatever is asked."""
        quanta = asked.quanta if isinstance(asked, ClusterSeries | ClusterTotals) else 1
        cells = np.unique(np.array([0, asked.size - 1], dtype=np.int64))
        return ExactCounts(cells=cells, values=(cells + 40) * quanta * self._scale)

    def charge(self, event: Event) -> None:
        if self._poor:
            raise BudgetError("The account is empty.")
        self.charged.append(event)


def curator_of(town: Town, seed: int = 3) -> Curator:
    return Curator(counter=town, budget=town, source=SeededSource(seed))


def test_a_mechanism_is_a_frozen_set_of_public_parameters(case: Case) -> None:
    assert is_dataclass(case.mechanism)
    name = fields(case.mechanism)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(case.mechanism, name, None)


def test_its_parameters_can_stand_in_a_certificate(case: Case) -> None:
    assert json.loads(json.dumps(case.mechanism.parameters)) == case.mechanism.parameters
    assert case.mechanism.name
    assert all(sentence.endswith(".") for sentence in case.mechanism.post_processing)


def test_it_spends_exactly_its_price_in_order(case: Case) -> None:
    town = Town()
    curator = curator_of(town)
    case.mechanism.measure(curator, case.geography)
    charged = tuple(event.loss for event in curator.events)
    # Who goes by noisy answers may stop early, and then spends less.
    planned = case.mechanism.losses
    assert charged == (planned[: len(charged)] if case.mechanism.adaptive else planned)
    assert tuple(town.charged) == curator.events


def test_it_does_what_it_announced(case: Case) -> None:
    curator = curator_of(Town())
    case.mechanism.measure(curator, case.geography)
    assert is_as_announced(
        case.mechanism.events(case.geography, BOUND),
        curator.events,
        adaptive=case.mechanism.adaptive,
    )


def test_the_questions_it_lists_are_those_of_its_events_bounded_alike(case: Case) -> None:
    planned = case.mechanism.events(case.geography, BOUND)
    queries = case.mechanism.queries(case.geography)
    assert [query.name for query in queries] == [event.query for event in planned]
    assert [query.cells.size for query in queries] == [event.cells for event in planned]
    assert [bound_of(Town(), query) for query in queries] == [event.bound for event in planned]


def test_what_it_measured_carries_the_events_that_were_charged(case: Case) -> None:
    curator = curator_of(Town())
    measured = case.mechanism.measure(curator, case.geography)
    assert {answer.event for answer in measured} <= set(curator.events)


def test_it_counts_nothing_that_it_cannot_pay(case: Case) -> None:
    town = Town(poor=True)
    with pytest.raises(BudgetError):
        case.mechanism.measure(curator_of(town), case.geography)
    assert town.counted == 0


def test_its_fit_has_no_way_to_the_curator(case: Case) -> None:
    assert list(signature(case.mechanism.fit).parameters) == ["measured", "geography"]


def test_its_fit_spends_nothing_and_counts_nothing(case: Case) -> None:
    town = Town()
    measured = case.mechanism.measure(curator_of(town), case.geography)
    before = len(town.charged), town.counted
    case.mechanism.fit(measured, case.geography)
    assert (len(town.charged), town.counted) == before


def test_its_fit_is_a_function_of_what_was_measured(case: Case) -> None:
    measured = case.mechanism.measure(curator_of(Town()), case.geography)
    once = case.plain(case.mechanism.fit(measured, case.geography))
    assert case.plain(case.mechanism.fit(measured, case.geography)) == once


def test_the_same_seed_gives_the_same_release_and_another_seed_another(case: Case) -> None:
    def release(seed: int) -> list[Any]:
        measured = case.mechanism.measure(curator_of(Town(), seed), case.geography)
        return case.plain(case.mechanism.fit(measured, case.geography))

    assert release(5) == release(5)
    assert release(5) != release(6)


def test_its_counts_are_written_exactly_and_never_negative(case: Case) -> None:
    """Whole, or in hundredths with a standard error for each."""
    measured = case.mechanism.measure(curator_of(Town()), case.geography)
    table = case.mechanism.fit(measured, case.geography)
    assert table.counts.min(initial=0) >= 0
    if isinstance(case.geography, DensityUniverse | LinkUniverse):
        assert np.array_equal(table.counts, np.round(table.counts, 2))
        assert table.standard_error.min(initial=1) > 0
    else:
        assert table.counts.dtype == np.int64


def test_its_forecast_depends_on_public_numbers_only(case: Case) -> None:
    forecasts = case.mechanism.forecast(case.geography, BOUND)
    assert forecasts == case.mechanism.forecast(case.geography, BOUND)
    for forecast in forecasts:
        assert isinstance(forecast, Forecast)
        assert np.isfinite([forecast.standard_error, forecast.bias]).all()
        assert forecast.standard_error > 0


def test_what_it_measured_does_not_depend_on_the_data_except_through_noisy_counts(
    case: Case,
) -> None:
    """Everything beside the values is the same for a busy town and an empty one."""
    answers = [
        case.mechanism.measure(curator_of(Town(scale=scale)), case.geography)
        for scale in (1, 10**6)
    ]
    public = [
        [(a.query.name, a.query.cells.digest, a.variance, a.event) for a in measured]
        for measured in answers
    ]
    if case.mechanism.adaptive:
        # What is asked next depends on noisy answers, so only the noise is the same.
        public = [[(a.variance, a.event.loss) for a in measured] for measured in answers]
        common = min(map(len, public))
        public = [measured[:common] for measured in public]
    assert public[0] == public[1]
