"""The product under audit: the real parts of a release, put together as `publish` does.

A planted mutant is the same product with one part exchanged. A family says which parts are its own
(`Product`), and where its audits take place (`Stage`): a small public universe at whose corners
scenes are played, scenes being what some people do.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.audit.harness import Sampler, World, as_many
from hushway.engine.settings import EngineSettings
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Budget, Event
from hushway.privacy.ledger.entries import AccountKey
from hushway.privacy.ledger.reservation import Reservation
from hushway.privacy.loss import Loss
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource, os_source

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
    """Writes rows to files, and removes them in the end.

    Args:
        columns: The columns; `time` in microseconds of the wall clock.
    """
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


Part = TypeVar("Part")
Rows = TypeVar("Rows")
Files = TypeVar("Files")
Terms = TypeVar("Terms")
Made = TypeVar("Made")

Look = Callable[[Curator], IntArray]
"""Asks a curator and returns one whole number for every run that a release holds."""


def real_curator(counter: Counter, budget: Budget, source: BitSource) -> Curator:
    """Returns the curator of every release."""
    return Curator(counter=counter, budget=budget, source=source)


def as_made(mechanism: Made) -> Made:
    """Returns a mechanism as the catalogue made it."""
    return mechanism


def remade(kind: type[Made], mechanism: Made) -> Made:
    """Returns a mechanism with the same terms, of a kind that does one thing wrong."""
    terms = {field.name: getattr(mechanism, field.name) for field in fields(cast("Any", mechanism))}
    return kind(**terms)


@dataclass(frozen=True, kw_only=True)
class Product(Generic[Rows, Files, Terms, Made]):
    """The parts of a release.

    Attributes:
        counter: Makes the engine that bounds and counts rows in memory.
        files: Makes the engine that bounds and counts rows of files, as plans use it.
        curator: Makes the curator that adds the noise.
        budget: Makes the budget that the curator spends from.
        source: Gives the random bits.
        mechanism: Has the last word on a mechanism that the catalogue made.
    """

    counter: Callable[[Rows, Terms, BitSource], Counter]
    files: Callable[[Files, Terms, BitSource], Counter]
    curator: Callable[[Counter, Budget, BitSource], Curator] = real_curator
    budget: Callable[[Unit, Loss], Budget] = filled_budget
    source: Callable[[], BitSource] = os_source
    mechanism: Callable[[Made], Made] = as_made

    def open(self, rows: Rows, terms: Terms, spend: Loss) -> Curator:
        """Returns the curator of one release."""
        source = self.source()
        return self._opened(self.counter(rows, terms, source), spend, source)

    def open_files(self, files: Files, terms: Terms, spend: Loss) -> Curator:
        """Returns the curator of one release of rows in files."""
        source = self.source()
        return self._opened(self.files(files, terms, source), spend, source)

    def _opened(self, counter: Counter, spend: Loss, source: BitSource) -> Curator:
        return self.curator(counter, self.budget(counter.unit, spend), source)


@dataclass(frozen=True, kw_only=True)
class Stage(ABC, Generic[Part, Rows, Files, Terms, Made]):
    """Where an audit takes place: a product, a place, its terms and the price of each release."""

    product: Product[Rows, Files, Terms, Made]
    spend: Loss

    @property
    @abstractmethod
    def terms(self) -> Terms:
        """The public terms of every release."""

    @abstractmethod
    def play(self, scene: tuple[Part, ...]) -> Rows:
        """Returns the rows of a scene that plays at every corner."""

    @property
    def reserved(self) -> Loss:
        """What the budget of a release is filled with."""
        return self.spend

    def opened(self, scene: tuple[Part, ...]) -> Curator:
        """Returns the curator of one release."""
        return self.product.open(self.play(scene), self.terms, self.reserved)

    def sampler(self, scene: tuple[Part, ...], look: Look) -> Sampler:
        """Returns a way to run a scene: as many releases as it takes."""
        rows = self.play(scene)
        return lambda runs: as_many(
            lambda: look(self.product.open(rows, self.terms, self.reserved)), runs
        )

    def sampler_of_files(
        self, columns: Mapping[str, Any], source: Callable[[Path], Files], look: Look
    ) -> Sampler:
        """Returns a way to run rows that are written once, and read again for each release.

        Args:
            columns: The columns of the files; `time` in microseconds of the wall clock.
            source: Says how the files of a folder are read.
            look: What is seen of a release.
        """

        def sample(runs: int) -> IntArray:
            with files_of(columns) as folder:
                files = source(folder)
                return as_many(
                    lambda: look(self.product.open_files(files, self.terms, self.reserved)), runs
                )

        return sample

    def worlds(
        self,
        look: Look,
        one: tuple[str, tuple[Part, ...]],
        other: tuple[str, tuple[Part, ...]] = ("nobody", ()),
    ) -> tuple[World, World]:
        """Returns two scenes, each with its name, as neighbouring worlds that are looked at."""
        return self._world(look, *one), self._world(look, *other)

    def _world(self, look: Look, words: str, scene: tuple[Part, ...]) -> World:
        return World(words=words, sample=self.sampler(scene, look))
