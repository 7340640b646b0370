"""What is asked about whole records: how they begin and end, how they turn, which stops are new.

Every question is a set of public cells, and says how much one record adds to them at most. How a
record goes on is told in two ways: by place, and by *turn*, which is how the next stop relates to
the stops before it.
"""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from typing import ClassVar, Final

import numpy as np

from hushway.arrays import Int8Array, Int32Array, IntArray
from hushway.errors import PrivacyError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.numerics.compiled import compiled
from hushway.privacy.bound import Bound
from hushway.privacy.public_facts import digest_of, public_facts, public_facts_with

FIRST_NEW: Final = 2
"""New stops are counted from the third stop on: those before are asked about by themselves."""

WHOLE: Final = 840
"""What a record is worth where it is shared out: among questions that are asked together, and among
the stops of one question. Every number up to 8 divides it, and noise for it can still be drawn."""


class Turn(IntEnum):
    """How a record goes on after a stop, told without naming a place. The first that fits holds."""

    ENDS = 0
    STAYS = 1
    BACK = 2
    BACK_TWO = 3
    TO_FIRST = 4
    TO_EARLIER = 5
    TO_NEW = 6


TURNS: Final = len(Turn)


class Asked(IntEnum):
    """Questions about all records. Those up to `FIRST_TOGETHER` are asked one by one."""

    LENGTHS = 0
    NEW_STOPS = 1
    TURNS = 2
    TURNS_BY_PLACE = 3
    FIRSTS = 4
    LASTS = 5
    FIRST_TWO = 6


FIRST_TOGETHER: Final = Asked.FIRSTS
"""From here on questions are asked together, and share what a record is worth."""


_NAMES: Final = {
    Asked.LENGTHS: "records by number of stops",
    Asked.NEW_STOPS: "records by number of new stops after the second",
    Asked.TURNS: "turns by stop and turn before",
    Asked.TURNS_BY_PLACE: "turns by place",
    Asked.FIRSTS: "records by first stop",
    Asked.LASTS: "records by last stop",
    Asked.FIRST_TWO: "records by first and second stop",
}


