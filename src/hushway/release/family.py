"""What a family of releases is: everything that the rest of the product asks of it.

A family lives in a package of its own, with the same floors as its siblings (`public`, `rows`,
`mechanism`, `files`, `audit`), and knows nothing of them. It becomes part of the product by one
value of a class below `Family` in `hushway.families.registry`: plans, checks, prices, releases,
verification, audits, `plan new`, the demo and the conformance suites ask only that value.

The rules of a family:

- `prepare` reads public files only. Rows are read by the counter that its job makes, which bounds
  what one unit adds, and by nothing else.
- The mechanism's `measure` is the only step that sees the curator; `fit` has none in its signature.
- Only tables of exactly the class `table`, or of one of `tables`, can be written.
- `check` believes nothing: it recomputes from the public files and the certificate what the release
  states. It may be handed a stranger's folder, so it reads through `hushway.release.bounded`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

if TYPE_CHECKING:
    from hushway.audit.suite import Suite
    from hushway.privacy.certificate import Certificate
    from hushway.release.crowd import Crowd, CrowdForecast
    from hushway.release.finding import Notes
    from hushway.release.job import Job
    from hushway.release.plan_sections import AnyPlan, Section
    from hushway.release.published_file import Contents, Description

# Synthetic cities of the demo.
SEED = 2018


@dataclass(frozen=True, kw_only=True)
class Example:
    """A synthetic city that the demo publishes.

    Attributes:
        title: What it is.
        rows: What its rows are, with their number: "150,000 cards".
        changes: What its plan says otherwise than the family's template, text by text.
    """

    title: str
    rows: str
    changes: Mapping[str, str] = field(default_factory=dict)


class Family(ABC):
    """A family of releases. Every method imports what it needs when it is called.

    Attributes:
        name: What plans and certificates call it.
        title: What it publishes, in a few words.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @property
    @abstractmethod
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""

    @property
    def mechanisms(self) -> "Mapping[str, type[Section]]":
        """The models of its mechanisms by name, if plans choose between several."""
        return {}

    @property
    def template(self) -> str:
        """A plan with every option explained."""
        return (files(self._package) / "template.toml").read_text(encoding="utf-8")

    @property
    def _package(self) -> str:
        return type(self).__module__.rpartition(".")[0]

    @abstractmethod
    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism; no row is read.

        Raises:
            GeographyError: A public file is wrong.
        """

    def missing_rows(self, plan: Any) -> str | None:
        """Says which files or columns of the protected rows are missing, if it can tell."""
        del plan
        return None

    @property
    def crowd_forecast(self) -> "Callable[[Job, Crowd], CrowdForecast] | None":
        """Foresees errors from a public guess of the crowd, reading no row; None if it cannot."""
        return None

    @property
    @abstractmethod
    def table(self) -> type:
        """The class of what its mechanisms publish."""

    @property
    def tables(self) -> tuple[type, ...]:
        """All classes of what its mechanisms publish, if they publish more than one."""
        return (self.table,)

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written; itself, if it can write them."""
        written: Contents = table
        return written

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files; if any are needed."""
        del facts
        return True

    @abstractmethod
    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release.

        Args:
            notes: Where the findings go.
            folder: The release.
            certificate: Its certificate.
            facts: What its data package says about the table.

        Returns:
            The description that the data package must give; None when the table cannot be read.
        """

    @property
    @abstractmethod
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""

    def example(self, folder: Path) -> Example | None:
        """Writes a small synthetic city into a folder, for the demo; None if there is none."""
        del folder
        return None


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Where the parts of a family lie, as "module.name" below its package.

    Attributes:
        plan: The model of its plans.
        prepare: Makes a job of a plan.
        source: Says where the protected rows of a plan are.
        crowd_forecast: Foresees errors from a guess of the crowd; None if it cannot.
        table: The class of what its mechanisms publish.
        contents: Makes files of such a table.
        facts_fit: Whether the facts of a data package are enough to read its files.
        check: Checks the files of a release.
        suite: Its audits.
    """

    plan: str
    prepare: str
    source: str = "job.source_of"
    crowd_forecast: str | None = None
    table: str
    contents: str
    facts_fit: str = "files.published.facts_fit"
    check: str
    suite: str = "audit.suite.SUITE"


class PackagedFamily(Family):
    """A family in a package of its own, whose parts are imported when they are asked for."""

    parts: ClassVar[Parts]

    @property
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""
        return cast("type[AnyPlan]", self._part(self.parts.plan))

    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        return cast("Job", self._part(self.parts.prepare)(plan))

    def missing_rows(self, plan: Any) -> str | None:
        """Says which files or columns of the protected rows are missing; no row is read."""
        from hushway.tables.layout import missing_in

        return missing_in(self._part(self.parts.source)(plan))

    @property
    def crowd_forecast(self) -> "Callable[[Job, Crowd], CrowdForecast] | None":
        """Foresees errors from a public guess of the crowd, reading no row; None if it cannot."""
        place = self.parts.crowd_forecast
        if place is None:
            return None
        return cast("Callable[[Job, Crowd], CrowdForecast]", self._part(place))

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        return cast("type", self._part(self.parts.table))

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        return cast("Contents", self._part(self.parts.contents)(table))

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        return cast("bool", self._part(self.parts.facts_fit)(facts))

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        found = self._part(self.parts.check)(notes, folder, certificate, facts)
        return cast("Description | None", found)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        return cast("Suite[Any]", self._part(self.parts.suite))

    def _part(self, place: str) -> Any:
        module, _, name = place.rpartition(".")
        return getattr(import_module(f"{self._package}.{module}"), name)
