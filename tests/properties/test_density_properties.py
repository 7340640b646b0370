"""What is true of every density, whatever was counted and whatever the noise was."""

from datetime import date
from fractions import Fraction

import numpy as np
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.engine.key import BoundingKey
from hushway.families.density.fit.activity import typical_visits
from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import ArrayVisits
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.curator import Curator
from hushway.privacy.loss import ZCDPLoss, total
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget


def quarters() -> DensityUniverse:
    """Twelve rectangles, five towers, and twelve bins of four hours."""
    boxes = [
        shapely.box(2.3 + i / 100, 48.8 + j / 100, 2.31 + i / 100, 48.81 + j / 100)
        for j in range(3)
        for i in range(4)
    ]
    spots = ((2.305, 48.804), (2.318, 48.811), (2.331, 48.823), (2.337, 48.802), (2.309, 48.827))
    return density_universe(
        Areas(areas=tuple(Area(id=str(i), name="", shape=box) for i, box in enumerate(boxes))),
        Periods(
            zone="Europe/Paris",
            first_day=date(2007, 9, 10),
            last_day=date(2007, 9, 11),
            opens=0,
            closes=1440,
            minutes=240,
            cycle="window",
        ),
        Locations(
            tuple(
                Location(id=str(i), name="", lon=lon, lat=lat, zone="")
                for i, (lon, lat) in enumerate(spots)
            )
        ),
    )


UNIVERSE = quarters()


@st.composite
def mechanisms(draw: st.DrawFn) -> DensitySeries:
    denoise: Denoise = draw(st.sampled_from(["patterns", "sure", "cuts", "none"]))
    rho = draw(st.fractions(Fraction(1, 10**4), Fraction(100), max_denominator=10**4))
    return density_series(
        VisitLimits(
            max_visits=draw(st.integers(1, 20)), max_visits_in_total=draw(st.integers(1, 2000))
        ),
        budget=ZCDPLoss(rho),
        denoise=denoise,
        clustering=draw(st.booleans()),
        scaling=draw(st.booleans()),
        night=draw(st.booleans()),
        cluster_error=draw(st.floats(0.001, 0.5)),
    )


def release(way: DensitySeries, people: int, seed: int) -> DensityTable:
    random = np.random.default_rng(seed)
    events = 6 * people
    counter = ArrayVisits(
        universe=UNIVERSE,
        limits=way.limits,
        key=BoundingKey.draw(SeededSource(seed)),
        person=random.integers(0, max(people, 1), events),
        site=random.integers(0, UNIVERSE.site_count, events),
        bin=random.integers(0, UNIVERSE.bins, events),
    )
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed + 1))
    measured = way.measure(curator, UNIVERSE)
    assert tuple(event.loss for event in curator.events) == way.losses
    assert total(event.loss for event in curator.events) == total(way.losses)
    return way.fit(measured, UNIVERSE)


@settings(deadline=None, max_examples=15, derandomize=True)
@given(way=mechanisms(), people=st.integers(0, 400), seed=st.integers(0, 1000))
def test_a_density_is_whole_sound_and_adds_up(way: DensitySeries, people: int, seed: int) -> None:
    table = release(way, people, seed)
    shape = (len(UNIVERSE.areas), UNIVERSE.bins)
    assert table.counts.shape == table.standard_error.shape == shape
    assert np.isfinite(table.counts).all()
    assert np.isfinite(table.standard_error).all()
    assert table.counts.min() >= 0
    assert table.standard_error.min() >= 0.01
    # Below 1 where the measured number of all visits says less than the series.
    assert table.diagnostics["scale"] > 0
    if way.spends.total is None:
        assert table.diagnostics["scale"] == 1
        assert table.measured_total is table.measured_sites is None
    elif table.diagnostics["scale"] > 1 and table.counts.sum() > len(UNIVERSE.cover):
        # Never beyond what was measured in one way or the other: noise is trusted less. Rounded to
        # hundredths, 144 counts are off by less than one.
        assert table.measured_total is not None
        assert table.measured_activity is not None
        busy = float(np.maximum(table.measured_activity, 0) @ typical_visits())
        assert table.counts.sum() < 1 + 1.01 * max(table.measured_total, busy)
