"""The secret key that decides which trips or sequences of a person are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import PrivacyError
from hushway.numerics.compiled import compiled_for_threads

if TYPE_CHECKING:
    from hushway.privacy.randomness import BitSource

PRIME = (1 << 31) - 1
SUM_MASK = (1 << 30) - 1
_LIMB_BITS = 30
_WORD_BYTES = 8
_MIXERS = 4
_DEGREE = 5
_TURNS = 2
_NAME = "poly31"


@dataclass(frozen=True)
class BoundingKey:
    """Coefficients of a polynomial over the prime 2^31 - 1, drawn afresh for every release.

    A trip (time, origin, destination) is mixed into one number of the field, and a polynomial of
    degree 5 in that number is the trip's place in the circle of the person's trips. An affine
    function of the places' sum says where in the circle the choice starts: people who share trips
    do not share the choice, though nobody's name is read. All steps are sums, products and
    remainders of 64-bit integers that never overflow, so they come out alike in every engine; they
    are written once, for numpy arrays and for Ibis columns.

    Privacy:
        For every fixed key the choice is a function of one person's own rows, so the guarantee
        needs neither the key's secrecy nor its randomness. Randomness makes the choice uniform;
        secrecy keeps it from telling anything beyond what the release tells.
    """

    coefficients: tuple[int, ...] = field(repr=False)
    WORDS: ClassVar[int] = _MIXERS + (_DEGREE + 1) + _TURNS

    def __post_init__(self) -> None:
        whole = all(type(c) is int and 0 < c < PRIME for c in self.coefficients)
        if len(self.coefficients) != self.WORDS or not whole:
            raise PrivacyError(
                f"A bounding key has {self.WORDS} whole coefficients from 1 to {PRIME - 1}.",
                advice="Draw it with BoundingKey.draw, or read it with BoundingKey.from_text.",
            )

    @classmethod
    def draw(cls, source: "BitSource") -> Self:
        """Draws a key from a source of random bits."""
        return cls.from_words([int(word) for word in source.words(cls.WORDS)])

    @classmethod
    def from_words(cls, words: Sequence[int]) -> Self:
        """Makes a key of random 64-bit words, one for each coefficient.

        A remainder of 64 bits is off uniform by less than 2^-32 in total variation.
        """
        return cls(tuple(int(word) % (PRIME - 1) + 1 for word in words))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Makes a key of random bytes, 8 for each coefficient."""
        words = (data[i : i + _WORD_BYTES] for i in range(0, len(data), _WORD_BYTES))
        return cls.from_words([int.from_bytes(word, "little") for word in words])

    def to_text(self) -> str:
        """Returns the key as text that can be kept beside the ledger's entry."""
        return f"{_NAME}:" + "".join(f"{c:08x}" for c in self.coefficients)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads a key back."""
        name, _, digits = text.partition(":")
        try:
            parts = [int(digits[i : i + 8], 16) for i in range(0, len(digits), 8)]
        except ValueError:
            parts = []
        if name != _NAME or len(digits) != 8 * len(parts):
            parts = []
        return cls(tuple(parts))

    def mixed(self, since_us: Any, origin: Any, destination: Any) -> Any:
        """Returns trips as numbers of the field, alike only for alike trips but for 1 in 2^31.

        Args:
            since_us: Microseconds since the window's start; masked, so that nothing overflows.
            origin: Index of the origin, below 2^31.
            destination: Index of the destination, below 2^31.
        """
        low, high, first, second = self.coefficients[:_MIXERS]
        time = (since_us & ((1 << _LIMB_BITS) - 1)) * low + (
            (since_us >> _LIMB_BITS) & PRIME
        ) * high
        return (time % PRIME + (origin * first + destination * second) % PRIME) % PRIME

    def chained(self, chain: IntArray, link: IntArray) -> IntArray:
        """Returns chains of whole numbers, one link longer: two numbers of the field each.

        Chains that differ come out alike in both numbers in about one case of 2^62, times the
        square of their length.

        Args:
            chain: The two numbers of each chain, in two rows; 0 for chains without a link.
            link: What to add to each, from 0 and below 2^31 - 2.
        """
        points = np.array(self.coefficients[2:_MIXERS], dtype=np.int64)[:, None]
        longer: IntArray = (chain * points + (link + 1)) % PRIME
        return longer

    def place(self, mixed: Any) -> Any:
        """Returns where mixed trips stand in their person's order, from 0 to 2^31 - 2."""
        leading, *rest = self.coefficients[_MIXERS:-_TURNS]
        value = mixed * leading + rest[0]
        for coefficient in rest[1:]:
            value = value % PRIME * mixed + coefficient
        return value % PRIME

    def turn(self, total: Any) -> Any:
        """Returns where in the circle of a person's trips the choice starts, modulo their number.

        Args:
            total: The low 30 bits of the sum of `place` over the person's trips.
        """
        slope, shift = self.coefficients[-_TURNS:]
        return (total * slope + shift) % PRIME


