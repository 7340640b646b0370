"""Which pairs of stops riders of a card city live between."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.city.network import CardHabits, Network
from hushway.study.chance import pick, shuffle

# Downtown work is this much more attractive at the centre, and fades with this distance.
_DOWNTOWN, _DOWNTOWN_M = 4.0, 2_500.0
# Two stops that are closer than a walk make few trips.
_WALK_M = 800.0


@dataclass(frozen=True, kw_only=True, eq=False)
class CardDemand:
    """Corridors from homes to workplaces.

    Attributes:
        cumulative: Running sum of the weights of all (home, work), homes running slower; a home is
            no workplace of its own.
        stops: Number of stops.
    """

    cumulative: FloatArray
    stops: int

    def corridors(self, uniform: FloatArray) -> tuple[IntArray, IntArray]:
        """Returns a home and a workplace for each uniform draw."""
        home, work = np.divmod(pick(self.cumulative, uniform), self.stops)
        return home, work

    def destinations(self, home: IntArray, uniform: FloatArray) -> IntArray:
        """Returns where somebody from each home goes, by the same weights."""
        before = np.where(home > 0, self.cumulative[np.maximum(home * self.stops - 1, 0)], 0.0)
        weight = self.cumulative[(home + 1) * self.stops - 1] - before
        chosen = pick(self.cumulative, (before + uniform * weight) / self.cumulative[-1])
        # Rounding at the borders of a home's weights could point at the next home.
        inside = np.clip(chosen - home * self.stops, 0, self.stops - 1)
        return np.asarray(inside, dtype=np.int64)


def card_demand(network: Network, habits: CardHabits, rng: np.random.Generator) -> CardDemand:
    """Draws how popular every corridor is."""
    stops = len(network.line_of)
    home = (1.0 + shuffle(rng, stops)) ** -habits.home_power
    centre_m = np.hypot(network.position_m[:, 0], network.position_m[:, 1])
    work = (1.0 + shuffle(rng, stops)) ** -habits.work_power
    work = work * (1.0 + _DOWNTOWN * np.exp(-centre_m / _DOWNTOWN_M))
    weight = np.outer(home, work) * np.exp(-network.distance_m / habits.reach_m)
    weight *= 1.0 - np.exp(-((network.distance_m / _WALK_M) ** 2))
    weight *= np.exp(habits.variety * _bell(rng, stops * stops)).reshape(stops, stops)
    np.fill_diagonal(weight, 0.0)
    _balance(weight, network, habits)
    return CardDemand(cumulative=np.cumsum(weight.ravel()), stops=stops)


def _balance(weight: FloatArray, network: Network, habits: CardHabits) -> None:
    """Makes corridors between lines rarer by the walk, and as common as they are to be in all.

    A fixed share keeps the length of records close to what they must add up to, for every seed.
    """
    walk_m = network.distance_m[network.change_at, network.change_at.T]
    ease = np.exp(-walk_m / habits.change_walk_m)
    weight *= ease[network.line_of[:, None], network.line_of]
    one_line = network.line_of[:, None] == network.line_of
    same, other = weight[one_line].sum(), weight[~one_line].sum()
    share = habits.change_share
    weight[~one_line] *= share / (1.0 - share) * same / other


def _bell(rng: np.random.Generator, count: int) -> FloatArray:
    """Returns draws that are nearly normal with variance 1: a sum of twelve uniform ones."""
    total = np.full(count, -6.0)
    for _ in range(12):
        total += rng.random(count)
    return total
