"""Everything that can be wrong with what a steward gives, as one table over all families.

A case spoils a scene and says what the error must speak of. Cases of `EVERYWHERE` are for every
family that there is; those of one family are `BAD_INPUT` in its test material.
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


PLACE_CASES = (
    Case("places that are not there", file("places.csv", None), "places.csv"),
    Case("an empty file of places", file("places.csv", ""), "empty"),
    Case("a place that is there twice", line("places.csv", "a,Again,-8.6,41.1,east"), "a"),
    Case("a place in metres", line("places.csv", "e,Metres,533000.5,4553000.5,east"), "degrees"),
    Case("a place without a position", line("places.csv", "e,Lost,,,east"), "e"),
)


def twice(found: list[dict[str, Any]]) -> None:
    """Repeats the first feature."""
    found.append(found[0])
