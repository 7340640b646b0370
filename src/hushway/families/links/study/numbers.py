"""What the reproduction of the DP-ANI paper measures."""

from dataclasses import dataclass

from hushway.study.interval import Interval


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One number of the reproduction.

    Attributes:
        method: The method.
        epsilon: The budget, as text.
        figure: What was measured: an attribute of `LinkErrors`, or "moved" or "widened".
        interval: Mean over runs, with its 95% interval.
    """

    method: str
    epsilon: str
    figure: str
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class Attacks:
    """How attacks went.

    Attributes:
        homes: By budget of DP-ANI and number of trips: mean metres from the home.
        sound_home: Mean metres from the home that noisy link counts at epsilon 1 lead to.
        guessed_home: Mean metres from the home to the middle of the map.
        faithful_presence: Advantage of who looks for a lone driver in DP-ANI.
        sound_presence: The same with noisy link counts at epsilon 1.
        most_presence: The most that their guarantee allows.
    """

    homes: dict[str, dict[str, float]]
    sound_home: float
    guessed_home: float
    faithful_presence: float
    sound_presence: float
    most_presence: float


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What the pictures of networks show.

    Attributes:
        segments: Of each link: x and y of its tail, x and y of its head, in metres.
        counts: By name: the count of each link.
    """

    segments: list[list[float]]
    counts: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    Attributes:
        runs: Runs of each method and budget.
        trips: Trajectories of the hour.
        people: People of the hour.
        day_trips: Trajectories of the day.
        links: Links of the map.
        miles: Length of the network without noise.
        figures: The numbers.
        attacks: How attacks went.
        gains: By number of trips and way to fit: the root mean square error of links.
        drawn: What the pictures of networks show.
    """

    runs: int
    trips: int
    people: int
    day_trips: int
    links: int
    miles: float
    figures: tuple[Figure, ...]
    attacks: Attacks
    gains: dict[str, dict[str, float]]
    drawn: Drawn

    def of(self, method: str, epsilon: str, figure: str) -> Interval:
        """Returns one number."""
        wanted = (method, epsilon, figure)
        return next(
            found.interval
            for found in self.figures
            if (found.method, found.epsilon, found.figure) == wanted
        )
