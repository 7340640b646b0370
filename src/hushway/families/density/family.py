"""Densities, as the rest of the product knows them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.release.family import SEED, Example, Family

if TYPE_CHECKING:
    from hushway.audit.suite import Suite
    from hushway.families.density.plan import DensityPlan
    from hushway.privacy.certificate import Certificate
    from hushway.release.finding import Notes
    from hushway.release.job import Job
    from hushway.release.published_file import Contents, Description

_PEOPLE, _TOWERS, _AREAS = 20_000, 60, 40
# The template is for a city of millions. In one of 20,000 people so few visits need less noise.
_FOR_A_SMALL_CITY = {
    "most_counted = 1000 ": "most_counted = 200  ",
    'epsilon = "0.3" ': 'epsilon = "1"   ',
}


class DensityFamily(Family):
    """Densities."""

    name = "density"
    title = "people in areas, hour by hour"

    @property
    def plan(self) -> "type[DensityPlan]":
        """The model of its plans."""
        from hushway.families.density.plan import DensityPlan

        return DensityPlan

    def prepare(self, plan: "DensityPlan") -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.density.job import prepare_density

        return prepare_density(plan)

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.density.mechanism.fit import DensityTable

        return DensityTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.density.files.check import DensityContents

        return DensityContents(table)

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        from hushway.families.density.files.published import facts_fit

        return facts_fit(facts)

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        from hushway.families.density.files.check import check_density

        return check_density(notes, folder, certificate, facts)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.density.audit.suite import SUITE

        return SUITE

    def example(self, folder: Path) -> Example:
        """Writes a week of calls of a small synthetic Paris."""
        from hushway.families.density.city.paris import paris

        city = paris(SEED, people=_PEOPLE, towers=_TOWERS, areas=_AREAS)
        city.write(folder)
        return Example(
            title="Where people are by the hour: a small synthetic Paris",
            rows=f"{len(city):,} calls of {city.people:,} people",
            changes=_FOR_A_SMALL_CITY,
        )
