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
  states. It may be handed a stranger's folder, so it reads through
  `hushway.release.untrusted`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hushway.errors import PlanError, ReleaseError
from hushway.progress import Progress, quiet
from hushway.release.forecast.compared import ComparedTable
from hushway.release.plans.first_plan import Intake
from hushway.release.study import Study

if TYPE_CHECKING:
    from hushway.auditing.suite import Suite
    from hushway.privacy.certificate import Certificate
    from hushway.privacy.measured import Internal
    from hushway.privacy.query import Counter
    from hushway.release.catalogue import Catalogue
    from hushway.release.drawing.atlas import Drawing
    from hushway.release.folder.finding import Notes
    from hushway.release.folder.published_file import Contents, Description
    from hushway.release.forecast.advice import Advice
    from hushway.release.forecast.coarser import Coarser
    from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
    from hushway.release.forecast.known import Known
    from hushway.release.forecast.series import SeriesForecast
    from hushway.release.forecast.true_errors import TrueErrors
    from hushway.release.job import CountingContext, Job
    from hushway.release.mechanism import Mechanism
    from hushway.release.others import OtherRelease
    from hushway.release.plans.sections import AnyPlan, Section
    from hushway.release.questions.cells import AskedCells
    from hushway.release.synthetic_file import SyntheticFile
    from hushway.study.results import Report

    TrueComparison = Callable[[Path, Job, CountingContext], Internal[TrueErrors]]

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
        contribution_limit: What plans call the most of one person that counts, in [privacy]; None
            if everybody counts once.
        guessed: What a guess of a crowd counts, such as "trips".
        intake: What a first plan needs; None if there is none.
        compared: The file that two releases are compared by; None if there is none.
        study: The paper that `reproduce` repeats on a synthetic city; None if there is none.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    contribution_limit: ClassVar[str | None] = None
    guessed: ClassVar[str] = "rows"
    intake: ClassVar[Intake | None] = None
    compared: ClassVar[ComparedTable | None] = None
    study: ClassVar[Study | None] = None

    @property
    @abstractmethod
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""

    @property
    def catalogue(self) -> "Catalogue[Any, Any] | None":
        """Its mechanisms; None if plans have no table [mechanism]."""
        return None

    @property
    def mechanisms(self) -> "Mapping[str, type[Section]]":
        """The models of the options of its mechanisms, by name."""
        return {spec.name: spec.options for spec in self.catalogue or ()}

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

    def replan(self, job: "Job", plan: Any) -> "Job":
        """Sets up the job of a plan that differs in nothing but privacy and mechanism.

        Public files need not be read again.
        """
        del job
        return self.prepare(plan)

    @property
    def crowd_forecast(self) -> "Callable[[Job, ExpectedPopulation], CrowdForecast] | None":
        """Foresees errors from a public guess of the crowd, reading no row; None if it cannot."""
        return None

    @property
    def series_forecast(self) -> "Callable[..., SeriesForecast] | None":
        """Foresees errors of a year of a series likewise, first and revised; None if it cannot."""
        return None

    @property
    def invented_rows(self) -> "Callable[[Job, ExpectedPopulation], Counter] | None":
        """Counts invented rows of a guessed crowd instead of a plan's; None if it cannot."""
        return None

    @property
    def known(self) -> "Callable[[Any], Known] | None":
        """Says how much of a published table is known; None if it cannot."""
        return None

    def foreseen(
        self, job: "Job", crowd: "ExpectedPopulation", *, progress: Progress = quiet
    ) -> "Known | None":
        """Says how much of the release of a guessed crowd would be known; None if it cannot.

        Privacy:
            Reads no row and spends nothing: the rows are invented, and so is the budget.

        Raises:
            PlanError: The guess makes no sense, or takes too long to try.
        """
        from hushway.release.forecast.rehearsal import rehearsed

        if self.invented_rows is None or self.known is None:
            return None
        return self.known(rehearsed(job, self.invented_rows(job, crowd), progress=progress))

    def coarser(self, plan: Any) -> "Iterable[Coarser]":
        """Returns plans of coarser public places and periods; none if there are none to try."""
        del plan
        return ()

    @property
    def true_errors(self) -> "TrueComparison | None":
        """Compares a release with the exact rows of its plan; None if it cannot.

        Privacy:
            Its answer carries no guarantee: for the steward's own eyes.
        """
        return None

    def reproduce(self, **chosen: Any) -> "Internal[Report]":
        """Runs its study with `runs`, `progress` and the study's options."""
        raise NotImplementedError(chosen)

    def limit_option(self, plan: Any) -> str | None:
        """Returns what a plan calls its contribution limit; None if it has no use for one."""
        return self.contribution_limit if plan.privacy.unit.has_many_records else None

    def recommend(
        self, job: "Job", crowd: "ExpectedPopulation", *, runs: int = 1, progress: Progress = quiet
    ) -> "Advice":
        """Says what to put into a plan for a guessed crowd, and whether that is enough.

        Unless a release type knows better, noise and what limits leave out decide on the
        contribution limit.

        Privacy:
            Reads no row and spends nothing. What is recommended is as public as the guess.

        Args:
            job: What would be published.
            crowd: A public guess of how many there are.
            runs: How often a choice is tried, where it is tried on invented rows.
            progress: Told what is being tried.
        """
        from hushway.release.forecast.advice import recommend_limit

        del runs
        option = self.limit_option(job.plan)

        def with_limit(limit: int) -> "Job":
            if option is None:
                return job
            privacy = job.plan.privacy.model_copy(update={option: limit})
            return self.replan(job, job.plan.model_copy(update={"privacy": privacy}))

        return recommend_limit(job, crowd, with_limit, option=option, progress=progress)

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

    def refitting(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "tuple[Mechanism[Any, Any], Any]":
        """Returns the mechanism of a release and its public cells, to be fitted again.

        Args:
            folder: The release. It may be a stranger's.
            certificate: Its certificate.
            facts: What its data package says about the table.

        Raises:
            ReleaseError: Its files cannot be read, or releases of this type cannot be fitted again.
        """
        del folder, certificate, facts
        raise ReleaseError(
            f"A release of the type {self.name} cannot be fitted again.",
            advice="Verify it without --refit.",
        )

    def learning(
        self, mechanism: "Mechanism[Any, Any]", geography: Any, others: "Sequence[OtherRelease]"
    ) -> "Mechanism[Any, Any]":
        """Returns a mechanism whose fit learns from the noisy answers of other releases.

        Privacy:
            The other releases are public; it still asks the same questions at the same price.

        Args:
            geography: The public cells that it is asked for.

        Raises:
            PlanError: It learns from none.
        """
        del mechanism, geography, others
        raise PlanError(
            f"series.learn_from: releases of the type {self.name} do not learn from each other.",
            advice="Leave learn_from out of the plan.",
        )

    def drawing(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Drawing":
        """Returns what a page shows of a release that is as it was sealed.

        Args:
            folder: The release. It may be a stranger's.
            certificate: Its certificate.
            facts: What its data package says about the table.

        Raises:
            ReleaseError: Its files cannot be read, or releases of this type cannot be drawn.
        """
        del folder, certificate, facts
        raise ReleaseError(
            f"A release of the type {self.name} cannot be drawn.",
            advice="Read its files, or look at its picture.",
        )

    def asked(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "AskedCells":
        """Returns the published numbers of a release that is as it was sealed, to be added up.

        Args:
            folder: The release. It may be a stranger's.
            certificate: Its certificate.
            facts: What its data package says about the table.

        Raises:
            ReleaseError: Its files cannot be read, or sums of this type cannot be told.
        """
        del folder, certificate, facts
        raise ReleaseError(
            f"Sums of a release of the type {self.name} cannot be told with their errors.",
            advice="Read its files: what is published there has its errors beside it.",
        )

    def synthesize(
        self,
        folder: Path,
        certificate: "Certificate",
        facts: Mapping[str, Any],
        file: "SyntheticFile",
    ) -> str:
        """Writes synthetic rows from a release that was verified, and says what was written.

        Args:
            folder: The release.
            certificate: Its certificate.
            facts: What its data package says about the table.
            file: What to write, and where.

        Raises:
            ReleaseError: There is nothing to draw from, or the file cannot be written.
        """
        del folder, certificate, facts
        raise ReleaseError(
            f"There is nothing to draw from a release of the release type {self.name!r}"
            f"{' as a table' if file.table else ''}.",
            advice="Read its tables instead: hushway.open(RELEASE) in Python, or its files.",
        )

    @property
    @abstractmethod
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""

    def little_plan(self, folder: Path) -> dict[str, Any] | None:
        """Writes a made-up city of a few rows, and returns the tables of a plan for it.

        The plan is rehearsed so that machine code is compiled ahead, once for each mechanism; None
        if there is nothing to compile.
        """
        del folder
        return None

    def example(self, folder: Path) -> Example | None:
        """Writes a small synthetic city into a folder, for the demo; None if there is none."""
        del folder
        return None
