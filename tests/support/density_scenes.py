"""A small city of rectangles, seen from towers or by positions, and densities of it."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import shapely

from hushway.arrays import IntArray
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.mechanism.recommended import Spends
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.terms import density_terms
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import DensityUniverse, Sites, VisitLimits
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.certificate import Certificate, Terms
from hushway.privacy.loss import ZCDPLoss
from support.certificates import certificate_of, noise_in
from support.conversions import printed_epsilon, stated_epsilon

SPEND = ZCDPLoss(Fraction(1, 50))
LIMITS = VisitLimits(max_visits=5, max_visits_in_total=9)
# Quotes, a comma and a line break: whatever an id may hold.
ODD_IDS = ['a "b"', "x,y", "Île\nst-Louis"]


def bins_of(days: int = 2, minutes: int = 360, first: date = date(2026, 3, 2)) -> Periods:
    return Periods(
        zone="Europe/Paris",
        first_day=first,
        last_day=first + timedelta(days=days - 1),
        opens=0,
        closes=1440,
        minutes=minutes,
        cycle="window",
    )


def rectangles(columns: int, rows: int) -> Areas:
    """Rectangles side by side; the first has a hole, the last is in two parts."""
    step = 0.05 / max(columns, rows)
    lines = [(i, j) for j in range(rows) for i in range(columns)]
    boxes: list[Any] = [
        shapely.box(2.3 + i * step, 48.8 + j * step, 2.3 + (i + 1) * step, 48.8 + (j + 1) * step)
        for i, j in lines
    ]
    hole = boxes[0].centroid.buffer(step / 5, quad_segs=3)
    boxes[0] = boxes[0].difference(hole)
    west, east = (
        shapely.affinity.scale(boxes[-1], 0.4, 1, origin=(boxes[-1].bounds[side], 0))
        for side in (0, 2)
    )
    boxes[-1] = shapely.MultiPolygon([west, east])
    ids = [*ODD_IDS, *(f"area {i}" for i in range(len(ODD_IDS), len(boxes)))]
    return Areas(
        areas=tuple(
            Area(id=ids[i], name=f"Quarter {i} “$x$”", shape=shape) for i, shape in enumerate(boxes)
        )
    )


def by_positions(areas: Areas, periods: Periods) -> DensityUniverse:
    """Every area is a site and a cell of the cover."""
    each = np.arange(len(areas))
    cover = Cover(
        pieces=Pieces(sites=len(areas), areas=len(areas), site=each, area=each, size=areas.sizes),
        is_site=np.zeros(len(areas), dtype=np.bool_),
        member=each,
        cell=each,
        centres=areas.centres,
    )
    return DensityUniverse(areas=areas, periods=periods, sites=None, cover=cover)


def by_towers(periods: Periods) -> DensityUniverse:
    """Three areas in a row, and two towers whose cells meet in the middle one.

    A third tower stands beside the second one, a fourth is left out.
    """
    areas = rectangles(3, 1)
    towers = Locations(
        tuple(
            Location(id=f"t{i}", name=f"Tower, {i}", lon=lon, lat=48.81, zone="mast")
            for i, lon in enumerate((2.31, 2.34, 2.34, 3.5))
        ),
        (PlaceLabels(column="owner", values=("north", "south", "", "north")),),
    )
    shares = np.array([1.0, 0.5, 0.5, 1.0])
    area = np.array([0, 1, 1, 2])
    cover = Cover(
        pieces=Pieces(
            sites=2,
            areas=3,
            site=np.array([0, 0, 1, 1]),
            area=area,
            size=shares * areas.sizes[area],
        ),
        is_site=np.array([True, False, False]),
        member=np.array([0, 1, 2]),
        cell=np.array([0, 0, 1, 2]),
        centres=areas.centres.copy(),
    )
    sites = Sites(locations=towers, site=np.array([0, 1, 1, -1]))
    return DensityUniverse(areas=areas, periods=periods, sites=sites, cover=cover)


def density_of(
    universe: DensityUniverse | None = None,
    *,
    quanta: int = 12,
    histogram: bool = True,
    clustered: bool = True,
    mean: float = 900.0,
    seed: int = 3,
) -> DensityTable:
    """A published density: some rhythm of the day, and some noise.

    Without clusters the series of every cell of the cover was measured.
    """
    universe = by_towers(bins_of()) if universe is None else universe
    random = np.random.default_rng(seed)
    areas, bins, cells = len(universe.areas), universe.bins, len(universe.cover)
    rhythm = 1.2 + np.sin(np.arange(bins) * 2 * np.pi / universe.periods.parts - 2)
    level = mean * random.lognormal(0, 0.8, areas)
    cluster: IntArray = np.arange(cells) % (max(1, (cells + 1) // 2) if clustered else cells)
    mechanism = mechanism_of(quanta=quanta, histogram=histogram, clustered=clustered)
    noise = random.normal(0, 1, (int(cluster.max()) + 1, bins)) * 30 * quanta
    series = mean * quanta * rhythm + noise
    return DensityTable(
        universe=universe,
        counts=np.round(level[:, None] * rhythm + random.normal(0, 9, (areas, bins)), 2).clip(0),
        standard_error=np.round(30 + 3 * random.random((areas, bins)), 2),
        cluster=cluster,
        quanta=quanta,
        measured_series=np.rint(series).astype(np.int64),
        measured_sites=random.integers(-9, 3000, (LIMITS.circles, universe.site_count))
        if histogram
        else None,
        measured_activity=random.integers(-9, 900, len(LIMITS.activity)) if histogram else None,
        measured_total=12345 if histogram else None,
        measured_left_out=None,
        noise=noise_in(terms_of(mechanism, universe, cluster)),
        diagnostics={"kept": 4.5, "night": {"days": 2}},
    )


def mechanism_of(
    *, quanta: int, histogram: bool, clustered: bool, cuts: bool = False
) -> DensitySeries:
    """Returns what could have published a density that was made from these measurements."""
    return DensitySeries(
        limits=LIMITS,
        spends=Spends(
            series=SPEND,
            histogram=SPEND if histogram else None,
            activity=SPEND if histogram else None,
            total=SPEND if histogram else None,
            clusters=SPEND if clustered else None,
            cuts=loss_of_cuts(SPEND.rho) if cuts else None,
        ),
        denoise="cuts" if cuts else "patterns",
        cluster_error=0.05,
        quanta=quanta,
    )


def terms_of(mechanism: DensitySeries, universe: DensityUniverse, cluster: IntArray) -> Terms:
    """Returns the terms of a density of some clusters."""
    terms = density_terms(mechanism, universe, unit=Unit.PERSON)
    return terms.measured([query.cells.size for query in mechanism.queries(universe, cluster)])


def density_certificate(
    table: DensityTable,
    *,
    histogram: bool | None = None,
    clustered: bool = True,
    cuts: bool = False,
    **changes: Any,
) -> Certificate:
    """A certificate that spent on everything in a density, or for what it is told to."""
    mechanism = mechanism_of(
        quanta=table.quanta,
        histogram=table.measured_sites is not None if histogram is None else histogram,
        clustered=clustered,
        cuts=cuts,
    )
    terms = terms_of(mechanism, table.universe, table.cluster)
    facts = {
        "release_id": "where-2026-03",
        "title": "Where people are in a <small> city",
        "epsilon_delta": stated_epsilon(printed_epsilon(terms)),
    }
    return certificate_of(terms, **(facts | changes))
