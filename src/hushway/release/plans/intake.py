"""How a release type gets its first plan: which columns it needs, and which facts only people know.

Privacy:
    A first plan is made from the names and types of columns alone. Days, places and areas become
    public facts, so nothing about them is taken from rows: they are asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# What stands for a fact that nobody has given yet: no plan with it can be published.
SET_THIS = "SET-THIS"


@dataclass(frozen=True, kw_only=True)
class Intake:
    """What a first plan needs.

    Attributes:
        rows: The option of [data] that names the rows.
        columns: The usual names of each column, by the option of [data.columns], likeliest first.
        optional: Columns that a plan may do without.
        either: Groups of columns of which the first that is there is taken, and the others are not.
        signs: Columns whose names show that rows are of this release type.
        files: Public files, by the option of the plan that names each: what it is, in words.
        left_out: Options of the template that a first plan does without.
        left_out_without: Tables that it does without, too, where a column is not there.
        without_person: What the plan says instead where nobody is named, if that is possible.
    """

    rows: str
    columns: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()
    signs: tuple[str, ...]
    files: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    left_out_without: Mapping[str, str] = field(default_factory=dict)
    without_person: Mapping[str, str | int] = field(default_factory=dict)

    def found(self, names: tuple[str, ...]) -> dict[str, str]:
        """Returns the columns that can be told by their names."""
        known = {_plain(name): name for name in reversed(names)}
        return {
            option: next(known[name] for name in usual if name in known)
            for option, usual in self.columns.items()
            if any(name in known for name in usual)
        }

    def settled(self, columns: Mapping[str, str | None]) -> dict[str, str | None]:
        """Returns the columns of which only one group is needed, with the other groups left out."""
        there = [group for group in self.either if all(columns.get(one) for one in group)]
        spare = {one for group in self.either for one in group if there and one not in there[0]}
        return {role: None if role in spare else columns.get(role) for role in self.columns}

    def missing(self, columns: Mapping[str, str | None]) -> list[str]:
        """Returns the columns without which there is no plan."""
        needed = [
            role
            for role in self.columns
            if role not in self.optional and not (role == "person" and self.without_person)
        ]
        if not any(all(columns.get(one) for one in group) for group in self.either):
            needed += self.either[0] if self.either else ()
        return [role for role in needed if columns.get(role) is None]

    def suits(self, names: tuple[str, ...]) -> bool:
        """Whether columns of such names are likely rows of this release type."""
        return set(self.signs) <= set(self.found(names))


def _plain(name: str) -> str:
    return "_".join(name.casefold().replace("-", " ").replace("_", " ").split())


PERSON = (
    "person",
    "person_id",
    "rider",
    "rider_id",
    "user",
    "user_id",
    "card",
    "card_id",
    "device",
    "device_id",
    "subscriber",
    "vehicle",
    "vehicle_id",
)
TIME = (
    "time",
    "timestamp",
    "datetime",
    "departed_at",
    "started_at",
    "start_time",
    "departure_time",
    "tap_time",
    "date_time",
    "ts",
)
LON = ("lon", "lng", "longitude", "long", "x")
LAT = ("lat", "latitude", "y")
