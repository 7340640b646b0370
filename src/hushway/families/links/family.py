"""Counts of road links, as the rest of the product knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.release.family import SEED, Example, Family

if TYPE_CHECKING:
    from hushway.audit.suite import Suite
    from hushway.families.links.plan import LinksPlan
    from hushway.privacy.certificate import Certificate
    from hushway.release.finding import Notes
    from hushway.release.job import Job
    from hushway.release.published_file import Contents, Description

_LINKS, _PEOPLE = 2_000, 1_000


class LinksFamily(Family):
    """Counts of road links."""

    name = "links"
    title = "traffic on roads, link by link"

    @property
    def plan(self) -> "type[LinksPlan]":
        """The model of its plans."""
        from hushway.families.links.plan import LinksPlan

        return LinksPlan

    def prepare(self, plan: "LinksPlan") -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.links.job import prepare_links

        return prepare_links(plan)

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.links.mechanism.fit import LinkTable

        return LinkTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.links.files.check import LinksContents

        return LinksContents(table)

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        from hushway.families.links.files.published import facts_fit

        return facts_fit(facts)

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        from hushway.families.links.files.check import check_links

        return check_links(notes, folder, certificate, facts)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.links.audit.suite import SUITE

        return SUITE

    def example(self, folder: Path) -> Example:
        """Writes a day of traces on the roads of a synthetic city."""
        from hushway.families.links.city.road_city import road_city
        from hushway.families.links.city.simulate import simulate_traces

        city = simulate_traces(road_city(SEED, links=_LINKS), SEED, people=_PEOPLE)
        city.write(folder)
        (folder / "roads").mkdir()
        for name in ("node.csv", "link.csv"):
            (folder / name).rename(folder / "roads" / name)
        return Example(
            title="Traffic on roads: traces in a synthetic city",
            rows=f"{len(city):,} positions of {_PEOPLE:,} people",
            changes={
                "America/Los_Angeles": city.zone,
                "first_day = 2019-01-14": f"first_day = {city.first_day}",
                "last_day = 2019-01-14": f"last_day = {city.last_day}",
            },
        )
