"""Sums of published OD tables that nobody measured: whether they are right, and know how far.

For every kind of sum and its true size: how often the middle 95% of its draws hold the truth
(`hushway synthesize`), how large errors are beside the spread of draws, how often 1.96 errors of
the formula for sums of rows do, and by which share rows are too high. Ann Arbor and a generated
metro always; bike share and green taxi if HUSHWAY_DATA names a folder that holds them. Run by
hand: `python benchmarks/od_sums.py [runs] [epsilons] [scenes]`, scenes with `;` between them.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise

import numpy as np

from harness import keep, positional
from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.table import ODTable
from hushway.families.od.planning.trial import ODScene, run_once
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.published import published_trips
from hushway.geography.locations import joint_codes
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from od_learning import learned, protected

DRAWS = 60
SIZES = (1, 10, 100, 1000, 10**9)
# Random groupings of places: a few large groups, and groups of about five.
GROUPS = 6
TOGETHER = 5
COLUMNS = ("draws hold", "error / spread", "rows hold", "rows too high")


def kinds(cells: ODCells) -> dict[str, IntArray]:
    """Returns the sum that every cell is in, for each kind of sums."""
    period, origin, destination = cells.decode(np.arange(cells.size))
    places = len(cells.locations)
    names = [place.zone for place in cells.locations.places]
    zone = np.unique([str(name) for name in names], return_inverse=True)[1]
    rng = np.random.default_rng(5)
    few, some = rng.integers(GROUPS, size=places), rng.integers(places // TOGETHER, size=places)
    parts: dict[str, tuple[IntArray, ...]] = {
        "cells": (period, origin, destination),
        "origins by period": (period, origin),
        "destinations by period": (period, destination),
        "pairs": (origin, destination),
        "origins": (origin,),
        "destinations": (destination,),
        "zone pairs by period": (period, zone[origin], zone[destination]),
        "zone pairs": (zone[origin], zone[destination]),
        "origin zones": (zone[origin],),
        "random large groups, both ends": (few[origin], few[destination]),
        "random groups of five, origins": (some[origin],),
        "random groups of five, both ends": (some[origin], some[destination]),
    }
    return {
        kind: joint_codes(
            [(each.astype(np.int32), int(each.max()) + 1) for each in part], cells.size
        )[0].astype(np.int64)
        for kind, part in parts.items()
    }


def figures(
    scene: ODScene, table: ODTable, sums: Mapping[str, IntArray]
) -> Iterator[tuple[str, int, FloatArray]]:
    """Yields what is added up for every kind and size: sums, held, squares, trips."""
    truth = np.zeros(scene.cells.size)
    truth[scene.truth.cells] = scene.truth.values
    drawn = [published_trips(table).drawn(seed) for seed in range(DRAWS)]
    for kind, element in sums.items():
        true = np.bincount(element, weights=truth).astype(np.float64)
        size = len(true)
        some = np.flatnonzero(true)
        draws = np.array(
            [np.bincount(element[one.cells], one.counts, minlength=size)[some] for one in drawn]
        )
        rows = np.bincount(element[table.cells], table.counts, minlength=size).astype(np.float64)
        errors = row_errors(table, element, size)
        yield from by_size(kind, true[some], draws, rows[some], errors[some])


def row_errors(table: ODTable, element: IntArray, size: int) -> FloatArray:
    """Returns the standard errors of sums of rows, as docs/guides/od.md tells to compute them."""
    assert table.effects is not None  # noqa: S101  it learnt
    return np.sqrt(
        table.effects.variances_of_rows(
            table.universe, table.cells, table.standard_errors, element[table.cells], size
        )
    )


def by_size(
    kind: str, true: FloatArray, draws: FloatArray, rows: FloatArray, errors: FloatArray
) -> Iterator[tuple[str, int, FloatArray]]:
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    each = np.array(
        [
            np.ones(len(true)),
            (low <= true) & (true <= high),
            (draws.mean(axis=0) - true) ** 2,
            draws.var(axis=0, ddof=1),
            np.abs(rows - true) <= 1.96 * errors,
            rows - true,
            true,
        ]
    )
    for least, most in pairwise(SIZES):
        yield kind, least, each[:, (least <= true) & (true < most)].sum(axis=1)


def row_of(found: FloatArray) -> dict[str, float]:
    number, held, squares, varied, rows_held, off, trips = found
    values = (held / number, np.sqrt(squares / max(varied, 0.01)), rows_held / number, off / trips)
    return {"sums": float(number), **dict(zip(COLUMNS, map(float, values), strict=True))}


def main(runs: int, epsilons: tuple[str, ...], only: str) -> list[dict[str, object]]:
    """Prints a table for every scene and budget, and returns all rows."""
    results: list[dict[str, object]] = []
    for name, scene in protected():
        if name not in only.split(";"):
            continue
        sums = kinds(scene.cells)
        for epsilon in epsilons:
            found: dict[tuple[str, int], FloatArray] = {}
            for run in range(runs):
                mechanism = learned(scene, PureLoss(Fraction(epsilon)))
                table = run_once(mechanism, scene, SeededSource(run))
                for kind, size, some in figures(scene, table, sums):
                    found[kind, size] = found.get((kind, size), 0) + some
            print(f"\n**{name}, ε = {epsilon}**\n", flush=True)
            print(f"| sums of | trips from | number | {' | '.join(COLUMNS)} |")
            print(f"| --- |{' ---: |' * 6}")
            for (kind, size), some in found.items():
                if some[0] < 2 * runs:
                    continue
                row = row_of(some)
                results.append(
                    {"scene": name, "epsilon": epsilon, "sums of": kind, "from": size, **row}
                )
                values = " | ".join(f"{row[column]:.3f}" for column in COLUMNS)
                print(f"| {kind} | {size:,} | {row['sums']:,.0f} | {values} |", flush=True)
    return results


if __name__ == "__main__":
    scenes = "Ann Arbor day;bike share;green taxi;second metro"
    runs, epsilons, only = positional("2", "1,4", scenes)
    keep("od_sums", main(int(runs), tuple(epsilons.split(",")), only))
