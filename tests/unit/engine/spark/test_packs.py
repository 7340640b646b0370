"""Rows and sums on their way between workers."""

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.spark.packs import (
    added_up,
    numbers_of_parts,
    packed,
    packed_sums,
    sums_of,
    unpacked,
)
from hushway.privacy.query import ExactCounts


def counts(cells: list[int], values: list[int]) -> ExactCounts:
    return ExactCounts(cells=np.array(cells, np.int64), values=np.array(values, np.int64))


def test_what_is_packed_comes_out_again() -> None:
    tables = [
        (7, pa.table({"person": ["a", None], "us": [1, 2]})),
        (9, pa.table({"person": ["é"], "us": [3]})),
    ]
    batch = packed(tables)
    assert batch.column("part").to_pylist() == [7, 9]
    found = pa.Table.from_batches(unpacked([batch]))
    assert found == pa.concat_tables([table for _, table in tables])


@pytest.mark.parametrize("parts", [1, 3])
def test_sums_are_added_up_by_name_and_cell(parts: int) -> None:
    numbers = numbers_of_parts(parts)
    batches = [
        packed_sums("trips", counts([0, 5, 2**40], [1, 2, 3]), numbers),
        packed_sums("speeds", counts([5], [-4]), numbers),
        packed_sums("trips", counts([], []), numbers),
        packed_sums("trips", counts([5, 6], [10, 20]), numbers),
    ]
    # As Spark hands them on: all packs of a number together.
    together = pa.Table.from_batches(batches)
    added = [
        batch
        for number in numbers
        for batch in added_up(
            together.filter(pa.compute.equal(together["part"], number)).to_batches()
        )
    ]
    found = sums_of(added)
    assert found["trips"].cells.tolist() == [0, 5, 6, 2**40]
    assert found["trips"].values.tolist() == [1, 12, 20, 3]
    assert (found["speeds"].cells.tolist(), found["speeds"].values.tolist()) == ([5], [-4])
    assert len(found["never named"].cells) == 0


@pytest.mark.parametrize("parts", [1, 2, 7, 64])
def test_every_part_has_a_task_of_its_own(parts: int) -> None:
    numbers = numbers_of_parts(parts)
    assert len(set(numbers)) == parts
    # What Spark 4 says to `SELECT hash(CAST(id AS INT)) FROM range(4)`.
    known = {0: 933211791, 1: -559580957, 2: 1765031574, 3: -1823081949}
    for number in set(numbers) & set(known):
        assert numbers[known[number] % parts] == number
