"""How records go on: every way has a chance, none that is impossible has."""

import numpy as np
import pytest

from hushway.families.sequences.fit.transitions import (
    NewPlaceChances,
    PairContexts,
    TransitionModel,
    TurnChances,
    context_of,
    earlier_places,
    place_back,
    turn_chances,
)
from hushway.families.sequences.public.questions import TURNS, Turn, turns_of

PLACES, HEIGHT = 6, 9


def model() -> TransitionModel:
    rng = np.random.default_rng(1)
    return TransitionModel(
        turning=TurnChances(
            turns=rng.dirichlet(np.ones(TURNS), (HEIGHT, TURNS)),
            inclined=rng.uniform(0.5, 2.0, (PLACES, TURNS)),
            odds=np.full(HEIGHT + 1, 1.5),
        ),
        following=NewPlaceChances(
            start=np.zeros(2 * PLACES + 3, dtype=np.int64),
            place=np.empty(0, dtype=np.int64),
            chance=np.empty(0),
            upto=np.empty(0),
        ),
        paired=PairContexts(
            pairs=np.array([1, 8], dtype=np.int64),
            start=np.array([0, 1, 2, 2, 2, 2, 2], dtype=np.int64),
        ),
    )


@pytest.mark.parametrize("seed", range(200))
def test_ways_back_lead_where_turns_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stops = int(rng.integers(1, HEIGHT))
    path = rng.integers(0, 4, HEIGHT).astype(np.int32)
    path[stops:] = -1
    chances = np.empty(TURNS)
    turn_chances(model().turning, path, stops, int(Turn.TO_NEW), chances)
    assert chances.sum() == pytest.approx(1)
    earlier = np.empty(HEIGHT, dtype=np.int32)
    number = earlier_places(path, stops, earlier)
    assert (chances[Turn.TO_EARLIER] > 0) == (number > 0)
    for place in range(PLACES):
        longer = np.append(path[:stops], place).astype(np.int32)
        turn = turns_of(np.array([0, stops + 1]), longer)[-1]
        # Whatever turn leads to a place is possible, and leads there.
        assert chances[turn] > 0
        if turn == Turn.TO_EARLIER:
            assert place in earlier[:number]
        elif turn < Turn.TO_EARLIER:
            assert place_back(path, stops, int(turn)) == place


def test_a_pair_is_a_context_of_its_own_where_it_is_known() -> None:
    path = np.array([0, 1, 2, -1, -1, -1, -1, -1, -1], dtype=np.int32)
    assert context_of(model().paired, path, 1) == PLACES
    assert context_of(model().paired, path, 2) == 2 * PLACES
    assert context_of(model().paired, path, 3) == 2 * PLACES + 1
    back = np.array([2, 0, -1, -1, -1, -1, -1, -1, -1], dtype=np.int32)
    assert context_of(model().paired, back, 2) == 0
