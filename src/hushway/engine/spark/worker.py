"""What runs on a cluster's workers: the DuckDB and the parts that run on one machine, too.

Privacy:
    A worker is handed rows, public facts and the bounding key. It draws nothing, and knows neither
    random bits nor a ledger. What is wrong with rows is said in the sentences of this project
    alone: whatever else a worker says ends up in logs.
"""

import base64
import json
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession, embedded_session
from hushway.engine.session import Keeping, Part, Reading, Tally
from hushway.engine.settings import EngineSettings
from hushway.engine.spark.packs import Division, added_up, hashing, packed_sums, unpacked
from hushway.engine.spark.pieces import Piece, numbers_of
from hushway.errors import DataError, HushwayError
from hushway.privacy.query import ExactCounts
from hushway.version import __version__

Batches = Iterator[pa.RecordBatch]

PIECES: Final = "piece binary"
_PIECES_SCHEMA = pa.schema([("piece", pa.binary())])
REFUSED: Final = "hushway-refuses:"
ANSWER: Final = "answer"
MALFORMED: Final = "malformed_row"


class Refused(Exception):  # noqa: N818  a message on its way to the release's process
    """An error of ours on its way from a worker."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What workers are told.

    Attributes:
        columns: What comes out of reading, as Spark was told: it takes nothing else.
        work: What is done with them: a part, something kept, a tally, a question.
        sums: What the parts of all cells are called, in which sums are added up.
        version: The version of this project that tells them.
        hashing: How that hashes.
    """

    settings: EngineSettings
    reading: Reading | None = None
    columns: pa.Schema | None = None
    division: Division | None = None
    work: Any = None
    sums: tuple[int, ...] = (0,)
    version: str = __version__
    hashing: str = field(default_factory=hashing)


Work = Callable[[Task, Batches], Batches]


def working(
    work: Work, told: Any
) -> Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]:
    """Returns a function of batches that Spark can send to workers."""

    def on_worker(batches: Iterable[pa.RecordBatch]) -> Batches:
        refusal: HushwayError | None = None
        try:
            yield from work(_task(told.value), iter(batches))
        except HushwayError as error:
            refusal = error
        if refusal is None:
            return
        # Out here, so that what the engine said about rows is not in the context.
        words = json.dumps([str(refusal), refusal.advice])
        raise Refused(REFUSED + base64.b64encode(words.encode()).decode() + ".")

    return on_worker


@cache
def _task(told: bytes) -> Task:
    task: Task = pickle.loads(told)  # noqa: S301  from the process that started this one
    if task.version != __version__:
        raise DataError(
            f"A worker of the cluster has hushway {__version__}, and this is {task.version}.",
            advice="Install the same version on every worker.",
        )
    if task.hashing != hashing():
        # Otherwise workers would send the rows of one person to several others.
        raise DataError(
            "A worker of the cluster has another DuckDB than this machine.",
            advice=f"Install DuckDB {task.hashing.partition(':')[0]} on every worker.",
        )
    return task


def read_pieces(task: Task, batches: Batches) -> Batches:
    """Reads pieces of files: rows out, or packs of them."""
    for piece in _pieces(batches):
        with embedded_session(task.settings) as session:
            piece.open(session)
            yield from _handed_on(task, session, _reading(task).read(session, piece.layout))


def read_table(task: Task, batches: Batches) -> Batches:
    """Reads rows of a table that Spark hands over: rows out, or packs of them."""
    from pyspark import TaskContext

    first = next(batches, None)
    context = TaskContext.get()
    if first is None or context is None:
        return
    with embedded_session(task.settings) as session:
        session.first_number = numbers_of(context.partitionId())
        session.give_once(pa.RecordBatchReader.from_batches(first.schema, _after(first, batches)))
        reading = _reading(task)
        yield from _handed_on(task, session, reading.read(session, reading.layout))


def _handed_on(task: Task, session: EmbeddedSession, rows: Any) -> Batches:
    if task.division is not None:
        yield from task.division.packs(session, rows)
        return
    for batch in session.stream(rows):
        yield batch.cast(task.columns)


def count_malformed(task: Task, batches: Batches) -> Batches:
    """Reads pieces of files and counts rows that cannot be read."""
    for piece in _pieces(batches):
        with embedded_session(task.settings) as session:
            piece.open(session)
            for _ in session.stream(_reading(task).read(session, piece.layout)):
                pass
            yield packed_sums(MALFORMED, _one(session.malformed_rows()), task.sums)


def shape_rows(task: Task, batches: Batches) -> Batches:
    """Makes other rows of those of some people."""
    for session in _with_rows(task, batches):
        for batch in session.stream(_shaped(task, session)):
            yield batch.cast(task.columns)


def count_part(task: Task, batches: Batches) -> Batches:
    """Counts some people, all rows of each: sums out."""
    part: Part[Any] = task.work
    for session in _with_rows(task, batches):
        counted = part.count(session, _shaped(task, session), None)
        for name, counts in part.sums(counted).items():
            yield packed_sums(name, counts, task.sums)


def keep_part(task: Task, batches: Batches) -> Batches:
    """Keeps something of some people: pieces out."""
    keeping: Keeping[Any, Any] = task.work
    for session in _with_rows(task, batches):
        for piece in keeping.packed(keeping.keep(session, _shaped(task, session), None)):
            yield pa.record_batch([pa.array([piece], pa.binary())], schema=_PIECES_SCHEMA)


def answer_pieces(task: Task, batches: Batches) -> Batches:
    """Asks pieces of what was kept: sums out."""
    keeping, question = task.work
    for batch in batches:
        for piece in batch.column("piece").to_pylist():
            answer = keeping.answer(keeping.unpacked(piece), question)
            yield packed_sums(ANSWER, answer, task.sums)


def tally_batches(task: Task, batches: Batches) -> Batches:
    """Tallies batches of rows: sums out."""
    tally: Tally = task.work
    for batch in batches:
        for name, number in tally(batch).items():
            yield packed_sums(name, _one(number), task.sums)


def add_sums(_task: Task, batches: Batches) -> Batches:
    """Adds up what was counted of some cells: sums out."""
    yield from added_up(batches)


def _pieces(batches: Batches) -> Iterator[Piece]:
    for batch in batches:
        for piece in batch.column("piece").to_pylist():
            yield pickle.loads(piece)  # noqa: S301  likewise


def _with_rows(task: Task, batches: Batches) -> Iterator[EmbeddedSession]:
    """Opens a DuckDB with the rows of some people; none at all where there is nobody."""
    rows = unpacked(batches)
    first = next(rows, None)
    if first is None:
        return
    with embedded_session(task.settings) as session:
        session.give(pa.RecordBatchReader.from_batches(first.schema, _after(first, rows)))
        yield session


def _after(first: pa.RecordBatch, others: Iterable[pa.RecordBatch]) -> Batches:
    yield first
    yield from others


def _shaped(task: Task, session: EmbeddedSession) -> Any:
    rows, shape = session.given_rows, _reading(task).shape
    return rows if shape is None else shape(session, rows)


def _reading(task: Task) -> Reading:
    assert task.reading is not None  # noqa: S101  what workers who read are told
    return task.reading


def _one(number: int) -> ExactCounts:
    return ExactCounts(cells=np.zeros(1, np.int64), values=np.array([number], dtype=np.int64))
