"""The prefixes that are expected often enough to be counted: a tree grown from the model."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int8Array, Int32Array, IntArray
from hushway.families.sequences.fit.record_model import RecordModel
from hushway.families.sequences.fit.transitions import (
    ENDS,
    STAYS,
    TO_EARLIER,
    TO_NEW,
    NewPlaceChances,
    PairContexts,
    TransitionModel,
    TurnChances,
    context_of,
    earlier_places,
    ending_chances,
    place_back,
    turn_chances,
    was_there,
)
from hushway.families.sequences.public.questions import TURNS
from hushway.numerics.compiled import compiled

MOST_NODES: Final = 4_000_000
"""A tree that would be larger is grown from a higher expectation on."""

_Contexts = tuple[NewPlaceChances, PairContexts]

_HALVINGS: Final = 22
_TYPICAL: Final = 0.05
_STEEPEST: Final = 8.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """A tree of prefixes with what is expected of each; node 0 is the empty prefix.

    Attributes:
        parent: The node above each node, which stands before it; -1 for node 0.
        place: The place that each node adds; -1 for node 0.
        turned: The turn to its last stop.
        expected: How many records are expected to begin with it.
        ending: How many of them to end there.
        leaving: How many of them to go on where the tree does not.
        model: What is known of how records go on, with the odds of ending.
    """

    parent: IntArray
    place: IntArray
    depth: IntArray
    turned: Int8Array
    expected: FloatArray
    ending: FloatArray
    leaving: FloatArray
    model: TransitionModel


def predict(known: RecordModel, contexts: _Contexts, least: float) -> Prediction:
    """Grows the tree of all prefixes that are expected to have at least `least` records."""
    grown = _grow(known, contexts, least)
    while grown is None:
        least *= 2
        grown = _grow(known, contexts, least)
    return grown


@dataclass(frozen=True, kw_only=True, eq=False)
class Level:
    """The prefixes of one length: parents, places, turns, paths, and what is expected of them."""

    parent: IntArray
    place: IntArray
    turned: Int8Array
    paths: Int32Array
    expected: FloatArray


def _grow(known: RecordModel, contexts: _Contexts, least: float) -> Prediction | None:
    model = TransitionModel(
        turning=TurnChances(
            turns=known.turns, inclined=known.inclined, odds=np.ones(known.height + 1)
        ),
        following=contexts[0],
        paired=contexts[1],
    )
    odds = model.turning.odds
    remaining = np.cumsum(known.lengths[::-1])[::-1]
    ends = known.lengths / np.maximum(remaining, 1e-9)
    levels, endings = [first_stops(known, np.flatnonzero(known.firsts >= least))], []
    nodes = 1 + len(levels[0].place)
    for stops in range(1, known.height):
        level = levels[-1]
        if stops == 1:
            ending, below = _second_stops(known, level, least)
        else:
            tracked = float(level.expected.sum())
            # Where few records are followed so far, they are not like the others.
            odds[stops] = (
                _odds(model.turning, level, stops, float(ends[stops - 1]))
                if tracked >= _TYPICAL * remaining[stops - 1] and tracked > 0
                else odds[stops - 1]
            )
            ending, below = _further_stops(model, level, stops, least)
        endings.append(ending)
        nodes += len(below.place)
        if nodes > MOST_NODES:
            return None
        levels.append(below)
    endings.append(levels[-1].expected)
    return joined(known, levels, endings, model)


def first_stops(known: RecordModel, place: IntArray) -> Level:
    """Returns the prefixes of one stop at some places."""
    paths = np.full((len(place), known.height), -1, dtype=np.int32)
    paths[:, 0] = place
    return Level(
        parent=np.zeros(len(place), dtype=np.int64),
        place=place,
        turned=np.full(len(place), TO_NEW, dtype=np.int8),
        paths=paths,
        expected=known.firsts[place],
    )


def _second_stops(known: RecordModel, level: Level, least: float) -> tuple[FloatArray, Level]:
    """Goes on by the posterior of the first two stops, which were asked about together."""
    two = known.two.mean
    chance = two / np.maximum(two.sum(axis=1, keepdims=True), 1e-9)
    rate = level.expected[:, None] * chance[level.place]
    row, place = np.nonzero(rate[:, :-1] >= least)
    turned = np.where(place == level.place[row], STAYS, TO_NEW).astype(np.int8)
    return rate[:, -1], _below(level, 1, (row, place, turned, rate[row, place]))


def _further_stops(
    model: TransitionModel, level: Level, stops: int, least: float
) -> tuple[FloatArray, Level]:
    reached = level.paths, stops, level.turned, level.expected
    ending, row, place, turned, expected = _ways_on(model, reached, least)
    return ending, _below(level, stops, (row, place, turned, expected))


def _below(
    level: Level, stops: int, ways: tuple[IntArray, IntArray, Int8Array, FloatArray]
) -> Level:
    row, place, turned, expected = ways
    paths = level.paths[row]
    paths[:, stops] = place
    return Level(parent=row, place=place, turned=turned, paths=paths, expected=expected)


def _odds(turning: TurnChances, level: Level, stops: int, share: float) -> float:
    """Returns the factor of the odds of ending that lets the right share of records end."""
    wanted = share * float(level.expected.sum())
    ends = ending_chances(turning, level.paths, stops, level.turned)
    low, high = -_STEEPEST, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        odds = np.exp(middle) * ends
        if level.expected @ (odds / (1 - ends + odds)) < wanted:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def joined(
    known: RecordModel, levels: list[Level], endings: list[FloatArray], model: TransitionModel
) -> Prediction:
    """Returns the prefixes of all lengths as one tree."""
    sizes = [len(level.place) for level in levels]
    first = np.concatenate([[1], 1 + np.cumsum(sizes)])
    parent = [np.array([-1]), np.zeros(sizes[0], dtype=np.int64)]
    parent += [begin + level.parent for begin, level in zip(first[:-1], levels[1:], strict=False)]
    above = np.concatenate(parent).astype(np.int64)
    expected = np.concatenate([[known.records], *(level.expected for level in levels)])
    ending = np.concatenate([[0.0], *endings])
    below = np.bincount(above[1:], weights=expected[1:], minlength=len(above))
    depth = np.repeat(np.arange(len(levels) + 1), [1, *sizes])
    leaving = np.where(depth < known.height, np.maximum(expected - ending - below, 0.0), 0.0)
    return Prediction(
        parent=above,
        place=np.concatenate([[-1], *(level.place for level in levels)]).astype(np.int64),
        depth=depth,
        turned=np.concatenate(
            [np.array([TO_NEW], dtype=np.int8), *(level.turned for level in levels)]
        ),
        expected=expected,
        ending=ending,
        leaving=leaving,
        model=model,
    )


_Ways = tuple[IntArray, IntArray, Int8Array, FloatArray]
"""Ways on: which prefix each continues, the place it adds, the turn, and what is expected of it."""


@compiled
def _ways_on(
    model: TransitionModel, reached: tuple[Int32Array, int, Int8Array, FloatArray], least: float
) -> tuple[FloatArray, IntArray, IntArray, Int8Array, FloatArray]:
    """Returns how many records end, and all ways on that are expected often enough.

    Of more ways than a tree may have nodes, only so many are returned.
    """
    turning, following, paired = model
    paths, stops, before, expected = reached
    ending = np.zeros(len(expected))
    chances = np.empty(TURNS)
    # Ways share what is expected, so there are no more than this, but for rounding.
    room = min(int(expected.sum() / least) + len(expected), MOST_NODES)
    ways = (
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int8),
        np.empty(room),
    )
    number = 0
    for at in range(len(expected)):
        path = paths[at]
        turn_chances(turning, path, stops, before[at], chances)
        ending[at] = expected[at] * chances[ENDS]
        for turn in range(STAYS, TO_NEW):
            going = expected[at] * chances[turn]
            if going >= least:
                number = _turn_back(ways, number, at, (path[:stops], turn, going, least))
        going = expected[at] * chances[TO_NEW]
        if going >= least:
            context = context_of(paired, path, stops)
            number = _go_on(ways, number, at, (path[:stops], context, going, least), following)
    row, place, turned, records = ways
    return (
        ending,
        row[:number].copy(),
        place[:number].copy(),
        turned[:number].copy(),
        records[:number].copy(),
    )


@compiled
def _put(ways: _Ways, number: int, at: int, way: tuple[int, int, float]) -> int:
    """Writes a way down if there is room for it; returns how many there are."""
    if number < len(ways[0]):
        ways[0][number] = at
        ways[1][number], ways[2][number], ways[3][number] = way
    return number + 1


@compiled
def _turn_back(
    ways: _Ways, number: int, at: int, going: tuple[Int32Array, int, float, float]
) -> int:
    path, turn, records, least = going
    if turn != TO_EARLIER:
        return _put(ways, number, at, (place_back(path, len(path), turn), turn, records))
    earlier = np.empty(len(path), dtype=np.int32)
    places = earlier_places(path, len(path), earlier)
    for place in earlier[:places]:
        if records / places >= least:
            number = _put(ways, number, at, (place, turn, records / places))
    return number


@compiled
def _go_on(
    ways: _Ways,
    number: int,
    at: int,
    going: tuple[Int32Array, int, float, float],
    following: NewPlaceChances,
) -> int:
    path, context, records, least = going
    first, places, chances = following.start, following.place, following.chance
    begin, end = first[context], first[context + 1]
    free = 0.0
    for way in range(begin, end):
        if not was_there(path, len(path), places[way]):
            free += chances[way]
    for way in range(begin, end):
        place, chance = places[way], chances[way]
        if chance * records >= least * free > 0 and not was_there(path, len(path), place):
            number = _put(ways, number, at, (place, TO_NEW, chance * records / free))
    return number
