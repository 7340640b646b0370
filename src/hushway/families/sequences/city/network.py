"""The lines and stops of the card cities, the same for every seed, and the demand between them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.numerics.chance import distances_m, pick, shuffle

_CENTRE_LON, _CENTRE_LAT = -73.57, 45.51
_DEGREE_LAT_M = 111_140.0
_DEGREE_LON_M = 111_320.0 * math.cos(math.radians(_CENTRE_LAT))


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line, as metres east and north of the centre."""

    name: str
    stops: int
    path: tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """Lines of stops. Stops are numbered along the first line, then along the second, and so on.

    Attributes:
        taxonomy: The stops, and one level: lines. Every stop belongs to one line, also where riders
            change to another.
        position_m: Metres east and north of the centre, one row a stop.
        change_at: The stop of each line (row) where riders change to another (column).
    """

    taxonomy: Taxonomy
    line_of: IntArray
    position_m: FloatArray
    distance_m: FloatArray
    change_at: IntArray

    def neighbour(self, stop: IntArray, step: IntArray) -> IntArray:
        """Returns the stop next to each on its line; the stop itself at the end of the line."""
        beside = np.clip(stop + step, 0, len(self.line_of) - 1)
        return np.where(self.line_of[beside] == self.line_of[stop], beside, stop)


def metro_network() -> Network:
    """Returns four lines with 68 stations that cross near the centre."""
    lines = (
        Line(
            name="amber",
            stops=24,
            path=((-9_000, -5_000), (-1_500, 0), (2_500, 1_500), (8_000, 9_000)),
        ),
        Line(
            name="cobalt",
            stops=22,
            path=((-6_500, 8_000), (-1_600, 400), (600, -600), (7_000, -5_500)),
        ),
        Line(name="jade", stops=14, path=((-4_500, 5_000), (1_000, 4_300), (6_000, 5_600))),
        Line(name="rose", stops=8, path=((700, 700), (3_000, -1_800), (3_300, -6_500))),
    )
    return _network(lines, prefix="M")


def bus_network() -> Network:
    """Returns 60 lines with 944 stops: eastward, northward and out from the centre."""
    lines = []
    for number in range(60):
        kind, rank = number % 3, number // 3
        # Lines lie closer together near the centre, as in most cities.
        offset = 9_000.0 * math.copysign(abs(rank / 9.5 - 1.0) ** 1.3, rank - 9.5)
        bend = 900.0 * math.sin(1.7 * number)
        half = 6_500.0 - 150.0 * (rank % 5)
        path: tuple[tuple[float, float], ...]
        if kind == 0:
            path = ((-half, offset - bend), (0.0, offset), (half, offset + bend))
        elif kind == 1:
            path = ((offset + bend, -half), (offset, 0.0), (offset - bend, half))
        else:
            angle = 2 * math.pi * rank / 20
            east, north = math.cos(angle), math.sin(angle)
            path = ((300 * east, 300 * north), (bend + 8_000 * east, bend + 8_000 * north))
        lines.append(Line(name=f"bus {number + 1:02d}", stops=16 if number < 44 else 15, path=path))
    return _network(lines, prefix="B")


def _network(lines: Sequence[Line], *, prefix: str) -> Network:
    position_m = np.concatenate([_along(line) for line in lines])
    line_of = np.repeat(np.arange(len(lines)), [line.stops for line in lines])
    of_line = [line.name for line in lines for _ in range(line.stops)]
    order = [place + 1 for line in lines for place in range(line.stops)]
    locations = Locations(
        tuple(
            Location(
                id=f"{prefix}{number + 1:03d}",
                name=f"{of_line[number].capitalize()} stop {order[number]}",
                lon=round(_CENTRE_LON + east / _DEGREE_LON_M, 6),
                lat=round(_CENTRE_LAT + north / _DEGREE_LAT_M, 6),
                zone=of_line[number],
            )
            for number, (east, north) in enumerate(position_m.tolist())
        )
    )
    level = labels_of_codes("line", line_of.astype(np.int32), [line.name for line in lines])
    distance_m = distances_m(position_m, position_m)
    return Network(
        taxonomy=Taxonomy(locations=locations, levels=(level,)),
        line_of=line_of,
        position_m=position_m,
        distance_m=distance_m,
        change_at=_changes(distance_m, line_of, len(lines)),
    )


def _along(line: Line) -> FloatArray:
    """Returns stops at even distances on the path of a line, its ends included."""
    corners = np.array(line.path, dtype=np.float64)
    reached = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    at = np.linspace(0.0, reached[-1], line.stops)
    return np.column_stack([np.interp(at, reached, corners[:, axis]) for axis in (0, 1)])


def _changes(distance_m: FloatArray, line_of: IntArray, lines: int) -> IntArray:
    """Returns where to leave each line for each other: where their stops are closest."""
    first = np.searchsorted(line_of, np.arange(lines + 1))
    change = np.zeros((lines, lines), dtype=np.int64)
    for here in range(lines):
        for there in range(lines):
            block = distance_m[first[here] : first[here + 1], first[there] : first[there + 1]]
            change[here, there] = first[here] + int(np.argmin(block.min(axis=1)))
    return change


# The published figures that the synthetic card cities are matched to, and how their riders live.
#
# The figures are those of Chen, Fung, Desai and Sossou, KDD 2012, table 2. The habits are invented.


@dataclass(frozen=True, kw_only=True)
class CardFigures:
    """What the records of a card city must add up to, exactly.

    Attributes:
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
