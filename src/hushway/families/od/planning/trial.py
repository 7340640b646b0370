"""Runs OD mechanisms on trips whose truth is known, and measures their errors."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Internal
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Mechanism


@dataclass(frozen=True, kw_only=True)
class ODErrors:
    """Errors of one release, in trips.

    Attributes:
        cells_rmse: Root mean square error over all cells of the universe: table 2 of the paper.
        busy_cells_mae: Mean absolute error over the cells that hold a trip.
        cells_l1_share: Sum of absolute errors over all cells, as a share of all trips.
        total: Published number of trips.
        margins_mae: Mean absolute error over the elements of each feature, by its title.
    """

    cells_rmse: float
    busy_cells_mae: float
    cells_l1_share: float
    total: float
    margins_mae: dict[str, float]


def od_errors(
    truth: ExactCounts, table: ODTable, features: Sequence[Feature]
) -> Internal[ODErrors]:
    """Compares a table with the exact counts, over the cells and over each feature."""
    cells, error = difference(truth, table)
    busy = np.isin(cells, truth.cells, assume_unique=True)
    absolute = np.abs(error)
    return Internal(
        ODErrors(
            cells_rmse=float(np.sqrt(np.sum(error.astype(float) ** 2) / table.universe.size)),
            busy_cells_mae=float(absolute[busy].mean()) if busy.any() else 0.0,
            cells_l1_share=float(absolute.sum() / max(1, truth.values.sum())),
            total=float(table.counts.sum()),
            margins_mae={f.title: _margin_mae(f, cells, error) for f in features},
        )
    )


def difference(truth: ExactCounts, table: ODTable) -> tuple[IntArray, IntArray]:
    """Returns every cell with a trip or a row, and what the table has too much there."""
    cells = np.union1d(truth.cells, table.cells)
    error = np.zeros(len(cells), dtype=np.int64)
    error[np.searchsorted(cells, table.cells)] += table.counts
    error[np.searchsorted(cells, truth.cells)] -= truth.values
    return cells, error


def _margin_mae(feature: Feature, cells: IntArray, error: IntArray) -> float:
    sums = np.zeros(feature.size, dtype=np.int64)
    np.add.at(sums, feature.of(cells), error)
    return float(np.abs(sums).mean())


@dataclass(frozen=True, kw_only=True, eq=False)
class ODScene:
    """Where mechanisms are compared.

    Attributes:
        cells: The public universe.
        features: The coarse features, the coarsest first.
        counter: Counts the trips, each unit bounded.
        truth: The exact counts of all trips, bounded or not, that errors are measured against.
    """

    cells: ODCells
    features: tuple[Feature, ...]
    counter: Counter
    truth: ExactCounts


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run of a mechanism: its errors and its seconds."""

    errors: ODErrors
    seconds: float


def run_once(mechanism: Mechanism[ODCells, ODTable], scene: ODScene, source: BitSource) -> ODTable:
    """Runs a mechanism once, as a release would."""
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=source)
    return mechanism.fit(mechanism.measure(curator, scene.cells), scene.cells)


def try_out(
    mechanism: Mechanism[ODCells, ODTable], scene: ODScene, source: BitSource
) -> Internal[Outcome]:
    """Runs a mechanism once, as a release would, and compares it with the truth."""
    start = time.perf_counter()
    table = run_once(mechanism, scene, source)
    seconds = time.perf_counter() - start
    errors = od_errors(scene.truth, table, scene.features).value
    return Internal(Outcome(errors=errors, seconds=seconds))


@dataclass(frozen=True, kw_only=True)
class TripArrays:
    """Trips as arrays of one length; persons may be missing where trips are protected."""

    period: IntArray
    origin: IntArray
    destination: IntArray
    person: IntArray | None = None


def trips_scene(
    cells: ODCells,
    features: Sequence[Feature],
    trips: TripArrays,
    *,
    unit: Unit = Unit.TRIP,
    max_trips: int = 1,
    ladder: tuple[int, ...] = (),
    caps: tuple[int, ...] = (),
) -> ODScene:
    """Returns a scene over trips that are known.

    Args:
        cells: The public universe.
        features: The coarse features.
        trips: The trips.
        unit: Who is protected.
        max_trips: Most trips of one person that are counted.
        ladder: Other limits that may be asked for.
        caps: Limits of trips in one cell that may be.
    """
    key = BoundingKey.draw(SeededSource(0))

    def counter(who: Unit, most: int) -> ArrayCounter:
        return ArrayCounter(
            cells=cells,
            unit=who,
            max_trips=most,
            ladder=ladder,
            caps=caps,
            key=key,
            period=trips.period,
            origin=trips.origin,
            destination=trips.destination,
            person=trips.person,
        )

    everything = counter(Unit.TRIP, 1).count(Query(name=cells.name, cells=cells))
    return ODScene(
        cells=cells,
        features=tuple(features),
        counter=counter(unit, max_trips),
        truth=everything,
    )
