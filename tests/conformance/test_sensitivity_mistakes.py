"""Brute force finds mistakes that are planted in the bounding of every family."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.engine.ranks import RankSteps
from hushway.families.density.rows import counts as density_counts
from hushway.families.links.rows import movements
from hushway.families.links.rows.bounding import BoundedMovements
from hushway.families.od.rows import bounding as od_bounding
from hushway.families.sequences.rows.record_bounding import Records
from hushway.families.sequences.rows.record_questions import BoundedRecords
from hushway.privacy.query import ExactCounts
from support.conformance.case import random_key
from support.conformance.engines import in_parquet
from support.long import often
from support.sensitivity.brute import brute_force
from support.sensitivity.plans import CAPPED, every_mechanism

Patch = pytest.MonkeyPatch

GROUPS = {group.name: group for group in [*every_mechanism(), CAPPED]}


def one_trip_of_each_id(patch: Patch) -> None:
    """Tells trips by their id alone, though ids are numbered within each person."""
    patch.setattr(od_bounding, "trip_columns", lambda _: ("trip_id",))


def one_rank_too_many(patch: Patch) -> None:
    """Counts a trip of the next rank too, in every range of ranks."""
    real = RankSteps.between

    def made(steps: RankSteps, counts: Any, size: int, first: int, last: int) -> Any:
        longer = next((limit for limit in steps.ladder if limit > last), last)
        return real(steps, counts, size, first, longer)

    patch.setattr(RankSteps, "between", made)


def one_too_many_in_a_cell(patch: Patch) -> None:
    """Takes one trip more of a person in a cell to be within the cap."""
    real = od_bounding._split
    patch.setattr(od_bounding, "_split", lambda trips, cap: real(trips, cap + 1))


def two_classes(patch: Patch) -> None:
    """Puts a person into every class of numbers of trips that they reach."""

    def made(steps: RankSteps, counts: Any, size: int) -> Any:
        step = np.searchsorted(np.array(steps.ends), np.array(steps.ladder) - 1, side="right")
        by_step = np.bincount(counts.cells // size, counts.values, len(steps.ends))
        return ExactCounts.of_all(by_step[step].astype(np.int64))

    patch.setattr(RankSteps, "units", made)


def one_record_too_many(patch: Patch) -> None:
    real = Records.between
    patch.setattr(Records, "between", lambda self, first, last: real(self, first, last + 1))


def people_in_every_class_below(patch: Patch) -> None:
    """Counts people with at least so many records, each in all classes up to their own."""

    def made(self: Any, ladder: tuple[int, ...]) -> ExactCounts:
        rank = np.bincount(self.records.rank, minlength=ladder[-1])
        return ExactCounts.of_all(rank[np.array(ladder) - 1])

    patch.setattr(BoundedRecords, "_units", made)


def one_item_too_many(patch: Patch) -> None:
    real = BoundedMovements

    def made(universe: Any, limits: Any, key: Any) -> Any:
        return real(universe, replace(limits, max_items=limits.max_items + 1), key)

    patch.setattr(movements, "BoundedMovements", made)


def one_visit_too_many(patch: Patch) -> None:
    real = density_counts._limits

    def made(rule: Any) -> Any:
        sites, bins, one_in_a_bin, visits, *others = real(rule)
        return sites, bins, one_in_a_bin, visits + 1, *others

    patch.setattr(density_counts, "_limits", made)


MISTAKES: list[tuple[str, Callable[[Patch], None]]] = [
    ("od, unit trip, told by person and trip_id", one_trip_of_each_id),
    ("od, unit person, told by person and trip_id", one_rank_too_many),
    ("od, unit person, told by person and trip_id", two_classes),
    (CAPPED.name, one_too_many_in_a_cell),
    ("sequences, unit person, told by person", one_record_too_many),
    ("sequences, unit person, told by person", people_in_every_class_below),
    ("density, unit person", one_visit_too_many),
    ("links, unit person", one_item_too_many),
]


@pytest.mark.parametrize(("name", "mistake"), often(MISTAKES))
def test_brute_force_finds_a_planted_mistake(
    name: str, mistake: Callable[[Patch], None], tmp_path: Path, monkeypatch: Patch
) -> None:
    mistake(monkeypatch)
    group = replace(GROUPS[name], plans=GROUPS[name].plans[:1])
    assert brute_force(group, in_parquet(), tmp_path, random_key(7)).broken
