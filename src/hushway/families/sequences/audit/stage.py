"""The small public universes where releases of sequences are audited."""

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.product import Product, Rows, Stage, microseconds, small_batches
from hushway.auditing.shift import rho_of
from hushway.engine.key import BoundingKey
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.mechanism.steps import StepShape, uniform_shares
from hushway.families.sequences.mechanism.tree import PrefixTree, prefix_tree
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences, EngineSequences
from hushway.families.sequences.rows.sequences import SequenceRule, TapColumns, TapsSource
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.contribution import LADDER
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.query import Counter
from hushway.privacy.randomness import BitSource

# Small public universes in which one scene of walks plays at many corners.
#
# What a prefix tree says below a first stop depends on the records that begin there alone: noise,
# candidates and fit of different first stops have nothing to do with each other. So a corner is a
# few groups of first stops, with people of its own, and one release holds a run for each corner.
# Later stops may lie anywhere.

_FIRST_DAY, _LAST_DAY = date(2024, 1, 1), date(2024, 1, 20)
_FIRST_HOUR = 8 * 60
_HOUR_US, _SECOND_US = 3_600_000_000, 1_000_000
_DAY_US = 24 * _HOUR_US


@dataclass(frozen=True, kw_only=True)
class Walk:
    """Records of one person at a corner.

    Attributes:
        stops: The places of a record, counted from the first one of the corner.
        person: Who, counted from 0 at every corner.
        times: How many identical records.
        periods: The period of each stop; the first one if none is given.
    """

    stops: tuple[int, ...]
    person: int = 0
    times: int = 1
    periods: tuple[int, ...] = ()


Walks = tuple[Walk, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ToyUniverse:
    """A universe and its corners.

    Attributes:
        groups: Candidates of the first step at each corner.
        places: Locations of each of these.
    """

    universe: SequenceUniverse
    corners: int
    groups: int
    places: int

    def place(self, offset: int) -> IntArray:
        """Returns the location so many places from the first one of each corner, in a circle."""
        every = self.corners * self.groups * self.places
        return (np.arange(self.corners) * self.groups * self.places + offset) % every

    def play(self, scene: Walks) -> Rows:
        """Returns records one after another, and whose they are."""
        people = 1 + max((walk.person for walk in scene), default=0)
        corner = np.arange(self.corners, dtype=np.int64)
        nobody = np.empty(0, dtype=np.int64)
        stops, periods, lengths, person = [nobody], [nobody], [nobody], [nobody]
        for walk in scene:
            walked = np.stack([self.place(offset) for offset in walk.stops], axis=1)
            stops.append(np.repeat(walked, walk.times, axis=0).ravel())
            when = np.array(walk.periods or (0,) * len(walk.stops), dtype=np.int64)
            periods.append(np.tile(when, self.corners * walk.times))
            lengths.append(np.full(self.corners * walk.times, len(walk.stops), dtype=np.int64))
            person.append(np.repeat(corner * people + walk.person, walk.times))
        return {
            "start": np.concatenate([[0], np.cumsum(np.concatenate(lengths))]),
            "stops": np.concatenate(stops),
            "period": np.concatenate(periods),
            "person": np.concatenate(person),
        }

    def corner_of(self, cells: PrefixCells) -> IntArray:
        """Returns the corner that each candidate of a step lies below."""
        if cells.above is None:
            return np.arange(cells.size) // self.groups % self.corners
        corner_of_node = self.corner_of(cells.above)[cells.kept]
        return np.repeat(corner_of_node, np.diff(cells.start))


def toy_universe(
    *, corners: int, groups: int = 1, places: int = 1, periods: int = 1
) -> ToyUniverse:
    """Returns a toy universe; with one place a group there are no groups, but locations only.

    With several periods, hours of the morning, stops keep their times.
    """
    number = corners * groups
    names = [str(place) for place in range(number * places)]
    locations = Locations(
        tuple(Location(id=name, name=name, lon=0.0, lat=0.0, zone="toy") for name in names)
    )
    codes = np.repeat(np.arange(number, dtype=np.int32), places)
    level = labels_of_codes("group", codes, [str(group) for group in range(number)])
    taxonomy = Taxonomy(locations=locations, levels=(level,) if places > 1 else ())
    universe = SequenceUniverse(
        taxonomy=taxonomy, periods=days_of(periods) if periods > 1 else None
    )
    return ToyUniverse(universe=universe, corners=corners, groups=groups, places=places)


def days_of(periods: int) -> Periods:
    """Returns twenty days with so many hours of service."""
    return Periods(
        zone="UTC",
        first_day=_FIRST_DAY,
        last_day=_LAST_DAY,
        opens=_FIRST_HOUR,
        closes=_FIRST_HOUR + 60 * periods,
        minutes=60,
    )


@dataclass(frozen=True, kw_only=True)
class FixedThreshold:
    """The same threshold at every step: a low one shows what the noise alone would hide."""

    at: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "fixed", "at": self.at}

    def threshold(self, _shape: StepShape, _spend: Loss, _bound: Bound) -> int:
        """Returns the threshold."""
        return self.at


