"""A small city, its published tables and their certificates."""

import math
from dataclasses import asdict, replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.table import Estimates, MarginTable, ODTable
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.terms import od_terms
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import expected_above, noise_for
from hushway.privacy.certificate import Certificate
from hushway.privacy.loss import PureLoss
from support.certificates import certificate_of

BOUND = Bound.of_records(3)
SPEND = PureLoss(Fraction(1, 10))
ERROR = math.sqrt(noise_for(SPEND, BOUND).variance)


def small_universe(*, include_intrazonal: bool = False, ids: str = "abcde") -> ODCells:
    places = tuple(
        Location(
            id=key,
            name=f"Place “{key}”, stop {i}",
            lon=-83.7 + i / 64,
            lat=42.3 - i * i / 128,
            zone="east" if i % 2 else "west",
        )
        for i, key in enumerate(ids)
    )
    periods = Periods(
        zone="America/Detroit",
        first_day=date(2026, 3, 2),
        last_day=date(2026, 3, 31),
        opens=480,
        closes=600,
        minutes=30,
    )
    return ODCells(
        locations=Locations(places), periods=periods, include_intrazonal=include_intrazonal
    )


def small_table(*, threshold: int | None = None, **choices: Any) -> ODTable:
    universe = small_universe(**choices)
    cells = np.arange(universe.size, dtype=np.int64)
    counts = np.where(cells % 3 == 0, 0, cells * 7 % 40).astype(np.int64)
    kept = counts >= (threshold or 0)
    return ODTable(
        universe=universe,
        cells=cells[kept],
        counts=counts[kept],
        standard_errors=np.full(np.count_nonzero(kept), ERROR),
        threshold=threshold,
    )


def mechanism_for(table: ODTable) -> ODMechanism:
    """Returns what could have published a table."""
    if table.zeros_left_out:
        features = tuple(margin.feature for margin in table.margins)
        spends = (SPEND,) * (len(features) + 1)
        kind = CBDP if table.effects is None else Learned
        return kind(universe=table.universe, features=features, spends=spends)
    if table.threshold is None:
        return DenseLaplace(spend=SPEND)
    false = expected_above(noise_for(SPEND, BOUND), table.universe.size, table.threshold)
    return SparseLaplace(spend=SPEND, expected_false=1.000001 * false)


def small_certificate(table: ODTable, **changes: Any) -> Certificate:
    terms = od_terms(mechanism_for(table), table.universe, unit=Unit.PERSON, max_trips=BOUND.total)
    return certificate_of(terms, **changes)


def small_features(universe: ODCells) -> tuple[Feature, ...]:
    """All trips, those of each period, of each zone pair and period, and of two odd classes."""
    zones = place_pair_labels(universe, "zone", [p.zone for p in universe.locations.places])
    odd = labels_of_codes("length", np.arange(universe.pairs) % 2, ["short, or so", "long"])
    early = labels_of_codes("part of the day", np.array([1, 1, 0, 0]), ["late", "early"])
    return (
        total_feature(universe),
        period_feature(universe),
        pair_feature(universe, "zones", zones),
        Feature(title="lengths", universe=universe, pairs=odd, periods=early),
        pair_feature(universe, "zones, all day", zones, by_period=False),
    )


def summed_table(**choices: Any) -> ODTable:
    """A table that leaves out zeros and was fitted to sums."""
    table = small_table(**choices)
    universe, kept = table.universe, table.counts > 0
    cells, counts = table.cells[kept], table.counts[kept]
    margins = []
    for feature in small_features(universe):
        sums = np.zeros(feature.size, dtype=np.int64)
        np.add.at(sums, feature.of(cells), counts)
        noise = np.arange(feature.size) * 7 % 11 - 5
        fitted = sums + 0.25 * (-1.0) ** np.arange(feature.size)
        margins.append(
            MarginTable(
                feature=feature,
                measured=sums + noise,
                standard_error=ERROR,
                fitted=fitted,
            )
        )
    return ODTable(
        universe=universe,
        cells=cells,
        counts=counts,
        standard_errors=table.standard_errors[kept],
        threshold=None,
        zeros_left_out=True,
        margins=tuple(margins),
        diagnostics={"newton_steps": 4, "relative": 1e-12, "proven": True},
    )


EFFECTS = RandomEffects(
    origin=0.25,
    destination=0.125,
    origin_by_period=0.75,
    destination_by_period=0.375,
    period=0.0625,
    pair=0.5,
    unlisted=0.25,
)


def learnt_table(**choices: Any) -> ODTable:
    """A table that was fitted to sums, with errors that were learnt."""
    table = summed_table(**choices)
    return replace(
        table,
        standard_errors=0.25 + np.arange(len(table.cells)) / 16,
        margins=tuple(
            replace(margin, errors=0.5 + np.arange(margin.feature.size) / 8)
            for margin in table.margins
        ),
        effects=EFFECTS,
        diagnostics={**table.diagnostics, "random_effects": asdict(EFFECTS)},
        estimates=Estimates(
            cells=table.cells,
            means=table.counts + 0.25,
            standard_errors=0.5 + np.arange(len(table.cells)) / 16,
        ),
    )
