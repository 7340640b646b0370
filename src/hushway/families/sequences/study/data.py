"""Sequences as evaluation sees them, and a card city to try prefix trees on."""

import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import DataError
from hushway.families.sequences.city.city import CardCity
from hushway.families.sequences.fit.distinct import grouped
from hushway.families.sequences.fit.table import RecordTable, SequenceTable
from hushway.families.sequences.mechanism.terms import SequenceMechanism
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.geography.locations import Locations, labels_of_codes
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.release.forecast.study_budget import StudyBudget


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedSequences:
    """Sequences of stops with weights. The sequences need not differ.

    Attributes:
        start: Where each sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        weights: How many records each sequence stands for.
    """

    start: IntArray
    stops: IntArray
    weights: IntArray

    def __post_init__(self) -> None:
        check_ragged(self.start, self.stops)
        if len(self.weights) != len(self.start) - 1:
            raise DataError(
                "The weights are not one for each sequence.",
                advice="Give how many records each sequence stands for, in their order.",
            )

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def records(self) -> int:
        """Number of records, |D| in the paper."""
        return int(self.weights.sum())


def check_ragged(start: IntArray, values: IntArray) -> None:
    """Refuses arrays that are no list of lists.

    Raises:
        DataError: The lists do not begin at 0, ascend and end with the values; or a value is
            negative.
    """
    ascending = len(start) > 0 and start[0] == 0 and bool(np.all(np.diff(start) >= 0))
    if not ascending or start[-1] != len(values):
        raise DataError(
            "The lists do not begin and end with the values that they cut up.",
            advice="Give the first position of every list, and the number of values at the end.",
        )
    if len(values) and values.min() < 0:
        raise DataError("A place index is negative.", advice="Count places from 0, in their order.")


def distinct(
    start: IntArray, stops: IntArray, weights: IntArray | None = None
) -> WeightedSequences:
    """Returns each distinct sequence once, in the order of first appearance, with its weight.

    Raises:
        DataError: The arrays are no list of lists.
    """
    each = np.ones(len(start) - 1, dtype=np.int64) if weights is None else weights
    given = WeightedSequences(start=start, stops=stops, weights=each)
    first, sums = grouped(given.start, given.stops, given.weights)
    length = np.diff(start)[first]
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    # Consecutive numbers within each sequence, moved to where it stood before.
    where = np.arange(ends[-1]) + np.repeat(start[first] - ends[:-1], length)
    return WeightedSequences(start=ends, stops=stops[where], weights=sums)


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceScene:
    """Where prefix trees are compared; one record is protected, as in the paper.

    Attributes:
        start: Where each record begins; one entry more than records.
        stops: The location index of every stop of all records in a row.
    """

    name: str
    taxonomy: Taxonomy
    start: IntArray
    stops: IntArray

    @cached_property
    def truth(self) -> WeightedSequences:
        """The distinct records, not cut, with their number."""
        return distinct(self.start, self.stops)

    @property
    def hybrid(self) -> SequenceUniverse:
        """The universe with lines above locations."""
        return SequenceUniverse(taxonomy=self.taxonomy)

    @property
    def simple(self) -> SequenceUniverse:
        """The universe with locations only."""
        return SequenceUniverse(taxonomy=Taxonomy(locations=self.taxonomy.locations))

    def within(self, places: int) -> "SequenceScene":
        """Returns the same over the first so many locations; stops elsewhere are left out."""
        kept = self.stops < places
        before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
        locations = Locations(self.taxonomy.locations.places[:places])
        levels = tuple(
            labels_of_codes(level.column, level.codes[:places], level.names)
            for level in self.taxonomy.levels
        )
        taxonomy = Taxonomy(locations=locations, levels=levels)
        return replace(self, taxonomy=taxonomy, start=before[self.start], stops=self.stops[kept])

    def sample(self, records: int) -> "SequenceScene":
        """Returns the same with the first so many records, whose order is random."""
        end = int(self.start[records])
        return replace(self, start=self.start[: records + 1], stops=self.stops[:end])


@dataclass(frozen=True, kw_only=True, eq=False)
class Grown:
    """What was published, its sequences, and the seconds that it took."""

    table: SequenceTable | RecordTable
    released: WeightedSequences
    seconds: float


def card_scene(city: CardCity) -> SequenceScene:
    """Returns a synthetic card city."""
    return SequenceScene(name=city.name, taxonomy=city.taxonomy, start=city.start, stops=city.stops)


def grow(scene: SequenceScene, mechanism: SequenceMechanism, source: BitSource) -> Internal[Grown]:
    """Runs a mechanism once, as a release would: bounding, noise, fit and table."""
    start = time.perf_counter()
    counter = ArraySequences(
        taxonomy=mechanism.universe.taxonomy,
        unit=Unit.RECORD,
        max_records=1,
        max_stops=mechanism.height,
        key=BoundingKey.draw(SeededSource(0)),
        start=scene.start,
        stops=scene.stops,
    )
    curator = Curator(counter=counter, budget=StudyBudget(), source=source)
    universe = mechanism.universe
    table = mechanism.fit(mechanism.measure(curator, universe), universe)
    begin, stops, counts = table.sequences()
    seconds = time.perf_counter() - start
    released = WeightedSequences(start=begin, stops=np.ascontiguousarray(stops), weights=counts)
    return Internal(Grown(table=table, released=released, seconds=seconds))