@dataclass(frozen=True, kw_only=True)
class TreeForm:
    """A tree in a toy universe; all of its steps cost the same.

    Attributes:
        threshold: From which noisy count on a candidate becomes a node.
    """

    words: str
    toy: ToyUniverse
    height: int
    threshold: int = 1

    @property
    def steps(self) -> int:
        """How many steps the tree has."""
        return self.height * self.toy.universe.taxonomy.grains

    def make(self, budget: Loss) -> PrefixTree:
        """Returns the mechanism, as the catalogue of plans makes it."""
        universe = self.toy.universe
        return prefix_tree(
            universe,
            budget=budget,
            height=self.height,
            level_shares=uniform_shares(self.height),
            grain_shares=uniform_shares(universe.taxonomy.grains),
            thresholds=FixedThreshold(at=self.threshold),
            # At such thresholds false nodes multiply; a tree of two stops has no time for it.
            supercritical=True,
        )


@dataclass(frozen=True, kw_only=True)
class LearnedForm:
    """Learned records in a toy universe."""

    words: str
    toy: ToyUniverse
    height: int

    @property
    def path(self) -> tuple[int, ...]:
        """The places of the longest record of a corner, each of them once."""
        return tuple(range(self.height))

    def make(self, budget: Loss) -> Any:
        """Returns the mechanism, as a plan has it."""
        return LearnedSequences(
            universe=self.toy.universe, height=self.height, spends=learned_spends(budget)
        )


@dataclass(frozen=True, kw_only=True)
class PeopleForm(LearnedForm):
    """Learned records that stand for all records of people, whose limit is chosen."""

    def make(self, budget: Loss) -> PeopleSequences:
        """Returns the mechanism, as a plan has it."""
        return PeopleSequences(inner=super().make(budget), ladder=LADDER, limit=None)


