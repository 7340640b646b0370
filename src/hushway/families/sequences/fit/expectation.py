"""What is expected of prefixes that were looked at, if more is known by now than when they were.

Which prefixes are looked at follows from the first answers of a step alone. What other steps say
besides changes what is expected of these prefixes, and not which they are.
"""

import numpy as np

from hushway.arrays import FloatArray, Int8Array, Int32Array, IntArray
from hushway.families.sequences.fit.prediction import Level, Prediction, first_stops, joined
from hushway.families.sequences.fit.record_model import RecordModel
from hushway.families.sequences.fit.transitions import (
    TO_EARLIER,
    TO_NEW,
    NewPlaceChances,
    TransitionModel,
    context_of,
    earlier_places,
    ending_chances,
    turn_chances,
    was_there,
)
from hushway.families.sequences.public.questions import TURNS, KnownPrefixCells, turns_of
from hushway.numerics.compiled import compiled


def expect(known: RecordModel, model: TransitionModel, look: KnownPrefixCells) -> Prediction:
    """Returns what is expected of prefixes that were looked at, if records go on as is known now.

    Args:
        model: How they go on, with the odds of ending.
    """
    levels, endings = [first_stops(known, look.place[look.parent == 0])], []
    first = 1
    for stops in range(1, known.height):
        level, end = levels[-1], first + len(levels[-1].place)
        at = np.flatnonzero((look.parent >= first) & (look.parent < end))
        below = _next(model, known, level, (stops, look.parent[at] - first, look.place[at]))
        endings.append(_ending(model, known, level, stops))
        first = end
        levels.append(below)
    endings.append(levels[-1].expected)
    return joined(known, levels, endings, model)


def _next(
    model: TransitionModel,
    known: RecordModel,
    level: Level,
    ways: tuple[int, IntArray, IntArray],
) -> Level:
    stops, row, place = ways
    paths = level.paths[row]
    paths[:, stops] = place
    length = stops + 1
    start = np.arange(len(row) + 1) * length
    turned = turns_of(start, paths[:, :length].ravel())[stops::length]
    if stops == 1:
        two = known.two.mean
        chance = two[level.place[row], place] / np.maximum(two.sum(axis=1), 1e-9)[level.place[row]]
    else:
        chance = _chances(model, (level.paths, stops, level.turned), (row, place, turned))
    return Level(
        parent=row,
        place=place,
        turned=turned,
        paths=paths,
        expected=level.expected[row] * chance,
    )


def _ending(model: TransitionModel, known: RecordModel, level: Level, stops: int) -> FloatArray:
    if stops == 1:
        two = known.two.mean
        share = two[:, -1] / np.maximum(two.sum(axis=1), 1e-9)
        return np.asarray(level.expected * share[level.place])
    ends = ending_chances(model.turning, level.paths, stops, level.turned)
    return np.asarray(level.expected * ends)


@compiled
def _chances(
    model: TransitionModel,
    reached: tuple[Int32Array, int, Int8Array],
    ways: tuple[IntArray, IntArray, Int8Array],
) -> FloatArray:
    """Returns how likely each way on is; ways on of one prefix stand next to each other."""
    turning, following, paired = model
    paths, stops, before = reached
    rows, places, turns = ways
    chances, found = np.empty(TURNS), np.zeros(len(rows))
    earlier = np.empty(paths.shape[1], dtype=np.int32)
    last, free, context = -1, 0.0, 0
    for way in range(len(rows)):
        row, turn = rows[way], turns[way]
        path = paths[row][:stops]
        if row != last:
            turn_chances(turning, path, stops, before[row], chances)
            context = context_of(paired, path, stops)
            free = _free(following, path, context)
            last = row
        found[way] = chances[turn]
        if turn == TO_EARLIER:
            found[way] /= earlier_places(path, stops, earlier)
        elif turn == TO_NEW:
            found[way] *= _chance_of(following, context, places[way]) / max(free, 1e-300)
    return found


@compiled
def _free(following: NewPlaceChances, path: Int32Array, context: int) -> float:
    """Returns how likely a context leads to places where a record has not been."""
    free = 0.0
    for way in range(following.start[context], following.start[context + 1]):
        if not was_there(path, len(path), following.place[way]):
            free += following.chance[way]
    return free


@compiled
def _chance_of(following: NewPlaceChances, context: int, place: int) -> float:
    """Returns how likely a context leads to a place."""
    for way in range(following.start[context], following.start[context + 1]):
        if following.place[way] == place:
            return float(following.chance[way])
    return 0.0
