"""Everything that can be wrong with what a steward gives, as one table over all families.

A case spoils a scene and says what the error must speak of. Cases of `EVERYWHERE` are for every
family that there is; a new family gets them by having a little plan.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.little_plans import FAMILIES
from support.scene import Scene

Edit = Callable[[Scene], object]


@dataclass(frozen=True)
class Case:
    """Something wrong.

    Attributes:
        name: What is wrong.
        spoil: Makes it so.
        says: What the error speaks of.
        reads_ledger: Whether the ledger can still be read afterwards.
        unopened: Whether all that is missing is an account, which is usually opened after a check.
    """

    name: str
    spoil: Edit
    says: str
    reads_ledger: bool = True
    unopened: bool = False


def option(where: str, value: Any) -> Edit:
    """Sets an option of the plan."""
    return lambda scene: scene.say(where, value)


def row(*, refuse: str, **fields: str) -> Edit:
    """Lets the plan refuse a kind of row, and adds one."""

    def edit(scene: Scene) -> None:
        scene.say(f"problems.{refuse}", "refuse")
        scene.add_row(**fields)

    return edit


def rows(text: str | bytes | None) -> Edit:
    """Writes other protected rows, or removes them."""
    return lambda scene: _write(scene.rows, text)


def file(name: str, text: str | bytes | None) -> Edit:
    """Writes another file, or removes it."""
    return lambda scene: _write(scene.folder / name, text)


def line(name: str, text: str) -> Edit:
    """Adds a line to a file."""

    def edit(scene: Scene) -> None:
        with (scene.folder / name).open("a", encoding="utf-8") as opened:
            opened.write(text + "\n")

    return edit


def features(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Edit:
    """Changes the features of a GeoJSON file."""

    def edit(scene: Scene) -> None:
        path = scene.folder / name
        facts = json.loads(path.read_text("utf-8"))
        change(facts["features"])
        path.write_text(json.dumps(facts), encoding="utf-8")

    return edit


def all_of(*edits: Edit) -> Edit:
    """Spoils several things at once."""

    def edit(scene: Scene) -> None:
        for part in edits:
            part(scene)

    return edit


def plan_text(text: str) -> Edit:
    """Writes something else instead of the plan."""

    def edit(scene: Scene) -> None:
        scene.plan_text = text

    return edit


def without(where: str) -> Edit:
    """Leaves a table out of the plan."""
    return lambda scene: scene.plan.pop(where) and None


def _write(path: Path, text: str | bytes | None) -> None:
    path.unlink()
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def _header_only(scene: Scene) -> None:
    _write(scene.rows, scene.rows.read_text("utf-8").splitlines()[0] + "\n")


def _on_the_day_that_lacks_an_hour(scene: Scene) -> None:
    for end in ("first_day", "last_day"):
        scene.say(f"time.{end}", "2026-03-29")


_EPSILON = "privacy.epsilon"
EVERYWHERE = (
    Case("a plan that is no TOML", plan_text("release type = od"), "is not TOML"),
    Case("an empty plan", plan_text(""), "release_type"),
    Case("a plan of another release type", option("release_type", "tides"), "release_type"),
    Case("a plan of many release types", option("release_type", list(FAMILIES)), "release_type"),
    Case("a plan that is lists of lists", plan_text("a = " + "[" * 50_000), "cannot be read"),
    Case("a number of 9,000 digits", plan_text("a = " + "9" * 9_000), "cannot be read"),
    Case("a plan of megabytes", plan_text("#" * 2_000_000), "cannot be read"),
    Case("a misspelt option", option("privacy.epsilom", "1"), "privacy.epsilom"),
    Case("a plan without rows", without("data"), "data"),
    Case("an epsilon of zero", option(_EPSILON, "0"), _EPSILON),
    Case("a negative epsilon", option(_EPSILON, "-1"), _EPSILON),
    Case("an epsilon that is not a number", option(_EPSILON, float("nan")), _EPSILON),
    Case("an infinite epsilon", option(_EPSILON, float("inf")), _EPSILON),
    Case("an epsilon that is a word", option(_EPSILON, "much"), _EPSILON),
    Case("an epsilon that is a truth", option(_EPSILON, True), _EPSILON),
    Case("a delta of one", option("privacy.delta", "1"), "privacy.delta"),
    Case("an unknown unit", option("privacy.unit", "household"), "privacy.unit"),
    Case("an unknown time zone", option("time.zone", "Europe/Lisboa"), "time zone"),
    Case("a day that is none", option("time.first_day", "2026-02-30"), "time.first_day"),
    Case("a window that ends early", option("time.last_day", "2026-03-01"), "window"),
    Case("periods that do not fill a day", option("time.minutes", 1000), "1000"),
    Case("no title", option("release.title", ""), "release.title"),
    Case("a blank title", option("release.title", "  "), "release.title"),
    Case("no threads", option("engine.threads", 0), "engine.threads"),
    Case("hardly any memory", option("engine.memory_limit", "1MB"), "memory"),
    Case("memory that is a word", option("engine.memory_limit", "plenty"), "settings"),
    Case("an overspent ledger", option(_EPSILON, "40"), "left"),
    Case(
        "an account that is not open",
        option("ledger.period", "2026-04"),
        "no account",
        unopened=True,
    ),
    Case("a ledger that is not there", option("ledger.url", "other.db"), "other.db", unopened=True),
    Case("a period that looks like another", option("ledger.period", "2O26-03"), "account"),
    Case("a data set without a readable name", option("data.name", "tri\u200bps"), "data set"),
    Case("a ledger below a file", option("ledger.url", "places.csv/ledger.db"), "places.csv"),
    Case("a ledger that is a folder", option("ledger.url", "."), "ledger"),
    Case("a ledger with a name too long", option("ledger.url", "x" * 300), "ledger"),
    Case("a ledger of no known kind", option("ledger.url", "mysql://host/db"), "SQLite"),
    Case("a title with a bell in it", option("release.title", "Ding\a dong"), "title"),
    Case("a title of a whole book", option("release.title", "x" * 10_001), "title"),
    Case("a ledger that is none", file("ledger.db", "hello " * 1000), "ledger", reads_ledger=False),
    Case("a key that is not there", option("release.signing_key", "key.pem"), "key.pem"),
    Case("a key that is none", option("release.signing_key", "plan.toml"), "private key"),
    Case("a key that is a folder", option("release.signing_key", "."), "not a file"),
    Case("a folder below a file", option("release.folder", "places.csv/release"), "places.csv"),
    Case("a folder in one that cannot be", option("release.folder", "x" * 300 + "/r"), "too long"),
    Case("a path that is too long", option("release.folder", "x/" * 2_000 + "r"), "too long"),
    Case(
        "a folder beside a file in the way",
        lambda scene: (scene.folder / ".release.partial").write_text("mine"),
        "cannot be written",
    ),
    Case("a folder in use", lambda scene: (scene.folder / "release").mkdir(), "already"),
    Case("a folder that cannot be", option("release.folder", "x" * 300), "too long"),
    Case("a folder that is another", option("release.folder", "release/.."), "release"),
    Case("rows that are not there", rows(None), ""),
    Case("an empty file of rows", rows(""), "empty"),
    Case("rows that are a header", _header_only, "empty"),
    Case("rows that are no text", rows(b"\xff\xfe\0\xd8" * 500), ""),
    Case("a column that is not there", option("data.columns.person", "nobody"), "nobody"),
    Case("a null person", row(refuse="null_value", person=""), "null"),
    Case("a time that is none", row(refuse="unparsable_time", time="at eight"), "unparsable time"),
    Case(
        "a time outside the window",
        row(refuse="outside_window", time="2031-01-01T08:00:00"),
        "outside window",
    ),
    Case(
        "a time that the clock skipped",
        all_of(
            _on_the_day_that_lacks_an_hour,
            row(refuse="impossible_time", time="2026-03-29T01:30:00"),
        ),
        "impossible time",
    ),
    Case(
        "a row with too many fields",
        row(refuse="malformed_row", time="2026-03-02T11:30:00,1,2,3,4,5,6"),
        "malformed row",
    ),
    Case("a quote that is not closed", row(refuse="malformed_row", time='"11'), "malformed row"),
)


_PLACES = (
    Case("places that are not there", file("places.csv", None), "places.csv"),
    Case("an empty file of places", file("places.csv", ""), "empty"),
    Case("a place that is there twice", line("places.csv", "a,Again,-8.6,41.1,east"), "a"),
    Case("a place in metres", line("places.csv", "e,Metres,533000.5,4553000.5,east"), "degrees"),
    Case("a place without a position", line("places.csv", "e,Lost,,,east"), "e"),
)


def _twice(found: list[dict[str, Any]]) -> None:
    found.append(found[0])


def _overlapping(found: list[dict[str, Any]]) -> None:
    found.append({**found[0], "properties": {"id": "again"}})


def _in_metres(found: list[dict[str, Any]]) -> None:
    for one in found:
        (ring,) = one["geometry"]["coordinates"]
        ring[:] = [[lon * 84_000, lat * 111_000] for lon, lat in ring]


def _by_tower(scene: Scene) -> None:
    """Lets events name places instead of having positions."""
    scene.say("data.columns", {"person": "person", "place": "tower"})
    scene.say("places.file", "places.csv")
    lines = [f"p{i % 6},{'abcd'[i % 4]},2026-03-02T{i % 20:02d}:30:00" for i in range(36)]
    scene.rows.write_text("\n".join(["person,tower,time", *lines, ""]), encoding="utf-8")


def _with_trip_ids(scene: Scene) -> None:
    """Gives trips ids, and the last trips of some people those of their first."""
    scene.say("data.columns.trip_id", "trip")
    scene.say("problems.duplicate_trip_id", "refuse")
    header, *lines = scene.rows.read_text("utf-8").splitlines()
    ids = [f"{row},{number % 15}" for number, row in enumerate(lines)]
    scene.rows.write_text("\n".join([f"{header},trip", *ids, ""]), encoding="utf-8")


def _at_no_tower(scene: Scene) -> None:
    _by_tower(scene)
    scene.say("problems.unknown_place", "refuse")
    line(scene.rows.name, "p0,nowhere,2026-03-02T11:30:00")(scene)


OWN: dict[str, tuple[Case, ...]] = {
    "od": (
        *_PLACES,
        Case("no such origin", row(refuse="unknown_place", origin="z"), "unknown place"),
        Case("a trip to its origin", row(refuse="intrazonal", destination="a"), "intrazonal"),
        Case(
            "a trip id that is there twice",
            _with_trip_ids,
            "duplicate trip id",
        ),
        Case("a bound that is a truth", option("privacy.max_trips", True), "privacy.max_trips"),
        Case("a bound of none", option("privacy.max_trips", 0), "privacy.max_trips"),
        Case("no such mechanism", option("mechanism.name", "magic"), "mechanism"),
        Case("no such feature", option("mechanism.published_totals", ["moon"]), "moon"),
        Case("pairs that are not there", option("places.pairs", "pairs.csv"), "pairs.csv"),
    ),
    "sequences": (
        *_PLACES,
        Case("no such stop", row(refuse="unknown_place", place="z"), "unknown place"),
        Case("a bound that is a truth", option("privacy.max_records", True), "max_records"),
        Case("no such grouping", option("taxonomy.columns", ["moon"]), "moon"),
        Case("a timetable that is not there", option("taxonomy", {"gtfs": "g.zip"}), "g.zip"),
        Case("a tree without height", option("records.max_stops", 0), "records.max_stops"),
    ),
    "density": (
        Case(
            "a position that is not on earth",
            row(refuse="impossible_position", lat="145.0"),
            "impossible position",
        ),
        Case("a position elsewhere", row(refuse="unknown_place", lat="10"), "unknown place"),
        Case("no such tower", _at_no_tower, "unknown place"),
        Case(
            "a tower outside",
            all_of(_by_tower, line("places.csv", "e,Away,9.1,45.4,east")),
            "outside all areas",
        ),
        Case("towers that are not there", option("places.file", "towers.csv"), "places"),
        Case("areas that are not there", file("areas.geojson", None), "areas.geojson"),
        Case("an empty file of areas", file("areas.geojson", ""), "empty"),
        Case("areas that are none", file("areas.geojson", "hello"), "areas.geojson"),
        Case("an area that is there twice", features("areas.geojson", _twice), "more than once"),
        Case("areas that overlap", features("areas.geojson", _overlapping), "overlap"),
        Case("areas in metres", features("areas.geojson", _in_metres), "CRS"),
        Case("no such CRS", option("areas.crs", "EPSG:999999"), "EPSG:999999"),
        Case("a wrong CRS", option("areas.crs", "EPSG:2154"), "areas"),
        Case("no such property", option("areas.id", "code"), "code"),
        Case("hardly any epsilon", option(_EPSILON, "1e-9"), "sigma"),
        Case("a delta that is all but nothing", option("privacy.delta", "1e-400"), "parameter"),
        Case(
            "shares that leave nothing", option("mechanism.budget_shares.histogram", "1"), "shares"
        ),
        Case("a bound that is a truth", option("privacy.max_visits", True), "max_visits"),
    ),
    "links": (
        Case(
            "a position that is not on earth",
            row(refuse="impossible_position", lat="145.0"),
            "impossible position",
        ),
        Case("a position elsewhere", row(refuse="unknown_place", lat="10"), "unknown place"),
        Case("roads that are not there", file("roads.geojson", None), "roads.geojson"),
        Case("an empty file of roads", file("roads.geojson", ""), "roads.geojson"),
        Case("roads that are none", file("roads.geojson", "hello"), "roads.geojson"),
        Case("a link that is there twice", features("roads.geojson", _twice), "more than once"),
        Case(
            "shares that leave nothing",
            all_of(option("mechanism.classes", "0.5"), option("mechanism.speeds", "0.5")),
            "leave nothing",
        ),
        Case("a bound that is a truth", option("privacy.max_items", True), "max_items"),
    ),
}
