"""OD tables, as the rest of the product knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.release.family import SEED, Example, Family

if TYPE_CHECKING:
    from hushway.audit.suite import Suite
    from hushway.families.od.plan import ODPlan
    from hushway.privacy.certificate import Certificate
    from hushway.release.finding import Notes
    from hushway.release.job import Job
    from hushway.release.plan_sections import Section
    from hushway.release.published_file import Contents, Description


class ODFamily(Family):
    """OD tables."""

    name = "od"
    title = "trips by period, origin and destination"

    @property
    def plan(self) -> "type[ODPlan]":
        """The model of its plans."""
        from hushway.families.od.plan import ODPlan

        return ODPlan

    @property
    def mechanisms(self) -> "Mapping[str, type[Section]]":
        """The models of its mechanisms by name."""
        from hushway.families.od.plan import MECHANISMS

        return MECHANISMS

    def prepare(self, plan: "ODPlan") -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.od.job import prepare_od

        return prepare_od(plan)

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.od.mechanism.table import ODTable

        return ODTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.od.files.contents import ODContents

        return ODContents(table)

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        from hushway.families.od.files.published import facts_fit

        return facts_fit(facts)

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        from hushway.families.od.files.check import check_od

        return check_od(notes, folder, certificate, facts)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.od.audit.suite import SUITE

        return SUITE

    def example(self, folder: Path) -> Example:
        """Writes a synthetic weekday of Ann Arbor."""
        from hushway.families.od.city.ann_arbor import ann_arbor

        city = ann_arbor(seed=SEED)
        city.write(folder)
        riders = len(set(city.trips.rider.tolist()))
        return Example(
            title="A synthetic city, with the published figures of Ann Arbor",
            rows=f"{len(city.trips.rider):,} trips of {riders:,} riders",
        )
