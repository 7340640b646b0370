"""Protected rows on a Spark cluster: read, divided by people and counted by its workers."""

import base64
import json
import re
import secrets
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import ibis
import pyarrow as pa
from numpy.typing import NDArray

from hushway.engine.embedded import embedded_session
from hushway.engine.session import Ask, Keeping, Part, Reading, Sums, Tally
from hushway.engine.settings import Cluster, EngineSettings
from hushway.engine.spark.cluster import connected
from hushway.engine.spark.packs import PACKS, Division, numbers_of_parts, sums_of
from hushway.engine.spark.pieces import Piece, parts_of, pieces_of, sent
from hushway.engine.spark.worker import (
    ANSWER,
    MALFORMED,
    PIECES,
    REFUSED,
    Task,
    Work,
    add_sums,
    answer_pieces,
    count_malformed,
    count_part,
    keep_part,
    read_pieces,
    read_table,
    shape_rows,
    tally_batches,
    working,
)
from hushway.errors import DataError
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress, watched
from hushway.tables.layout import Layout, Source, layout_of, layout_of_table
from hushway.tables.row_files import table_of

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_REFUSAL = re.compile(re.escape(REFUSED) + r"([A-Za-z0-9+/=]+)\.")
# What Spark calls the types that rows come in.
_TYPES: Final = {
    "int64": "long",
    "int32": "int",
    "int8": "byte",
    "string": "string",
    "float64": "double",
    "boolean": "boolean",
}
_POLL_S: Final = 0.5
# Rows that go between Spark and Python at a time.
_BATCH_ROWS: Final = 100_000


