"""The product under audit: the real parts of a release, put together as `publish` does.

A planted mutant is the same product with one part exchanged. A family says where its audits take
place (`Stage`): a small public universe at whose corners scenes are played, scenes being what some
people do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.auditing.harness import Sampler, as_many
from hushway.engine.settings import EngineSettings
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget, Event
from hushway.privacy.ledger.charging import Reservation
from hushway.privacy.ledger.entries import AccountKey
from hushway.privacy.loss import Loss, total
from hushway.privacy.measured import Measured
from hushway.privacy.query import AnyQuery, Counter, CutQuery, ExactCounts, PartitionQuery, Query
from hushway.privacy.randomness import BitSource, os_source
from hushway.release.mechanism import Mechanism

# Made-up rows in files, for audits of the whole way from files to a release.
#
# Rows are dealt out to several files as one deals cards, so that everybody is in all of them, and
# the engines hand them over in batches that nobody fits into.

FILES = 5
_ROW_GROUP = 1000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  times of these files are those of a wall clock
_MICROSECOND = timedelta(microseconds=1)


def small_batches(rows: int) -> EngineSettings:
    """Returns settings of an engine that hands over so many rows at a time."""
    return EngineSettings(memory_limit="1GB", threads=2, batch_rows=rows)


@contextmanager
def files_of(columns: Mapping[str, Any]) -> Iterator[Path]:
    """Writes rows to files, `time` in microseconds of the wall clock; removes them in the end."""
    table = pa.table(
        {
            name: pa.array(column, pa.timestamp("us")) if name == "time" else column
            for name, column in columns.items()
        }
    )
    with TemporaryDirectory(prefix="hushway-audit-") as name:
        for number in range(FILES):
            dealt = table.take(np.arange(number, len(table), FILES))
            pq.write_table(dealt, Path(name, f"{number}.parquet"), row_group_size=_ROW_GROUP)
        yield Path(name)


def microseconds(day: date, since_us: IntArray) -> IntArray:
    """Returns times of the wall clock, given in microseconds since a day began."""
    return (datetime.combine(day, time()) - _EPOCH) // _MICROSECOND + since_us


def filled_budget(unit: Unit, spend: Loss) -> Budget:
    """Returns the real budget of a release, as the ledger would have filled it.

    Privacy:
        A charge beyond `spend` is refused, as in a real release.
    """
    return Reservation(
        release="audit",
        key=AccountKey(dataset="toy", unit=unit, period="audit"),
        measure=spend.measure,
        amount=spend.amount,
        entry_hash="",
    )


class BlindBudget:
    """A budget that agrees to everything: the real one would stop a missing split by itself."""

    def charge(self, event: Event) -> None:
        """Takes nothing."""


def blind(_unit: Unit, _spend: Loss) -> Budget:
    """Returns a budget that agrees to everything, whatever it was filled with."""
    return BlindBudget()


Made = TypeVar("Made", bound=Mechanism[Any, Any])
Scene = tuple[Any, ...]
"""What people do at every corner of a stage."""
Rows = dict[str, IntArray]
"""Protected rows as an engine sees them, column by column."""
Look = Callable[[Any, Curator], IntArray]
"""Asks the curator of a stage and returns one whole number for every run that a release holds."""


def real_counter(rows: Rows, stage: Any, source: BitSource) -> Counter:
    """Returns the counter of every release."""
    counter: Counter = stage.count(rows, source)
    return counter


def real_curator(counter: Counter, budget: Budget, source: BitSource) -> Curator:
    """Returns the curator of every release."""
    return Curator(counter=counter, budget=budget, source=source)


def as_made(mechanism: Any) -> Any:
    """Returns a mechanism as the catalogue made it."""
    return mechanism


def remade(kind: type[Any]) -> Callable[[Any], Any]:
    """Returns what makes mechanisms into a kind of theirs that does one thing wrong."""

    def make(mechanism: Any) -> Any:
        if not issubclass(kind, type(mechanism)):
            return mechanism
        return kind(**{field.name: getattr(mechanism, field.name) for field in fields(mechanism)})

    return make


def unsplit(mechanism: Any) -> Any:
    """Gives the whole budget of a mechanism to each of its measurements."""
    whole, spends = total(mechanism.losses), mechanism.spends
    if isinstance(spends, tuple):
        return replace(mechanism, spends=(whole,) * len(spends))
    asked = {field.name: getattr(spends, field.name) and whole for field in fields(spends)}
    return replace(mechanism, spends=replace(spends, **asked))


@dataclass(frozen=True, kw_only=True)
class Product:
    """The parts of a release; those of the real one unless others are given.

    Attributes:
        counter: Makes what bounds and counts rows in memory, on a stage.
        engine: Bounds and counts rows of files; None for the one that plans use.
        mechanism: Has the last word on a mechanism that the catalogue made.
    """

    counter: Callable[[Rows, Any, BitSource], Counter] = real_counter
    engine: Callable[..., Counter] | None = None
    curator: Callable[[Counter, Budget, BitSource], Curator] = real_curator
    budget: Callable[[Unit, Loss], Budget] = filled_budget
    source: Callable[[], BitSource] = os_source
    mechanism: Callable[[Any], Any] = as_made


@dataclass(frozen=True, kw_only=True)
class Stage(ABC, Generic[Made]):
    """Where an audit takes place: a product, a public universe, public terms and a price.

    Attributes:
        in_files: Whether rows are written to files once, and read again for each release.
    """

    product: Product
    spend: Loss
    in_files: bool = False

    @property
    @abstractmethod
    def universe(self) -> Any:
        """The public universe, as mechanisms take it."""

    @abstractmethod
    def made(self) -> Made:
        """Returns the mechanism as the catalogue of plans makes it."""

    @abstractmethod
    def play(self, scene: Scene) -> Rows:
        """Returns the rows of a scene that plays at every corner."""

    @abstractmethod
    def count(self, rows: Rows, source: BitSource) -> Counter:
        """Returns the real counter of rows, with a bounding key of its own for every release."""

    @abstractmethod
    def columns(self, scene: Scene) -> Mapping[str, Any]:
        """Returns the columns of a scene in files; `time` in microseconds of the wall clock."""

    @abstractmethod
    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the product's engine for files, as plans use it, with a bounding key."""

    @property
    def reserved(self) -> Loss:
        """What the budget of a release is filled with."""
        return self.spend

    @cached_property
    def mechanism(self) -> Made:
        """The mechanism of every release, as the product under audit has it."""
        made: Made = self.product.mechanism(self.made())
        return made

    def measured(self, curator: Curator) -> list[Measured]:
        """Returns all dense noisy answers of one release."""
        answers = self.mechanism.measure(curator, self.universe)
        return [answer for answer in answers if isinstance(answer, Measured)]

    def table(self, curator: Curator) -> Any:
        """Returns what one release publishes."""
        return self.mechanism.fit(self.mechanism.measure(curator, self.universe), self.universe)

    def exact(self, scene: Scene, query: AnyQuery | CutQuery) -> IntArray:
        """Returns what the real counter counts of a scene, all cells of it."""
        # By identity: a scene of hundreds of entries would be hashed for every answer.
        if id(scene) not in self._counters:
            self._counters[id(scene)] = scene, self.count(self.play(scene), os_source())
        return exact_values(self._counters[id(scene)][1], query)

    @cached_property
    def _counters(self) -> dict[int, tuple[Scene, Counter]]:
        return {}

    def opened(self, scene: Scene) -> Curator:
        """Returns the curator of one release."""
        return self._opened(self.play(scene))

    def _opened(self, rows: Rows | Path) -> Curator:
        source = self.product.source()
        if isinstance(rows, Path):
            counter = self.count_files(rows, source)
        else:
            counter = self.product.counter(rows, self, source)
        return self.product.curator(
            counter, self.product.budget(counter.unit, self.reserved), source
        )

    def sampler(self, scene: Scene, look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes."""
        rows = {} if self.in_files else self.play(scene)

        def sample(runs: int) -> IntArray:
            if not self.in_files:
                return as_many(lambda: look(self, self._opened(rows)), runs)
            with files_of(self.columns(scene)) as folder:
                return as_many(lambda: look(self, self._opened(folder)), runs)

        return sample


def played(
    scene: Scene,
    corners: int,
    names: Sequence[str],
    columns: Callable[[Any, IntArray], Sequence[IntArray | int]],
) -> Rows:
    """Returns the rows of a scene at every corner, where it has people of its own.

    Args:
        scene: Parts that have a person, counted from 0 at every corner, and a number of times.
        names: Names of the columns, besides `person`.
        columns: Returns these columns of a part, one entry a corner.
    """
    people = 1 + max((part.person for part in scene), default=0)
    corner = np.arange(corners, dtype=np.int64)
    rows = [np.empty((1 + len(names), 0), dtype=np.int64)]
    for part in scene:
        every = (corner * people + part.person, *columns(part, corner))
        rows.append(np.repeat(np.stack(np.broadcast_arrays(*every)), part.times, axis=1))
    return dict(zip(("person", *names), np.concatenate(rows, axis=1), strict=True))


def dense(exact: ExactCounts, query: AnyQuery | CutQuery) -> IntArray:
    """Returns exact counts of all cells, 0 where there are none."""
    values = np.zeros(query.cells.size, dtype=np.int64)
    values[exact.cells] = exact.values
    return values


def sparse(values: IntArray) -> ExactCounts:
    """Returns exact counts of those cells that are not 0."""
    cells = np.flatnonzero(values)
    return ExactCounts(cells=cells, values=values[cells])


def exact_values(counter: Counter, query: AnyQuery | CutQuery) -> IntArray:
    """Returns what a counter counts in all cells of a query."""
    if isinstance(query, PartitionQuery):
        return dense(query.apply(counter.count(query.base)), query)
    assert isinstance(query, Query)  # noqa: S101  what audits ask otherwise
    return dense(counter.count(query), query)