_LOW_BITS = (1 << 30) - 1


@compiled_for_threads
def placed(salt: int, what: int, kind: int, key: IntArray) -> int:
    """Returns `key.place(key.mixed(salt, what, kind))`: a number from 0 to 2^31 - 2."""
    mixed = ((salt & _LOW_BITS) * key[0] + ((salt >> 30) & PRIME) * key[1]) % PRIME
    mixed = (mixed + (what * key[2] + kind * key[3]) % PRIME) % PRIME
    value = mixed * key[4] + key[5]
    for i in range(6, 10):
        value = value % PRIME * mixed + key[i]
    return int(value % PRIME)


@compiled_for_threads
def circle(
    points: IntArray | Int32Array, salt: int, kind: int, key: IntArray, ring: IntArray
) -> int:
    """Puts a person's things into a circle in the key's order; returns where the choice starts.

    The low 31 bits of each entry of the ring are the position of a thing. They also decide ties.
    """
    total = 0
    for i in range(len(points)):
        place = placed(salt, int(points[i]), kind, key)
        total += place
        ring[i] = (place << 31) | i
    ring[: len(points)].sort()
    return int(((total & SUM_MASK) * key[10] + key[11]) % PRIME)


def ranks_in_circle(
    person: IntArray, place: IntArray, ties: tuple[IntArray, ...], key: BoundingKey
) -> tuple[IntArray, IntArray]:
    """Returns an order of things, and the rank of each in it within its person, from 0 on.

    Privacy:
        A person's n things have each rank from 0 to n - 1 once, whatever they are: turned by any
        number that is not negative, the ranks are still all remainders of n, each once. The order
        reads the person's own things and the key.

    Args:
        person: Whose each thing is; the persons are 0, 1, 2, ..., and each has at least one thing.
        place: Where it stands in the person's circle.
        ties: What decides between things at one place, the most important last.
        key: Says where in the circle ranks start.
    """
    order = _in_order(person, place, ties)
    size = np.bincount(person)
    first = np.cumsum(size) - size
    # In order, so each person's things are one run.
    total = np.add.reduceat(place[order], first) & SUM_MASK
    whose = person[order]
    rank = np.arange(len(order)) - first[whose]
    return order, (rank + key.turn(total)[whose]) % size[whose]


def kept_in_circle(
    person: IntArray, place: IntArray, ties: tuple[IntArray, ...], most: int, key: BoundingKey
) -> IntArray:
    """Returns which things are kept, at most `most` of each person, a uniform choice.

    Privacy:
        Exactly min(n, most) of a person's n things stay: those of the lowest ranks.
    """
    order, rank = ranks_in_circle(person, place, ties, key)
    kept: IntArray = order[rank < most]
    return kept


def _in_order(person: IntArray, place: IntArray, ties: tuple[IntArray, ...]) -> IntArray:
    """Returns things by person, place and what decides ties: one sort, and ties after it."""
    both = person * PRIME + place
    order = np.argsort(both, kind="stable")
    same = both[order[1:]] == both[order[:-1]]
    if same.any():
        tied = np.zeros(len(order), dtype=np.bool_)
        tied[1:] |= same
        tied[:-1] |= same
        at = np.flatnonzero(tied)
        things = order[at]
        order[at] = things[np.lexsort((*(tie[things] for tie in ties), both[things]))]
    return order


def numbered(alike: tuple[IntArray, ...], order_by: tuple[IntArray, ...] = ()) -> IntArray:
    """Numbers things from 0 among those that agree in some columns, in the order of others."""
    order = np.lexsort((*order_by, *reversed(alike)))
    fresh = np.zeros(len(order), dtype=np.bool_)
    fresh[:1] = True
    for column in alike:
        fresh[1:] |= np.diff(column[order]) != 0
    first = np.flatnonzero(fresh)
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.arange(len(order)) - np.repeat(first, np.diff([*first, len(order)]))
    return numbers
