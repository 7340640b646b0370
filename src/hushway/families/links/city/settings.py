"""How the people of a road city live, and what their devices record."""

from dataclasses import dataclass
from datetime import date

from hushway.errors import PlanError


@dataclass(frozen=True, kw_only=True)
class Habits:
    """When people drive, and which days are simulated.

    Attributes:
        first_day: The first day.
        days: Number of days.
        zone: The clock that times are told by.
        fleet_share: Share of persons that are vehicles of a fleet.
        commuting: Chance that a person who works drives to work on a weekday.
        errands: Chance of an errand around noon on a weekday; twice that at the weekend.
        leisure: Chance of a trip for leisure in the evening.
        fleet_trips: Trips of a vehicle of a fleet in a day, on average.
    """

    first_day: date = date(2026, 3, 2)
    days: int = 1
    zone: str = "UTC"
    fleet_share: float = 0.06
    commuting: float = 0.85
    errands: float = 0.22
    leisure: float = 0.22
    fleet_trips: float = 14.0

    def __post_init__(self) -> None:
        shares = (self.fleet_share, self.commuting, self.errands, self.leisure)
        if not all(0 <= share <= 1 for share in shares) or self.fleet_trips < 2:
            raise PlanError(
                "Habits need shares and chances from 0 to 1, and at least 2 trips of a fleet.",
                advice="Leave out what you do not mean to change.",
            )
        if self.days < 1:
            raise PlanError("There must be a day to drive on.", advice="Give at least one day.")


@dataclass(frozen=True, kw_only=True)
class Devices:
    """What devices record of a trip.

    Attributes:
        interval_s: Shortest and longest time between two positions, in whole seconds. Each device
            has an interval of its own; short ones are as likely as long ones on a scale of ratios.
        noise_m: Usual deviation of a position along each axis. Each device has between 0.6 and 1.4
            times as much.
        gaps: Share of trips that lose the positions of a few minutes.
        jumps: Share of positions that lie some hundred metres off.
        duplicates: Share of positions that are sent twice.
        reporting: Share of devices that report speed and heading.
    """

    interval_s: tuple[int, int] = (5, 60)
    noise_m: float = 6.0
    gaps: float = 0.03
    jumps: float = 0.002
    duplicates: float = 0.005
    reporting: float = 0.6

    def __post_init__(self) -> None:
        shares = (self.gaps, self.jumps, self.duplicates, self.reporting)
        shortest, longest = self.interval_s
        if not 1 <= shortest <= longest or self.noise_m < 0:
            raise PlanError(
                "Devices need an interval of at least one second and noise that is not negative.",
                advice="Give interval_s = (5, 60) and noise_m = 6, for example.",
            )
        if not all(0 <= share <= 1 for share in shares):
            raise PlanError("A share must lie between 0 and 1.", advice="Give 0.01 for 1%.")
