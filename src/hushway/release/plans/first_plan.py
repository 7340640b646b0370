"""Makes the first plan of a release type: columns that are recognised, and facts to ask for.

Privacy:
    A first plan is made from the names and types of columns alone. Days, places and areas become
    public facts, so nothing about them is taken from rows: they are asked for.
"""

import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from hushway.privacy.bound import Unit

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
        signs: Columns whose names show that rows are of this release type, with a group of
            `either`. Of `instead`, a kind without signs is only taken where the type is named.
        files: Public files, by the option of the plan that names each: what it is, in words.
        files_with: Files that are needed instead where a column is there, by column.
        left_out: Options of the template that a first plan does without.
        left_out_without: Tables that it does without, too, where a column is not there.
        without_person: The unit that is protected where nobody is named, if that is possible.
        only_unit: The unit that is protected, if no other is possible.
        section: The table of the plan that names the columns.
        fixed: Options that rows of this kind need, or that they do without (None).
        instead: Other kinds of rows of the release type, for files whose columns suit them better.
    """

    rows: str
    columns: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    either: tuple[tuple[str, ...], ...] = ()
    signs: tuple[str, ...]
    files: Mapping[str, str]
    files_with: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    left_out_without: Mapping[str, str] = field(default_factory=dict)
    without_person: Unit | None = None
    only_unit: Unit | None = None
    section: str = "data.columns"
    fixed: Mapping[str, object | None] = field(default_factory=dict)
    instead: tuple["Intake", ...] = ()

    def of(self, names: tuple[str, ...], given: Collection[str] = ()) -> "Intake":
        """Returns the kind of rows that a file has.

        Args:
            names: Its columns.
            given: Roles that somebody named a column for.
        """
        if self.suits(names):
            return self
        able = [
            each
            for each in self.instead
            if set(given) <= set(each.columns) and not each.missing(each.recognised(names))
        ]
        return able[0] if able else self

    def recognised(self, names: tuple[str, ...]) -> dict[str, str]:
        """Returns the columns that can be told by their names."""
        return recognised(self.columns, names)

    def without_alternatives(self, columns: Mapping[str, str | None]) -> dict[str, str | None]:
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
        known = set(self.recognised(names))
        return set(self.signs) <= known and (
            not self.either or any(set(group) <= known for group in self.either)
        )

    def public_files(self, columns: Mapping[str, str | None]) -> Mapping[str, str]:
        """Returns the public files that rows with such columns need."""
        there = [files for role, files in self.files_with.items() if columns.get(role)]
        return there[0] if there else self.files


def recognised(columns: Mapping[str, tuple[str, ...]], names: tuple[str, ...]) -> dict[str, str]:
    """Returns the columns of a file that have one of the usual names of a role."""
    known = {_plain(name): name for name in reversed(names)}
    return {
        role: next(known[name] for name in usual if name in known)
        for role, usual in columns.items()
        if any(name in known for name in usual)
    }


def _plain(name: str) -> str:
    """Returns a name in small letters without accents, its words joined by _."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return "_".join(bare.replace("-", " ").replace("_", " ").split())


# Ids of these are not ids of people: somebody may have several, and several may share one.
DEVICES: Final = tuple(
    f"{name}{more}"
    for name in (
        *("card", "device", "token", "phone", "bike", "vehicle", "taxi", "imsi", "imei", "msisdn"),
        *("sim", "karte", "karten", "fahrzeug", "carte", "vehicule", "tarjeta", "cartao"),
    )
    for more in ("", "_id", "_ref", "_no", "_number", "_hash", "_nr", "nr", "nummer")
)
# Usual names in English, German, French, Spanish and Portuguese, without accents.
PERSON: Final = (
    *("person", "person_id", "rider", "rider_id", "user", "user_id", "customer", "customer_id"),
    *("passenger", "passenger_id", "subscriber", "subscriber_id", "kunde", "kundennr"),
    *("client", "client_id", "abonne", "cliente", "usuario", *DEVICES),
)


def looks_like_device(column: str) -> bool:
    """Whether the name of a column of ids says that they are of cards, phones or vehicles."""
    return _plain(column) in DEVICES


def looks_like_day(column: str) -> bool:
    """Whether the name of a column says that it holds days."""
    return _plain(column).rpartition("_")[2] in {"date", "day", "datum", "fecha", "data"}


TIME = (
    *("time", "timestamp", "datetime", "departed_at", "started_at", "start_time", "departure_time"),
    *("tap_time", "event_time", "call_time", "date_time", "ts", "timestamp_ms", "ts_ms", "epoch"),
    *("zeit", "zeitpunkt", "zeitstempel", "abfahrt", "abfahrtszeit", "uhrzeit", "heure"),
    *("horodatage", "hora", "fecha_hora", "data_hora"),
)
LON = ("lon", "lng", "longitude", "long", "x", "lange", "laenge", "langengrad", "longitud")
LAT = ("lat", "latitude", "y", "breite", "breitengrad", "latitud")
# A place where vehicles stop.
STOP = (
    *("place", "station", "stop", "location", "haltestelle", "bahnhof", "arret", "gare", "parada"),
    *("estacion", "estacao", "paragem"),
)
TOWER = ("tower", "antenna", "cell", "site", "antenne", "antena", "funkzelle")

# Changes the options of a commented plan, and leaves its comments where they are.
_OPTION: Final = re.compile(
    r"(?P<off># )?(?P<key>[a-z_]+) = (?P<value>\S(?:.*?\S)?)(?:\s+(?P<comment>#.*))?"
)
_SECTION: Final = re.compile(r"(?:# )?\[(?P<name>[a-z_.]+)\].*")
_COLUMN: Final = 31


def fill_template(template: str, options: Mapping[str, object | None]) -> str:
    """Returns a template with options changed.

    Args:
        options: New values by option, such as "time.zone"; None to leave the option out. The name
            of a table and None leaves out the table, with everything in it.
    """
    left = dict(options)
    section, lines = "", []
    for line in template.split("\n"):
        heading = _SECTION.fullmatch(line)
        if heading is not None:
            section = heading["name"]
        if _within(section, options):
            left.pop(section, None)
            lines.append(line if not line or line.startswith("#") else f"# {line}")
            continue
        if heading is not None and _has_options(section, left):
            lines.append(line.removeprefix("# "))
            continue
        option = _OPTION.fullmatch(line)
        where = "" if option is None else f"{section}.{option['key']}".lstrip(".")
        if option is None or where not in left:
            lines.append(line)
            continue
        lines.append(_changed(option, left.pop(where)))
    for name, value in left.items():
        if value is not None:
            raise KeyError(name)
    return "\n".join(lines)


def _has_options(section: str, options: Mapping[str, object | None]) -> bool:
    """Whether a table gets options, so that it may not stay a comment."""
    given = [name for name, value in options.items() if value is not None]
    return any(name.rpartition(".")[0] == section for name in given)


def _within(section: str, options: Mapping[str, object | None]) -> bool:
    """Whether a table, or one that it is part of, is left out."""
    parts = section.split(".")
    tables = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
    return any(table in options and options[table] is None for table in tables if section)


def _changed(option: "re.Match[str]", value: object | None) -> str:
    if value is None:
        text = f"# {option['key']} = {option['value']}"
    else:
        # TOML writes texts and numbers as JSON does.
        text = f"{option['key']} = {json.dumps(value, ensure_ascii=False)}"
    comment = option["comment"]
    return text if comment is None else f"{text.ljust(_COLUMN - 1)} {comment}"
