"""The tables of a network file, with every place as its index in the list of locations."""

from typing import Annotated, Any, Final

from pydantic import (
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hushway.geography.transit import Travel
from hushway.release.plan_values import Section

_MINUTE_S: Final = 60
_DAY_MINUTES: Final = 1_440
_FEWEST_STOPS: Final = 2


def _place(value: Any, info: ValidationInfo) -> int:
    if not isinstance(value, str):
        raise ValueError("must be the id of a location, in quotes")  # noqa: TRY004 pydantic's way
    index: dict[str, int] | None = info.context
    if index is None or value not in index:
        raise ValueError(f"{value!r} is not the id of a location")
    return index[value]


Place = Annotated[int, BeforeValidator(_place)]
Speed = Annotated[float, Field(gt=0)]
Seconds = Annotated[int, Field(gt=0)]


class TravelSection(Section):
    """How fast people get about without a bus."""

    shuttle_m_per_s: Speed = Travel.shuttle_m_per_s
    detour: float = Field(Travel.detour, ge=1)
    stop_s: int = Field(Travel.stop_s, ge=0)
    walk_m_per_s: Speed = Travel.walk_m_per_s

    def travel(self) -> Travel:
        """Returns it as a network has it."""
        return Travel(**self.model_dump())


class LineSection(Section):
    """A bus line."""

    name: str
    stops: list[Place]
    headway_min: float | None = Field(None, gt=0, le=_DAY_MINUTES)
    headway_s: Seconds | None = None
    ride_s: list[Seconds] | None = None
    bus_m_per_s: Speed | None = None
    both_ways: bool = True

    @field_validator("stops")
    @classmethod
    def _call_once_at_several_places(cls, stops: list[int]) -> list[int]:
        if len(stops) < _FEWEST_STOPS:
            raise ValueError("must be two places or more")
        if len(set(stops)) != len(stops):
            raise ValueError("must not name a place twice (split a line that comes back into two)")
        return stops

    @model_validator(mode="after")
    def _say_once_how_it_runs(self) -> "LineSection":
        if (self.headway_min is None) == (self.headway_s is None):
            raise ValueError("must have either headway_min or headway_s")
        if not self.every_s:
            raise ValueError("headway_min must be a second or more")
        if self.ride_s is not None and self.bus_m_per_s is not None:
            raise ValueError("must have ride_s or bus_m_per_s, not both")
        if self.ride_s is not None and len(self.ride_s) != len(self.stops) - 1:
            raise ValueError(
                f"ride_s must have one ride from each stop to the next: {len(self.stops) - 1}, not "
                f"{len(self.ride_s)}"
            )
        return self

    @property
    def every_s(self) -> int:
        """Seconds from one bus to the next."""
        return self.headway_s or round((self.headway_min or 0) * _MINUTE_S)


class NetworkSection(Section):
    """A whole file; validated with the index of every id of a location as its context."""

    hubs: list[Place] = Field(default_factory=list)
    travel: TravelSection = TravelSection()
    lines: list[LineSection] = Field(default_factory=list)

    @field_validator("hubs")
    @classmethod
    def _name_hubs_once(cls, hubs: list[int]) -> list[int]:
        if len(set(hubs)) != len(hubs):
            raise ValueError("must not name a place twice")
        return hubs
