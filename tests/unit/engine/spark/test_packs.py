"""Rows and sums on their way between workers."""

import pickle
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from hushway.engine.embedded import embedded_session
from hushway.engine.settings import EngineSettings
from hushway.engine.spark.packs import (
    Division,
    added_up,
    numbers_of_parts,
    packed,
    packed_sums,
    sums_of,
    unpacked,
)
from hushway.engine.spark.worker import Refused, Task, add_sums, working
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


SETTINGS = EngineSettings(memory_limit="500MB", threads=1, batch_rows=3)
DIVISION = Division(together="person", numbers=numbers_of_parts(4))


def parts_of(table: pa.Table, division: Division = DIVISION) -> dict[int, list[object]]:
    found: dict[int, list[object]] = defaultdict(list)
    with embedded_session(SETTINGS) as session:
        for batch in division.packs(session, session.load("people", table)):
            for number in batch.column("part").unique().to_pylist():
                own = batch.filter(pa.compute.equal(batch.column("part"), number))
                for rows in unpacked([own]):
                    assert rows.schema.names == table.column_names
                    found[number] += rows.column("person").to_pylist()
    return found


@pytest.mark.parametrize("text", [False, True])
def test_everybody_is_whole_in_one_part(*, text: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.engine.spark.packs._ROWS_AT_ONCE", 10)
    people = [f"é {i % 23}" if text else i % 23 for i in range(200)] + [None, None]
    one, other = people[:90], people[90:]
    pieces = [parts_of(pa.table({"person": some, "n": range(len(some))})) for some in (one, other)]
    where: dict[object, set[int]] = defaultdict(set)
    for piece in pieces:
        for number, own in piece.items():
            for person in own:
                where[person].add(number)
    assert set(where) == set(people)
    assert all(len(numbers) == 1 for numbers in where.values())
    assert {n for numbers in where.values() for n in numbers} == set(DIVISION.numbers)
    assert sum(len(own) for piece in pieces for own in piece.values()) == len(people)


def test_rows_of_their_own_stay_where_they_are() -> None:
    alone = Division(together=None, numbers=(0,))
    assert parts_of(pa.table({"person": [3, 1, 2]}), alone) == {0: [3, 1, 2]}


def test_a_worker_that_would_divide_people_otherwise_refuses() -> None:
    task = Task(settings=SETTINGS)
    assert list(working(add_sums, told(task))([])) == []
    with pytest.raises(Refused):
        list(working(add_sums, told(replace(task, hashing="1.0.0: 7")))([]))


def told(task: Task) -> SimpleNamespace:
    return SimpleNamespace(value=pickle.dumps(task))
