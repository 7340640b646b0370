"""Visits as the rest of hushway knows them.

This file is read whenever hushway starts, so it imports little: every method imports what it needs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.families import ComparedTable, Family, Intake

if TYPE_CHECKING:
    from hushway import families as hw

_PERSON = ("person", "card", "card_id", "device", "device_id", "user", "user_id")
_STOP = ("stop", "stop_id", "station", "station_id")
_TIME = ("time", "timestamp", "tap_time", "tapped_at")


class VisitsFamily(Family):
    """Visits per stop and hour."""

    name = "visits"
    title = "visits per stop and hour"
    contribution_limit = "max_visits"
    guessed = "visits"
    intake = Intake(
        rows="taps",
        columns={"person": _PERSON, "stop": _STOP, "time": _TIME},
        signs=("person", "stop"),
        files={"stops.file": "the public list of stops"},
    )
    compared = ComparedTable(file="visits.parquet", keys=("stop", "period"))

    @property
    def plan(self) -> "type[hw.AnyPlan]":
        """The model of its plans."""
        from hushway_visits.plan import VisitsPlan

        return VisitsPlan

    @property
    def catalogue(self) -> "hw.Catalogue[Any, Any]":
        """Its mechanisms."""
        from hushway_visits.mechanism import MECHANISMS

        return MECHANISMS

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway_visits.table import VisitsTable

        return VisitsTable

    @property
    def suite(self) -> "hw.Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway_visits.audit import SUITE

        return SUITE

    def prepare(self, plan: Any) -> "hw.Job":
        """Reads the public files of a plan and sets up its mechanism; no row is read."""
        from hushway_visits.job import prepare_visits

        return prepare_visits(plan)

    def contents(self, table: Any) -> "hw.Contents":
        """Returns a published table as files that can be written."""
        from hushway_visits.files import VisitsContents

        return VisitsContents(table)

    def check(
        self,
        notes: "hw.Notes",
        folder: Path,
        certificate: "hw.Certificate",
        facts: Mapping[str, Any],
    ) -> "hw.Description | None":
        """Checks the files of a release."""
        from hushway_visits.files import check_visits

        return check_visits(notes, folder, certificate, facts)

    def drawing(
        self, folder: Path, certificate: "hw.Certificate", facts: Mapping[str, Any]
    ) -> "hw.Drawing":
        """Returns what a page shows of a release that is as it was sealed."""
        from hushway_visits.drawing import draw_atlas

        del facts
        return draw_atlas(folder, certificate)

    def little_plan(self, folder: Path) -> dict[str, Any]:
        """Writes a town of a few cards, and returns the tables of a plan for it."""
        from hushway_visits.city import little_plan

        return little_plan(folder)

    def example(self, folder: Path) -> "hw.Example":
        """Writes the town of the demo."""
        from hushway_visits.city import example

        return example(folder)
