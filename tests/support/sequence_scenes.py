"""A small city with lines of stops, and trees of the ways that people go there."""

import math
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.fit.table import SequenceTable, StepSummary
from hushway.families.sequences.mechanism.steps import PaperThresholds
from hushway.families.sequences.mechanism.terms import sequence_terms
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Labels, Location, Locations, PlaceLabels
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import noise_for
from hushway.privacy.certificate import Certificate, Terms
from hushway.privacy.loss import Loss, PureLoss
from support.certificates import certificate_of

BOUND = Bound.of_records(2)
SPEND = PureLoss(Fraction(1, 2))
HEIGHT = 4
# The separator, its escape, quotes and a comma: whatever an id may hold.
ODD_IDS = ["a > b", ">", "\\", 'q"', "x,y", " c ", "d", "e", "Zürich", "\\>", "f", "g"]


def lines_city(levels: int = 2, *, places: int = 12, own: bool = True) -> Taxonomy:
    """Places on lines that cross, with none, one or two levels of groups."""
    line = np.arange(places) % 4
    ids = [ODD_IDS[i] if i < len(ODD_IDS) else f"s{i}" for i in range(places)]
    locations = Locations(
        tuple(
            Location(
                id=key,
                name=f"Stop {i} “{key}”",
                lon=-83.7 + 0.01 * (i // 4) * math.cos(line[i] * math.pi / 4),
                lat=42.3 + 0.01 * (i // 4) * math.sin(line[i] * math.pi / 4),
                zone="east" if i % 2 else "west",
            )
            for i, key in enumerate(ids)
        ),
        (PlaceLabels(column="owner", values=("city",) * places),) if own else (),
    )
    zone = Labels(column="zone", codes=(1 - line % 2).astype(np.int32), names=("east", "west"))
    lines = Labels(column="line", codes=line.astype(np.int32), names=("red", "blue", "1", "x > y"))
    return Taxonomy(locations=locations, levels=(zone, lines)[2 - levels :] if levels else ())


def some_periods() -> Periods:
    return Periods(
        zone="America/Detroit",
        first_day=date(2026, 3, 2),
        last_day=date(2026, 3, 31),
        opens=360,
        closes=720,
        minutes=120,
    )


def some_records(
    taxonomy: Taxonomy, *, periods: int, records: int, height: int, seed: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns places, periods and lengths of records that prefer some ways over others."""
    random = np.random.default_rng(seed)
    places = len(taxonomy.locations)
    lengths = 1 + random.binomial(height - 1, 0.5, records)
    popular = 1 / (1 + np.arange(places)) ** 0.8
    stops = random.choice(places, (records, height), p=popular / popular.sum())
    usual = random.permutation(places)
    for i in range(1, height):
        follows = random.random(records) < 0.7
        stops[follows, i] = usual[stops[follows, i - 1]]
    return stops, np.sort(random.integers(0, periods, (records, height)), axis=1), lengths


def mechanism_of(universe: SequenceUniverse, height: int, spend: Loss) -> PrefixTree:
    """Returns what could have grown a tree: every step costs the same.

    The more a step costs, the lower is its threshold.
    """
    return PrefixTree(
        universe=universe,
        spends=(spend,) * (height * universe.taxonomy.grains),
        thresholds=PaperThresholds(),
    )


def tree_of(
    taxonomy: Taxonomy | None = None,
    *,
    times: bool = False,
    records: int = 4000,
    height: int = HEIGHT,
    spend: Loss = SPEND,
    seed: int = 1,
) -> SequenceTable:
    """A published tree: what was kept of some records, measured with some noise."""
    taxonomy = lines_city() if taxonomy is None else taxonomy
    universe = SequenceUniverse(taxonomy=taxonomy, periods=some_periods() if times else None)
    stops, periods, lengths = some_records(
        taxonomy, periods=universe.moments, records=records, height=height, seed=seed
    )
    random = np.random.default_rng(seed + 1)
    planned = iter(mechanism_of(universe, height, spend).steps(universe, BOUND))
    standard_error = math.sqrt(noise_for(spend, BOUND).variance)
    cells = universe.first_step()
    at, number = np.zeros(records, dtype=np.int64), np.arange(records)
    columns: list[tuple[IntArray, ...]] = []
    steps: list[StepSummary] = []
    first_above = 0
    while cells.stop < height and cells.size:
        threshold = next(planned).threshold
        going_on = lengths[number] > cells.stop
        at, number = at[going_on], number[going_on]
        found = cells.cell(at, periods[number, cells.stop], stops[number, cells.stop])
        seen, of_seen, counts = np.unique(found, return_inverse=True, return_counts=True)
        is_kept = counts >= threshold
        kept = seen[is_kept]
        above, period, code = cells.describe(kept)
        parent = np.full_like(above, -1) if not steps else first_above + above
        first_above = sum(step.kept for step in steps)
        measured = np.maximum(counts[is_kept] + random.integers(-9, 10, len(kept)), threshold)
        step = np.full_like(above, len(steps))
        columns.append((parent, step, period, code, measured, counts[is_kept]))
        steps.append(
            StepSummary(
                stop=cells.stop,
                grain=cells.grain,
                candidates=cells.size,
                threshold=threshold,
                kept=len(kept),
                standard_error=standard_error,
            )
        )
        stays = is_kept[of_seen]
        at, number = (np.cumsum(is_kept) - 1)[of_seen][stays], number[stays]
        cells = cells.below(kept)
    joined = [np.concatenate(each).astype(np.int64) for each in zip(*columns, strict=True)]
    parent, step, period, code, measured, counts = joined
    table = SequenceTable(
        taxonomy=taxonomy,
        periods=universe.periods,
        parent=parent,
        step=step,
        period=period,
        code=code,
        measured=measured,
        counts=counts,
        ends=np.zeros_like(counts),
        steps=tuple(steps),
        diagnostics={"relative": 1e-12, "nodes": len(parent), "stopped": "height"},
    )
    object.__setattr__(table, "ends", plain_ends(table))
    return table


def plain_ends(table: SequenceTable) -> IntArray:
    """Counts what ends at each place node by following parents one by one."""
    finest = table.taxonomy.grains - 1
    grains = table.grains
    ends = np.where(grains == finest, table.counts, 0)
    for node in np.flatnonzero(grains == finest).tolist():
        above = table.parent[node]
        while above >= 0 and grains[above] != finest:
            above = table.parent[above]
        if above >= 0:
            ends[above] -= table.counts[node]
    return ends.astype(np.int64)


def planned_height(table: SequenceTable) -> int:
    """Returns how high a tree was to grow; one that kept nothing may have been planned higher."""
    last = table.steps[-1]
    return last.stop + 1 if last.kept else HEIGHT


def tree_terms(table: SequenceTable, spend: Loss, height: int | None = None) -> Terms:
    """Returns the terms of a tree: steps below one that kept nothing were not taken."""
    universe = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods)
    terms = sequence_terms(
        mechanism_of(universe, height or planned_height(table), spend),
        universe,
        unit=Unit.PERSON,
        max_records=BOUND.total,
        record="day",
    )
    return terms.measured([step.candidates for step in table.steps])


def tree_certificate(
    table: SequenceTable, *, spend: Loss = SPEND, height: int | None = None, **changes: Any
) -> Certificate:
    """A certificate that spent on every step of a tree."""
    facts = {"release_id": "ways-2026-03", "title": "Ways through a <small> city & around"}
    return certificate_of(tree_terms(table, spend, height), **(facts | changes))
