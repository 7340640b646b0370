"""Everybody's rows end up in one part, wherever they were read; or nothing is counted."""

import pickle
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa
import pytest

from hushway.engine.embedded import embedded_session
from hushway.engine.settings import EngineSettings
from hushway.engine.spark.packs import Division, numbers_of_parts, unpacked
from hushway.engine.spark.worker import Refused, Task, add_sums, working

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