@public_facts_with(Asked)
@dataclass(frozen=True, kw_only=True, eq=False)
class RecordCells:
    """The cells of one of the fixed questions.

    A record that has as many stops as count at most is not known to end there, so it has no turn
    `ENDS`.

    Attributes:
        taxonomy: The public places; their groups are not asked about.
    """

    taxonomy: Taxonomy
    height: int
    asked: Asked

    @property
    def name(self) -> str:
        """What one cell stands for."""
        return _NAMES[self.asked]

    @property
    def shape(self) -> tuple[int, ...]:
        """The cells as a table: the last index runs fastest."""
        places = len(self.taxonomy.locations)
        return {
            Asked.LENGTHS: (self.height,),
            Asked.NEW_STOPS: (self.height - FIRST_NEW + 1,),
            Asked.TURNS: (self.height, TURNS, TURNS),
            Asked.TURNS_BY_PLACE: (places, TURNS),
            Asked.FIRSTS: (places,),
            Asked.LASTS: (places,),
            Asked.FIRST_TWO: (places, places + 1),
        }[self.asked]

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape))

    @cached_property
    def digest(self) -> str:
        """A digest of places, height and question."""
        return digest_of(
            {"taxonomy": self.taxonomy.digest, "max_stops": self.height, "asked": self.name}
        )

    def bound(self, records: int) -> Bound:
        """Returns how far a unit of so many records moves the counts.

        Privacy:
            A record has at most height - 1 turns: one after each stop but the last that counts,
            where a record that is shorter ends. Turns at different stops are different cells;
            turns at one place need not be.
        """
        turns = self.height - 1
        if self.asked is Asked.TURNS:
            return Bound(cells=turns * records, each=records, total=turns * records)
        if self.asked is Asked.TURNS_BY_PLACE:
            return Bound(cells=turns * records, each=turns * records, total=turns * records)
        return Bound.of_records(records)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class NewStopCells:
    """New stops after the second, by place and by up to two places before.

    A stop is new if its record has not been there yet. A record is worth `whole` in all. At most
    `most` of its new stops count, chosen at random, and each counts the same share of that; so the
    fewer are counted, the less noise they carry.

    Attributes:
        order: How many places a cell is made of: the new one, and one or two before it.
        most: How many new stops of a record count.
        whole: What a record is worth, `WHOLE` at most.
        grams: The cells, ascending: places as digits to the base of their number, the new one
            last. None stands for all of them.
    """

    taxonomy: Taxonomy
    height: int
    order: int
    most: int
    whole: int = WHOLE
    grams: IntArray | None = None

    @property
    def name(self) -> str:
        """What one cell stands for."""
        before = ("", " and the place before", " and the two places before")[self.order - 1]
        return f"new stops by place{before}"

    @property
    def size(self) -> int:
        """Number of cells."""
        places = len(self.taxonomy.locations)
        return places**self.order if self.grams is None else len(self.grams)

    @property
    def worth(self) -> int:
        """What each new stop that is counted adds."""
        return self.whole // self.most

    @cached_property
    def digest(self) -> str:
        """A digest of places, height, order, number of stops and cells."""
        found = sha256(self.taxonomy.digest.encode())
        found.update(f"{self.height} {self.order} {self.most} {self.whole}".encode())
        if self.grams is not None:
            found.update(self.grams.astype("<i8").tobytes())
        return found.hexdigest()

    def bound(self, records: int) -> Bound:
        """Returns how far a unit of so many records moves the counts.

        Privacy:
            At most `most` new stops of a record are counted, each once and in one cell at most,
            and each adds whole // most: not more than `whole` together, whatever `most` is.
        """
        return Bound.of_records(WHOLE * records)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class JointCells:
    """Several questions asked as one, their cells one after the other.

    A record is worth `WHOLE` and shares it out among them: what a question gets of that is what it
    would get of the budget if they were asked one by one. So how much each gets may be chosen by
    earlier noisy answers, and what a record adds to all of them together stays the same.

    Attributes:
        parts: The questions: first those about records, then those about new stops.
        worths: What a record adds to each of them at most.
    """

    taxonomy: Taxonomy
    height: int
    parts: tuple[RecordCells | NewStopCells, ...]
    worths: tuple[int, ...]
    name: ClassVar[str] = "how records begin, end and go on, shared out"

    def __post_init__(self) -> None:
        fits = len(self.parts) == len(self.worths) and sum(self.worths) <= WHOLE
        for part, worth in zip(self.parts, self.worths, strict=False):
            mine = part.height == self.height and part.taxonomy is self.taxonomy
            single = isinstance(part, RecordCells) and part.asked >= FIRST_TOGETHER
            shared = isinstance(part, NewStopCells) and part.whole == worth
            fits = fits and mine and worth > 0 and (single or shared)
        if not fits:
            raise PrivacyError(
                "Questions that are asked together would count a record for more than it is worth.",
                advice="Report this as a bug; nothing was measured.",
            )

    @property
    def size(self) -> int:
        """Number of cells."""
        return sum(part.size for part in self.parts)

    @cached_property
    def digest(self) -> str:
        """A digest of all questions and what they are worth."""
        return digest_of(
            {"parts": [part.digest for part in self.parts], "worths": list(self.worths)}
        )

    def bound(self, records: int) -> Bound:
        """Returns how far a unit of so many records moves the counts.

        Privacy:
            A record is in one cell of each question about records, where it adds what that
            question is worth; its new stops share what theirs is worth. All worths together are
            not more than WHOLE.
        """
        return Bound.of_records(WHOLE * records)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class KnownPrefixCells:
    """The longest known prefix that each record begins with, and whether the record ends there.

    Prefixes are the nodes of a tree that was predicted from earlier noisy answers; node 0 is the
    empty prefix. Every record is in exactly one cell, however deep the tree is: the cell 2v if it
    ends at node v, and 2v + 1 if it goes on where the tree does not.

    Attributes:
        parent: The node above each node, which stands before it; -1 for node 0.
        place: The place that each node adds; -1 for node 0.
    """

    taxonomy: Taxonomy
    height: int
    parent: IntArray
    place: IntArray
    name: ClassVar[str] = "records by longest known prefix"

    @property
    def size(self) -> int:
        """Number of cells."""
        return 2 * len(self.parent)

    @cached_property
    def digest(self) -> str:
        """A digest of places, height and prefixes."""
        found = sha256(self.taxonomy.digest.encode())
        found.update(f"{self.height}".encode())
        for column in (self.parent, self.place):
            found.update(column.astype("<i8").tobytes())
        return found.hexdigest()

    @cached_property
    def steps(self) -> tuple[IntArray, IntArray]:
        """The ways down the tree, ascending, as parent * places + place, and where each leads."""
        places = len(self.taxonomy.locations)
        keys = self.parent[1:] * places + self.place[1:]
        order = np.argsort(keys, kind="stable")
        return keys[order], order + 1

    def bound(self, records: int) -> Bound:
        """Returns how far a unit of so many records moves the counts.

        Privacy:
            A record begins with exactly one longest prefix of the tree, so it is in one cell.
        """
        return Bound.of_records(records)


QuestionCells = RecordCells | NewStopCells | JointCells | KnownPrefixCells


_STAYS, _BACK, _BACK_TWO = int(Turn.STAYS), int(Turn.BACK), int(Turn.BACK_TWO)
_TO_FIRST, _TO_EARLIER, _TO_NEW = int(Turn.TO_FIRST), int(Turn.TO_EARLIER), int(Turn.TO_NEW)


@compiled
def turns_of(start: IntArray, stops: Int32Array | IntArray) -> Int8Array:
    """Returns the turn by which each stop is reached; the first one of a sequence is new.

    Args:
        start: Where each sequence begins; one entry more than sequences.
        stops: The places of all of them in a row.
    """
    turns = np.empty(len(stops), dtype=np.int8)
    for row in range(len(start) - 1):
        first = start[row]
        for at in range(first, start[row + 1]):
            turns[at] = _turn(stops, first, at)
    return turns


@compiled
def _turn(stops: Int32Array | IntArray, first: int, at: int) -> int:
    place = stops[at]
    for back in range(_STAYS, _BACK_TWO + 1):
        if at - back >= first and stops[at - back] == place:
            return back
    if at > first and stops[first] == place:
        return _TO_FIRST
    for earlier in range(first + 1, at):
        if stops[earlier] == place:
            return _TO_EARLIER
    return _TO_NEW