class SparkEngineSession:
    """A session on a Spark cluster. A `hushway.engine.session.Session`.

    Privacy:
        Workers are handed rows, public facts and the bounding key; what comes back are sums, and
        rows that the steward's own check asks for. What Spark says about rows stays with it.
    """

    def __init__(self, spark: "SparkSession", settings: EngineSettings, cluster: Cluster) -> None:
        self._spark = spark
        self._cluster = cluster
        self._settings = replace(settings, threads=1, batch_rows=_BATCH_ROWS, cluster=None)
        self._prefix = f"hushway_{secrets.token_hex(8)}_"
        self._tables: dict[str, ibis.Table] = {}
        self._stored: list[DataFrame] = []
        self._read: list[Reading] = []
        self._cut: list[tuple[Layout, list[Piece]]] = []

    def layout(self, source: Source) -> Layout:
        """Returns where the rows of a source are and which columns they have; no row is read."""
        table = table_of(source.path)
        if table is None:
            return layout_of(source)
        return layout_of_table(table, self._columns_of(table), source)

    def rows(self, reading: Reading) -> ibis.Table:
        """Returns all rows, to be looked at by expressions."""
        self._read.append(reading)
        schema = self._schema_of(reading)
        names, arrow = _columns(schema), _arrow(schema)
        if reading.shape is None:
            frame = self._reading(reading, names, columns=arrow)
        else:
            divided = self._divided(reading)
            frame = self._mapped(divided, shape_rows, names, reading=reading, columns=arrow)
        return self._named(f"rows_{len(self._read)}", frame, schema)

    def count(self, reading: Reading, part: Part[T], progress: ShareProgress | None = None) -> T:
        """Returns what is counted of all people."""
        divided = self._divided(reading)
        return part.counted(self._summed(divided, count_part, progress, reading=reading, work=part))

    def keep(
        self, reading: Reading, keeping: Keeping[Any, Any], progress: ShareProgress | None = None
    ) -> Ask:
        """Keeps something of all people on the cluster, until nobody can ask for it any more."""
        divided = self._divided(reading)
        kept = self._mapped(divided, keep_part, PIECES, reading=reading, work=keeping).persist()
        self._quietly(kept.count, progress)

        def ask(question: Any) -> ExactCounts:
            return self._summed(kept, answer_pieces, work=(keeping, question))[ANSWER]

        weakref.finalize(ask, _forget, kept)
        return ask

    def run(
        self, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> dict[str, NDArray[Any]]:
        """Runs an expression and returns its columns."""
        found = self._quietly(self._frame(expression).toArrow, progress)
        return {name: found[name].to_numpy() for name in found.column_names}

    def store(
        self, name: str, expression: ibis.Table, progress: ShareProgress | None = None
    ) -> ibis.Table:
        """Runs an expression and keeps its rows on the cluster until the session closes."""
        frame = self._frame(expression).persist()
        self._stored.append(frame)
        self._quietly(frame.count, progress)
        return self._named(name, frame, expression.schema())

    def fetch(self, expression: ibis.Table) -> pa.Table:
        """Runs an expression with few rows and returns them."""
        table: pa.Table = self._quietly(self._frame(expression).toArrow)
        return table

    def tally(
        self, expression: ibis.Table, tally: Tally, progress: ShareProgress | None = None
    ) -> dict[str, int]:
        """Runs an expression and returns the sums of what is found in each batch of its rows."""
        found = self._summed(self._frame(expression), tally_batches, progress, work=tally)
        return {name: int(one.values[0]) for name, one in found.items()}

    def load(self, name: str, table: pa.Table) -> ibis.Table:
        """Puts a public table that is in memory into the cluster."""
        return self._named(
            name, self._spark.createDataFrame(table), ibis.Schema.from_pyarrow(table.schema)
        )

    def table(self, name: str) -> ibis.Table:
        """Returns a table that was stored or loaded."""
        return self._tables[name]

    def malformed_rows(self) -> int:
        """Returns how many rows of CSV files were dropped because their fields cannot be told."""
        found = 0
        for reading in self._read:
            if reading.layout is not None and reading.layout.files.format == "csv":
                counted = self._summed(self._pieces(reading), count_malformed, reading=reading)
                found += int(counted[MALFORMED].values.sum())
        return found

    def close(self) -> None:
        """Takes away what was stored and named."""
        for frame in self._stored:
            _forget(frame)
        for name in self._tables:
            self._spark.catalog.dropTempView(self._prefix + name)

    def _reading(self, reading: Reading, schema: str, **told: Any) -> "DataFrame":
        """Lets workers read."""
        table = _table_of(reading)
        if table is None:
            return self._mapped(self._pieces(reading), read_pieces, schema, reading=reading, **told)
        return self._mapped(
            self._table(table, reading), read_table, schema, reading=reading, **told
        )

    def _table(self, name: str, reading: Reading) -> "DataFrame":
        """Returns a table of the session's catalogue, only the columns that are needed."""
        assert reading.layout is not None  # noqa: S101  what a table has
        names = dict.fromkeys(reading.layout.names.values())
        return self._spark.table(name).select(*(f"`{one.replace('`', '``')}`" for one in names))

    def _columns_of(self, table: str) -> pa.Schema:
        from pyspark.sql.pandas.types import to_arrow_schema

        found: pa.Schema | None = None
        # What Spark says about a table may name others.
        with suppress(Exception):
            found = to_arrow_schema(self._spark.table(table).schema)
        if found is None:
            raise DataError(
                f"The Spark session has no table {table!r} that can be read.",
                advice="Check its name; catalogues such as Iceberg or Delta are settings of the "
                "session.",
            )
        return found

    def _schema_of(self, reading: Reading) -> ibis.Schema:
        """Returns the columns of rows, in the shape in which they are looked at; none is read."""
        table = _table_of(reading)
        with embedded_session(self._settings) as here:
            if table is not None:
                here.give(pa.RecordBatchReader.from_batches(self._columns_of(table), []))
            rows = reading.read(here, reading.layout)
            if reading.shape is not None:
                rows = reading.shape(here, rows)
            return rows.schema()

    def _pieces(self, reading: Reading) -> "DataFrame":
        pieces = self._cut_of(reading)
        frame = self._spark.createDataFrame([(bytearray(sent(piece)),) for piece in pieces], PIECES)
        return frame.repartition(len(pieces))

    def _cut_of(self, reading: Reading) -> list[Piece]:
        """Returns the pieces of files, which are looked at once."""
        layout = reading.layout
        if layout is None:
            raise DataError(
                "MDS and GPX files are read on one machine only.",
                advice='Set kind = "duckdb" in [engine], or write the rows as CSV or Parquet.',
            )
        for known, pieces in self._cut:
            if known is layout:
                return pieces
        self._cut.append((layout, pieces_of(layout)))
        return self._cut[-1][1]

    def _divided(self, reading: Reading) -> "DataFrame":
        """Brings the rows of every person together, in packs.

        Privacy:
            People are divided by a function of their id alone, so everybody is whole in one part.
        """
        parts = 1 if reading.together is None else self._parts_of(reading)
        division = Division(together=reading.together, numbers=numbers_of_parts(parts))
        packs = self._reading(reading, PACKS, division=division)
        # Those who are alone need nobody beside them.
        return packs if reading.together is None else packs.repartition(parts, "part")

    def _parts_of(self, reading: Reading) -> int:
        if self._cluster.parts is not None:
            return self._cluster.parts
        cores = self._spark.sparkContext.defaultParallelism
        table = _table_of(reading)
        if table is not None:
            # Spark knows best into how many parts its own table falls.
            return max(2 * cores, int(self._table(table, reading).rdd.getNumPartitions()))
        return parts_of(self._cut_of(reading), cores)

    def _mapped(self, frame: "DataFrame", do: Work, schema: str, **told: Any) -> "DataFrame":
        task = Task(settings=self._settings, **told)
        broadcast = self._spark.sparkContext.broadcast(sent(task))
        return frame.mapInArrow(working(do, broadcast), schema)

    def _summed(
        self, frame: "DataFrame", do: Work, progress: ShareProgress | None = None, **told: Any
    ) -> Sums:
        """Lets workers count, and add up cell by cell what all of them counted."""
        parts = self._cluster.parts or 2 * self._spark.sparkContext.defaultParallelism
        counted = self._mapped(frame, do, PACKS, sums=numbers_of_parts(parts), **told)
        added = self._mapped(counted.repartition(parts, "part"), add_sums, PACKS)
        return sums_of(self._quietly(added.toArrow, progress).to_batches())

    def _frame(self, expression: ibis.Table) -> "DataFrame":
        # Ibis knows the options of a dialect only once that is loaded.
        _ = ibis.pyspark
        return self._spark.sql(str(ibis.to_sql(expression, dialect="pyspark")))

    def _named(self, name: str, frame: "DataFrame", schema: ibis.Schema) -> ibis.Table:
        frame.createOrReplaceTempView(self._prefix + name)
        self._tables[name] = ibis.table(schema, name=self._prefix + name)
        return self._tables[name]

    def _quietly(self, work: Callable[[], T], progress: ShareProgress | None = None) -> T:
        """Does work on the cluster and keeps what it says about rows to itself."""
        try:
            with watched(progress, _share_done(self._spark.sparkContext), _POLL_S):
                return work()
        except Exception as error:  # noqa: BLE001  Spark has many
            trouble = _translated(str(error))
        raise trouble


@contextmanager
def spark_session(settings: EngineSettings, cluster: Cluster) -> Iterator[SparkEngineSession]:
    """Opens a cluster for one piece of work."""
    # Spark encrypts by itself, whether or not there is a library for DuckDB.
    spark = connected(cluster, encrypted=settings.encrypt_spills is not False)
    session = SparkEngineSession(spark, settings, cluster)
    try:
        yield session
    finally:
        session.close()


def _table_of(reading: Reading) -> str | None:
    """Returns the name of the table that is read; None for files."""
    layout = reading.layout
    return layout.files.table if layout is not None and layout.files.format == "table" else None


def _columns(schema: ibis.Schema) -> str:
    return ", ".join(
        f"{name} {_TYPES[str(kind).removeprefix('!')]}" for name, kind in schema.items()
    )


def _arrow(schema: ibis.Schema) -> pa.Schema:
    # Whether a column may be empty is nobody's business here.
    return pa.schema([field.with_nullable(True) for field in schema.to_pyarrow()])


def _share_done(context: "SparkContext") -> Callable[[], float | None]:
    """Returns what tells which share of the tasks that are known is done; None without any."""
    tracker, seen = context.statusTracker(), dict[int, tuple[int, int]]()

    def share() -> float | None:
        active = set(tracker.getActiveStageIds())
        for stage in active:
            info = tracker.getStageInfo(stage)
            if info is not None:
                seen[stage] = info.numCompletedTasks, info.numTasks
        tasks = sum(total for _, total in seen.values())
        ready = sum(part if stage in active else total for stage, (part, total) in seen.items())
        return ready / tasks if tasks else None

    return share


def _forget(frame: "DataFrame") -> None:
    # The cluster may be gone by now.
    with suppress(Exception):
        frame.unpersist(blocking=True)


def _translated(text: str) -> DataError:
    refusal = _REFUSAL.search(text)
    if refusal is not None:
        message, advice = json.loads(base64.b64decode(refusal[1]))
        return DataError(message, advice=advice)
    if "No module named" in text:
        return DataError(
            "A worker of the cluster does not have hushway, or not all that it needs.",
            advice="Install the same version on every worker, and set PYSPARK_PYTHON to its "
            "Python.",
        )
    return DataError(
        "The cluster could not read or count the rows.",
        advice="Its own logs say why. Give its workers more memory or disk, or check that every "
        "worker can read the files.",
    )
