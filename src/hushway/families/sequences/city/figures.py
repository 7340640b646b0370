"""The published figures that the synthetic card cities are matched to, and how their riders live.

The figures are those of Chen, Fung, Desai and Sossou, KDD 2012, table 2. The habits are invented.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class CardFigures:
    """What the records of a card city must add up to, exactly.

    Attributes:
        records: Number of records.
        longest: Number of stops of the longest record.
        mean_stops: Stops of a record on average; their total is rounded to a whole number.
    """

    records: int
    longest: int
    mean_stops: Fraction

    @property
    def stops(self) -> int:
        """Number of stops of all records."""
        return round(self.mean_stops * self.records)


@dataclass(frozen=True, kw_only=True)
class CardHabits:
    """How riders of a network use their cards. A trip taps where it begins and where it ends.

    Attributes:
        plans: Weight of 1, 2, ... trips on a day.
        reach_m: Trips become rarer by a factor of e with every such length.
        change_share: Share of corridors between two lines.
        change_walk_m: Changes become rarer by a factor of e with every such length on foot.
        home_power: Popularity of the home of rank r goes as r to this negative power.
        work_power: The same for workplaces.
        variety: How much corridors of the same popularity differ: deviation of the logarithm.
        change_taps: Taps at a change of line: one at the gate between platforms, or alighting from
            one bus and boarding another.
        change_tapped: Share of changes that leave taps.
    """

    plans: FloatArray
    reach_m: float
    change_share: float
    change_walk_m: float
    home_power: float
    work_power: float
    variety: float
    change_taps: int
    change_tapped: float


def _plans(first: tuple[float, ...], *, tail: float, power: float) -> FloatArray:
    """Returns the weights of 1, 2, ... trips, with a long tail after the first few."""
    further = np.arange(len(first) + 1, 41, dtype=np.float64) ** -power
    return np.concatenate([np.array(first), further * (tail / further.sum())])


METRO = CardFigures(records=847_668, longest=90, mean_stops=Fraction("4.21"))
BUS = CardFigures(records=778_724, longest=121, mean_stops=Fraction("5.67"))

METRO_HABITS = CardHabits(
    plans=_plans((0.275, 0.59, 0.065, 0.055), tail=0.024, power=2.5),
    reach_m=6_000.0,
    change_share=0.55,
    change_walk_m=5_000.0,
    home_power=0.5,
    work_power=0.8,
    variety=1.0,
    change_taps=1,
    change_tapped=0.12,
)
BUS_HABITS = CardHabits(
    plans=_plans((0.27, 0.585, 0.06, 0.048), tail=0.029, power=2.2),
    reach_m=3_000.0,
    change_share=0.4,
    change_walk_m=150.0,
    home_power=0.6,
    work_power=0.8,
    variety=1.2,
    change_taps=2,
    change_tapped=1.0,
)