@dataclass(frozen=True, kw_only=True)
class SequenceStage(Stage[Any]):
    """A form of a mechanism and the limit on records."""

    form: TreeForm | LearnedForm
    max_records: int = 1

    @property
    def toy(self) -> ToyUniverse:
        """The public universe and its corners."""
        return self.form.toy

    @property
    def universe(self) -> SequenceUniverse:
        """The public universe."""
        return self.toy.universe

    def made(self) -> PrefixTree | LearnedSequences | PeopleSequences:
        """Returns the mechanism as the catalogue of plans makes it."""
        return self.form.make(self.spend)

    def play(self, scene: Walks) -> Rows:
        """Returns the records of a scene that plays at every corner."""
        return self.toy.play(scene)

    def count(self, rows: Rows, source: BitSource) -> Counter:
        """Returns the real counter."""
        moments = self.universe.moments
        return ArraySequences(
            taxonomy=self.universe.taxonomy,
            unit=Unit.PERSON,
            max_records=self.max_records,
            max_stops=self.form.height,
            key=BoundingKey.draw(source),
            ladder=LADDER,
            periods=moments,
            **(rows if moments > 1 else {**rows, "period": None}),
        )

    def columns(self, scene: Walks) -> Rows:
        """Returns taps in files: a day for each record of a person, a second for each stop."""
        rows = self.play(scene)
        person, start = rows["person"], rows["start"]
        record = np.repeat(np.arange(len(person)), np.diff(start))
        order = np.argsort(person, kind="stable")
        day = np.empty_like(order)
        day[order] = np.arange(len(order)) - np.searchsorted(person[order], person[order])
        stop = np.arange(len(record)) - start[record]
        window = self.universe.periods or days_of(1)
        since = day[record] * _DAY_US + stop * _SECOND_US + rows["period"] * _HOUR_US
        return {
            "person": person[record],
            "location": rows["stops"],
            "time": microseconds(window.first_day, since + window.opens * 60 * _SECOND_US),
        }

    def count_files(self, folder: Path, source: BitSource) -> Counter:
        """Returns the embedded engine, or what the product has instead."""
        timed = self.universe.periods
        return (self.product.engine or EngineSequences)(
            source=TapsSource(folder, TapColumns()),
            taxonomy=self.universe.taxonomy,
            rule=SequenceRule(
                max_stops=self.form.height,
                max_records=self.max_records,
                window=timed or days_of(1),
                record="day",
                keep_times=timed is not None,
            ),
            unit=Unit.PERSON,
            key=BoundingKey.draw(source),
            settings=small_batches(1),
        )


def staged(
    product: Product,
    epsilon: Fraction,
    *,
    form: TreeForm | LearnedForm,
    gaussian: bool = False,
    **options: Any,
) -> SequenceStage:
    """Returns a stage that spends an epsilon, or the rho that a plan would spend for it."""
    spend = rho_of(epsilon) if gaussian else PureLoss(epsilon)
    return SequenceStage(product=product, form=form, spend=spend, **options)


# The trees that are audited. What one release costs hardly depends on its corners, up to a point.
#
# Each candidate of a second stop is one of all places, so trees of two stops have few corners:
# their nodes grow with the square of these. Trees of one stop have thousands.

_GROUPS_OF_TWO = toy_universe(corners=4000, places=2)

# Two steps, a group and one of its locations.
GROUPED = TreeForm(words="one stop by group and place", toy=_GROUPS_OF_TWO, height=1)
# The same with two groups a corner, for a record that must not be in both.
PAIRED = TreeForm(
    words="one stop in two groups", toy=replace(_GROUPS_OF_TWO, corners=2000, groups=2), height=1
)
# The same at a threshold that a few people just reach.
CROWDED = TreeForm(words="one stop at a threshold", toy=_GROUPS_OF_TWO, height=1, threshold=3)
# The same with fifty locations a corner, in five groups.
BRANCHED = TreeForm(
    words="one stop in five groups of ten places",
    toy=toy_universe(corners=800, groups=5, places=10),
    height=1,
)
# Two steps, both of them stops.
STOPS = TreeForm(words="two stops", toy=toy_universe(corners=400), height=2)
# As a plan has it: four steps, from the group of the first stop to the location of the second.
HYBRID = TreeForm(
    words="two stops by group and place", toy=toy_universe(corners=100, places=2), height=2
)
# One stop at one of three hours.
HOURS = TreeForm(
    words="one stop with its time", toy=toy_universe(corners=2000, periods=3), height=1
)
# Two stops, each at one of three hours.
TIMED = TreeForm(words="two stops with times", toy=toy_universe(corners=150, periods=3), height=2)
# Small enough for noise that is drawn candidate by candidate.
SMALL = TreeForm(words="two stops", toy=toy_universe(corners=150), height=2)
# Learned records: at every corner there are as many places as a record can have stops.
SHORT = LearnedForm(words="three stops", toy=toy_universe(corners=60, groups=3), height=3)
FOUR = LearnedForm(words="four stops", toy=toy_universe(corners=400, groups=4), height=4)
# The same for all records of people; how many people have how many records is nobody's corner.
PEOPLE = PeopleForm(words="all records of people", toy=SHORT.toy, height=3)
ALONE = PeopleForm(words="all records of people", toy=replace(SHORT.toy, corners=1), height=3)
