"""A small grid of streets, and published counts of its links."""

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.families.links.fit.publication import Rest
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.counts import LinkCounts, Spends
from hushway.families.links.mechanism.terms import links_terms
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import ClassZones, LinkUniverse, MovementLimits
from hushway.geography.periods import Cycle, Periods
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Certificate, Terms
from hushway.privacy.loss import ZCDPLoss
from support.certificates import certificate_of, noise_in

SPEND = ZCDPLoss(Fraction(1, 50))
LIMITS = MovementLimits(max_items=8, left_out=False)
SHOWN = 2.5
# Quotes, a comma and a line break: whatever an id may hold.
ODD_IDS = ['a "b"', "x,y", "Rua\nnova"]


def street_grid(side: int) -> RoadNetwork:
    """A square of crossings; the last street is one-way, the first is called as oddly as it gets.

    The upper a street lies, the lower its class; every course has a bend in its middle.
    """
    step = 0.03 / side
    corner = np.arange(side * side)
    lon, lat = -8.6 + step * (corner % side), 41.1 + step * (corner // side)
    east, north = corner[corner % side < side - 1], corner[corner < side * (side - 1)]
    one = np.concatenate([east, north])
    other = np.concatenate([east + 1, north + side])
    tail, head = np.concatenate([one, other[:-1]]), np.concatenate([other, one[:-1]])
    street = np.concatenate([np.arange(len(one)), np.arange(len(one) - 1)])
    links = len(tail)
    ids = [*ODD_IDS, *(f"way {i}" for i in range(len(ODD_IDS), links))]
    bend = 0.05 * step * np.array([1.0, -1.0])
    middle = np.column_stack([lon[tail] + lon[head], lat[tail] + lat[head]]) / 2 + bend
    points = np.stack(
        [np.column_stack([lon[tail], lat[tail]]), middle, np.column_stack([lon[head], lat[head]])],
        axis=1,
    ).reshape(-1, 2)
    return RoadNetwork(
        node_id=np.array([f"n{i}" for i in corner.tolist()]),
        node_lon=lon,
        node_lat=lat,
        link_id=np.array(ids),
        tail=tail.astype(np.int64),
        head=head.astype(np.int64),
        length=100 + 100 / 3 * (np.arange(links) % 7),
        speed=np.full(links, 50.0),
        lanes=1 + 0.5 * (np.arange(links) % 3),
        road_class=1 + (lat[tail] > lat.mean()) + (np.arange(links) % 4).astype(np.int64),
        street=street.astype(np.int64),
        name=np.array(["" if i % 3 == 0 else f"Rua {i % 11} “$x$”" for i in street.tolist()]),
        start=3 * np.arange(links + 1, dtype=np.int64),
        lon=points[:, 0].copy(),
        lat=points[:, 1].copy(),
    )


def parts_of_days(parts: int, cycle: Cycle = "day", days: int = 2) -> Periods:
    first = date(2026, 3, 2)
    return Periods(
        zone="Europe/Lisbon",
        first_day=first,
        last_day=first + timedelta(days=days - 1),
        opens=0,
        closes=1440,
        minutes=1440 // parts,
        cycle=cycle,
    )


def streets_of(side: int = 4, periods: Periods | None = None) -> LinkUniverse:
    roads = street_grid(side)
    west = roads.node_lon[roads.tail] < roads.node_lon.mean()
    return LinkUniverse(
        roads=roads,
        periods=parts_of_days(1) if periods is None else periods,
        zone=west.astype(np.int64),
        zones=("east, of the river", "west"),
    )


def links_of(
    universe: LinkUniverse | None = None,
    *,
    speeds: bool = False,
    classes: bool = True,
    share: float = 0.6,
    seed: int = 3,
) -> LinkTable:
    """Published counts of a share of all links: more in the middle and on high classes."""
    universe = streets_of() if universe is None else universe
    random = np.random.default_rng(seed)
    shown = np.flatnonzero(random.random(universe.size) < share)
    period, link = np.divmod(shown, universe.roads.links)
    roads = universe.roads
    away = np.abs(roads.node_points[roads.tail[link]]).sum(axis=1)
    level = 900 * np.exp(-away / (1 + away.max(initial=0)) * 3) / roads.road_class[link]
    # What is shown stands out: errors are below 15.
    counts = np.round(SHOWN * 15 + level * random.lognormal(0, 0.4, len(link)), 2)
    told = random.random(len(link)) < 0.8
    return LinkTable(
        universe=universe,
        period=period.astype(np.int64),
        link=link.astype(np.int64),
        counts=counts,
        standard_error=np.round(12 + 3 * random.random(len(link)), 2),
        speed=np.where(told, np.round(20 + 30 * random.random(len(link)), 1), np.nan)
        if speeds
        else None,
        speed_error=np.where(told, np.round(1 + random.random(len(link)), 1), np.nan)
        if speeds
        else None,
        threshold=SHOWN,
        rest=_rest(universe, random),
        class_totals=_class_totals(universe, period, link, counts, random) if classes else None,
        noise=noise_in(links_terms_of(universe, speeds=speeds, classes=classes)),
        diagnostics={"rounds": 7, "gap": 0.25},
    )


def _rest(universe: LinkUniverse, random: np.random.Generator) -> Rest:
    rows = len(universe.periods) * len(ClassZones(universe=universe).links[1])
    counts, errors, km, km_errors = np.round(100 * random.random((4, rows)), 2)
    return Rest(counts=counts, standard_error=errors, km=km, km_error=km_errors)


def _class_totals(
    universe: LinkUniverse, period: Any, link: Any, counts: Any, random: np.random.Generator
) -> Any:
    groups = ClassZones(universe=universe)
    group = groups.of(period * universe.items + link)
    sums = 1.1 * np.bincount(group, counts, groups.size) + random.normal(0, 30, groups.size)
    return np.rint(sums).astype(np.int64)


def links_terms_of(universe: LinkUniverse, *, speeds: bool, classes: bool) -> Terms:
    """Returns the terms of a table with speeds and classes, or without."""
    spends = Spends(
        links=SPEND, classes=SPEND if classes else None, speeds=SPEND if speeds else None
    )
    mechanism = LinkCounts(limits=LIMITS, spends=spends, publish_above_se=SHOWN)
    return links_terms(mechanism, universe, unit=Unit.PERSON)


def links_certificate(
    table: LinkTable, *, speeds: bool | None = None, classes: bool | None = None, **changes: Any
) -> Certificate:
    """A certificate that spent on everything in a table of links, or for what it is told to."""
    terms = links_terms_of(
        table.universe,
        speeds=table.speed is not None if speeds is None else speeds,
        classes=table.class_totals is not None if classes is None else classes,
    )
    facts = {"release_id": "roads-2026-03", "title": "Where people drive in a <small> city"}
    return certificate_of(terms, **(facts | changes))
