from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import PrivacyError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace, od_laplace
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import MOST_DENSE_CELLS, Curator
from hushway.privacy.events import Event, LaplaceEvent
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource

BOUND = Bound(cells=2, each=2, total=2)
SPEND = PureLoss(Fraction(1, 2))


def universe(places: int = 4) -> ODCells:
    spots = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone="z") for i in range(places))
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=360, closes=1200, minutes=60)
    return ODCells(locations=Locations(tuple(spots)), periods=periods)


class Town:
    """A counter with one busy cell, and a budget without bottom."""

    unit = Unit.PERSON

    def __init__(self, counts: dict[int, int]) -> None:
        self._counts = counts

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        return BOUND

    def count(self, query: Query) -> ExactCounts:
        assert query.cells.size > max(self._counts, default=0)
        return ExactCounts(
            cells=np.array(sorted(self._counts), dtype=np.int64),
            values=np.array([self._counts[c] for c in sorted(self._counts)], dtype=np.int64),
        )

    def charge(self, event: Event) -> None:
        assert event.cells > 0


def publish(
    mechanism: DenseLaplace | SparseLaplace,
    cells: ODCells,
    *,
    counts: dict[int, int] | None = None,
    seed: int = 1,
) -> ODTable:
    town = Town(counts or {})
    curator = Curator(counter=town, budget=town, source=SeededSource(seed))
    return mechanism.fit(mechanism.measure(curator, cells), cells)


def dense_answer(values: NDArray[np.int64], cells: ODCells) -> Measured:
    event = LaplaceEvent(query=cells.name, cells=cells.size, bound=BOUND, scale=Fraction(4))
    query = Query(name=cells.name, cells=cells)
    return Measured(query=query, values=values, variance=Fraction(9), event=event)


def test_the_dense_form_publishes_every_cell_and_no_negative_count() -> None:
    cells = universe()
    table = publish(DenseLaplace(spend=SPEND), cells, counts={3: 500})
    assert table.cells.tolist() == list(range(cells.size))
    assert table.counts.dtype == np.int64
    assert table.counts.min() == 0
    assert abs(int(table.counts[3]) - 500) < 100
    assert table.threshold is None


def test_the_dense_fit_only_cuts_negative_values() -> None:
    cells = universe()
    values = np.arange(cells.size, dtype=np.int64) - 20
    table = DenseLaplace(spend=SPEND).fit((dense_answer(values, cells),), cells)
    assert table.counts.tolist() == [max(0, value) for value in values.tolist()]
    assert set(table.standard_errors.tolist()) == {3.0}
    assert values[0] == -20


def test_the_sparse_form_publishes_what_reaches_its_threshold() -> None:
    cells = universe(200)
    mechanism = SparseLaplace(spend=SPEND, expected_false=50.0)
    table = publish(mechanism, cells, counts={3: 500, 77: 400})
    assert {3, 77} <= set(table.cells.tolist())
    assert table.threshold is not None
    assert table.counts.min() >= table.threshold > 0
    assert (np.diff(table.cells) > 0).all()
    assert 20 < len(table.cells) < 90
    assert len(table.standard_errors) == len(table.counts) == len(table.cells)


def test_the_sparse_fit_is_a_function_of_what_was_measured() -> None:
    cells = universe()
    law = DiscreteLaplace(Fraction(4))
    vector = LazyVector(
        law=law,
        size=cells.size,
        cells=np.array([5], dtype=np.int64),
        counts=np.array([50], dtype=np.int64),
        source=SeededSource(1),
    )
    event = LaplaceEvent(query=cells.name, cells=cells.size, bound=BOUND, scale=Fraction(4))
    query = Query(name=cells.name, cells=cells)
    answer = MeasuredSparse(
        query=query, threshold=6, variance=Fraction(16), event=event, vector=vector
    )
    table = SparseLaplace(spend=SPEND, expected_false=9.0).fit((answer,), cells)
    assert table.cells.tolist() == answer.reveal(6).cells.tolist()
    assert table.counts.tolist() == answer.reveal(6).values.tolist()
    assert set(table.standard_errors.tolist()) == {4.0}
    assert table.threshold == 6


