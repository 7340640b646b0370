"""How much of an OD table would be known for a guessed crowd: tried on a synthetic stand-in."""

from dataclasses import replace

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.od.files.known import known_trips
from hushway.families.od.files.view import view_of
from hushway.families.od.fit.table import MarginTable, ODTable
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.planning.forecast import invented_scene
from hushway.families.od.planning.trial import ODScene, run_once
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.known import ERRORS_95, Known
from hushway.release.job import Job

_SEED = 1


def foreseen_od(job: Job, crowd: ExpectedPopulation) -> Known:
    """Publishes invented trips as the plan says, and says how much of that would be known.

    What is right of invented trips is known, too, so that no error counts for less than what a
    number is really off by: errors that were learnt from very few trips may be too small.

    Privacy:
        Reads no row and spends nothing: the trips are invented, and so is the budget.

    Raises:
        PlanError: The guess is not that of a city, or takes too long to try.
    """
    assert isinstance(job.mechanism, ODMechanism)  # noqa: S101  what an OD plan makes
    scene = invented_scene(job, crowd)
    table = run_once(job.mechanism, scene, SeededSource(_SEED))
    return known_trips(view_of(_with_real_errors(table, scene)))


def _with_real_errors(table: ODTable, scene: ODScene) -> ODTable:
    """Returns the table with errors of at least what its numbers are off by."""
    off = np.abs(table.counts - _true_counts(table, scene)).astype(np.float64)
    return replace(
        table,
        standard_errors=np.maximum(table.standard_errors, off),
        margins=tuple(_margin(margin, table, scene) for margin in table.margins),
    )


def _true_counts(table: ODTable, scene: ODScene) -> FloatArray:
    true = np.zeros(len(table.cells))
    _, rows, trips = np.intersect1d(
        table.cells, scene.truth.cells, assume_unique=True, return_indices=True
    )
    true[rows] = scene.truth.values[trips]
    return true


def _margin(margin: MarginTable, table: ODTable, scene: ODScene) -> MarginTable:
    if margin.errors is None:
        return margin
    feature, truth = margin.feature, scene.truth
    true = np.bincount(feature.of(truth.cells), truth.values, feature.size)
    off = np.abs(np.bincount(feature.of(table.cells), table.counts, feature.size) - true)
    return replace(margin, errors=np.maximum(margin.errors, off / ERRORS_95))
