"""One-off gatherings in the synthetic Paris: peaks of a few hours that no rhythm explains."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Gathering:
    """People at one place for a few hours.

    Attributes:
        east_m: Metres east of the middle.
        north_m: Metres north of it.
        first_hour: The first hour, from Monday 00:00 on.
        hours: How many hours it lasts.
        share: Share of all people who come.
    """

    east_m: float
    north_m: float
    first_hour: int
    hours: int
    share: float


def _on(day: int, hour: int) -> int:
    return 24 * day + hour


_MARKETS: Final = (
    (2_000, 1_900),
    (-1_900, 2_900),
    (4_300, 400),
    (-3_600, -1_900),
    (700, -3_300),
    (2_900, -2_700),
    (-600, 3_300),
    (1_900, 3_500),
)

GATHERINGS: Final = (
    # A match at the stadium, and another one at the weekend.
    Gathering(east_m=-5_300, north_m=-1_500, first_hour=_on(2, 19), hours=4, share=0.008),
    Gathering(east_m=-5_300, north_m=-1_500, first_hour=_on(5, 16), hours=3, share=0.006),
    # Concerts in a hall and in a park.
    Gathering(east_m=3_500, north_m=-1_700, first_hour=_on(3, 19), hours=4, share=0.004),
    Gathering(east_m=4_300, north_m=2_900, first_hour=_on(4, 20), hours=4, share=0.003),
    Gathering(east_m=6_000, north_m=-900, first_hour=_on(6, 14), hours=4, share=0.004),
    # A march, in three places one after the other; a strike at a station.
    Gathering(east_m=2_200, north_m=-200, first_hour=_on(1, 14), hours=2, share=0.003),
    Gathering(east_m=1_500, north_m=1_300, first_hour=_on(1, 15), hours=2, share=0.003),
    Gathering(east_m=-100, north_m=1_700, first_hour=_on(1, 17), hours=2, share=0.002),
    Gathering(east_m=1_000, north_m=2_400, first_hour=_on(0, 7), hours=3, share=0.003),
    # A fair, two days; a fashion show; a night of open doors.
    Gathering(east_m=-3_000, north_m=-3_500, first_hour=_on(3, 10), hours=4, share=0.002),
    Gathering(east_m=-3_000, north_m=-3_500, first_hour=_on(4, 10), hours=4, share=0.003),
    Gathering(east_m=-800, north_m=700, first_hour=_on(4, 18), hours=2, share=0.001),
    Gathering(east_m=300, north_m=-800, first_hour=_on(5, 22), hours=3, share=0.003),
    *(
        Gathering(east_m=east, north_m=north, first_hour=_on(6, 9), hours=4, share=0.0015)
        for east, north in _MARKETS
    ),
)
