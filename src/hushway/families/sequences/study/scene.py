"""A card city to try prefix trees on: its public lines, and records whose truth is known."""

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import BoundingKey
from hushway.families.sequences.city.city import CardCity
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.memory import ArraySequences
from hushway.families.sequences.study.data import WeightedSequences, distinct
from hushway.geography.labels import labels_of_codes
from hushway.geography.locations import Locations
from hushway.privacy.curator import Curator
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import BitSource, SeededSource
from hushway.privacy.unit import Unit
from hushway.study.study_table import StudyBudget


@dataclass(frozen=True, kw_only=True, eq=False)
class SequenceScene:
    """Where prefix trees are compared; one record is protected, as in the paper.

    Attributes:
        name: What the data are called.
        taxonomy: The public lines.
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
        return SequenceScene(
            name=self.name,
            taxonomy=Taxonomy(locations=locations, levels=levels),
            start=before[self.start],
            stops=self.stops[kept],
        )

    def sample(self, records: int) -> "SequenceScene":
        """Returns the same with the first so many records, whose order is random."""
        end = int(self.start[records])
        return SequenceScene(
            name=self.name,
            taxonomy=self.taxonomy,
            start=self.start[: records + 1],
            stops=self.stops[:end],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Grown:
    """A published tree, its sequences, and the seconds that it took."""

    table: SequenceTable
    released: WeightedSequences
    seconds: float


def card_scene(city: CardCity) -> SequenceScene:
    """Returns a synthetic card city."""
    return SequenceScene(name=city.name, taxonomy=city.taxonomy, start=city.start, stops=city.stops)


def grow(scene: SequenceScene, mechanism: PrefixTree, source: BitSource) -> Internal[Grown]:
    """Runs a mechanism once, as a release would: bounding, noise, tree, fit and table."""
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