def test_the_dense_forecast_agrees_with_a_simulation_of_an_empty_town() -> None:
    """Mean and spread of 400 releases: within 5 standard errors of the mean, and 15 percent."""
    cells = universe()
    mechanism = DenseLaplace(spend=SPEND)
    _, _, total = mechanism.forecast(cells, BOUND)
    published = [int(publish(mechanism, cells, seed=s).counts.sum()) for s in range(400)]
    assert abs(np.mean(published) - total.bias) < 5 * total.standard_error / np.sqrt(400)
    law = DiscreteLaplace(Fraction(4))
    noise = [int(law.draw(SeededSource(s), cells.size).sum()) for s in range(400)]
    assert np.std(noise) == pytest.approx(total.standard_error, rel=0.15)
    assert np.std(published) < total.standard_error


@pytest.mark.long
def test_the_sparse_forecast_agrees_with_a_simulation_of_an_empty_town() -> None:
    """Mean and spread of 400 releases: within 5 standard errors of the mean, and 15 percent."""
    cells = universe(60)
    mechanism = SparseLaplace(spend=SPEND, expected_false=40.0)
    one_cell, period, total = mechanism.forecast(cells, BOUND)
    published = [int(publish(mechanism, cells, seed=s).counts.sum()) for s in range(400)]
    assert abs(np.mean(published) - total.bias) < 5 * total.standard_error / np.sqrt(400)
    assert np.std(published) == pytest.approx(total.standard_error, rel=0.15)
    assert one_cell.standard_error == pytest.approx(
        float(DiscreteLaplace(Fraction(4)).variance) ** 0.5
    )
    assert one_cell.standard_error <= period.standard_error <= total.standard_error


def test_the_forecast_of_one_busy_cell_is_the_standard_deviation_of_its_noise() -> None:
    cells = universe()
    one_cell = DenseLaplace(spend=SPEND).forecast(cells, BOUND)[0]
    errors = [
        int(publish(DenseLaplace(spend=SPEND), cells, counts={3: 10**6}, seed=s).counts[3]) - 10**6
        for s in range(500)
    ]
    assert np.std(errors) == pytest.approx(one_cell.standard_error, rel=0.15)


def test_forecasts_name_their_figures_from_the_smallest_to_the_whole() -> None:
    for mechanism in (DenseLaplace(spend=SPEND), SparseLaplace(spend=SPEND, expected_false=5.0)):
        figures = [forecast.figure for forecast in mechanism.forecast(universe(), BOUND)]
        assert figures == ["one cell", "one period", "all trips"]


@dataclass(frozen=True)
class Huge:
    """A universe that only says how large it is."""

    size: int


@pytest.mark.parametrize(
    ("form", "size", "chosen"),
    [
        ("dense", 10, DenseLaplace),
        ("sparse", 10, SparseLaplace),
        ("auto", 10, DenseLaplace),
        ("auto", MOST_DENSE_CELLS // 8, DenseLaplace),
        ("auto", MOST_DENSE_CELLS // 8 + 1, SparseLaplace),
        ("auto", 10**12, SparseLaplace),
    ],
)
def test_the_form_follows_the_plan_or_the_size(
    form: str, size: int, chosen: Callable[..., object]
) -> None:
    mechanism = od_laplace(spend=SPEND, form=form, expected_false=5.0, cells=Huge(size))
    assert type(mechanism) is chosen
    assert mechanism.spend == SPEND


def test_a_form_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PrivacyError, match="no form"):
        od_laplace(spend=SPEND, form="thin", expected_false=5.0, cells=universe())


def test_the_parameters_are_plain_values_for_the_certificate() -> None:
    assert DenseLaplace(spend=SPEND).parameters == {"form": "dense", "epsilon": "1/2"}
    assert SparseLaplace(spend=SPEND, expected_false=5.0).parameters == {
        "form": "sparse",
        "epsilon": "1/2",
        "expected_false": 5.0,
    }
