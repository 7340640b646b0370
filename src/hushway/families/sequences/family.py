"""Sequences of stops, as the rest of the product knows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.release.family import SEED, Example, Family
from hushway.release.forecast.compared import ComparedTable
from hushway.release.plans.first_plan import PERSON, STOP, TIME, Intake
from hushway.release.study import Study

if TYPE_CHECKING:
    from hushway.auditing.suite import Suite
    from hushway.privacy.certificate import Certificate
    from hushway.privacy.measured import Internal
    from hushway.privacy.query import Counter
    from hushway.release.catalogue import Catalogue
    from hushway.release.drawing.atlas import Drawing
    from hushway.release.family import TrueComparison
    from hushway.release.folder.finding import Notes
    from hushway.release.folder.published_file import Contents, Description
    from hushway.release.forecast.coarser import Coarser
    from hushway.release.forecast.crowd import ExpectedPopulation
    from hushway.release.forecast.known import Known
    from hushway.release.job import Job
    from hushway.release.mechanism import Mechanism
    from hushway.release.others import OtherRelease
    from hushway.release.plans.sections import AnyPlan
    from hushway.release.questions.cells import AskedCells
    from hushway.release.synthetic_file import SyntheticFile
    from hushway.study.results import Report

_CARDS = 150_000


class SequencesFamily(Family):
    """Sequences of stops."""

    name = "sequences"
    title = "journeys of cards, stop by stop"
    contribution_limit = "max_records"
    guessed = "records"
    intake = Intake(
        rows="taps",
        columns={
            "person": PERSON,
            "place": tuple(f"{name}{more}" for name in STOP for more in ("", "_id")),
            "time": TIME,
        },
        signs=("person", "place"),
        files={"places.file": "the public list of places"},
        left_out=("taxonomy.columns",),
    )
    compared = ComparedTable(
        file="sequences.parquet", keys=("sequence",), optional=("periods",), error=None
    )
    study = Study(
        name="prefix-tree",
        help="Card sequences: tables 3 to 5 and figures 3 to 5 of the prefix-tree paper (KDD "
        "2012).",
        runs=3,
        run_of="method and setting",
    )

    @property
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""
        from hushway.families.sequences.plan import SequencesPlan

        return SequencesPlan

    @property
    def catalogue(self) -> "Catalogue[Any, Any]":
        """Its mechanisms."""
        from hushway.families.sequences.mechanism.catalogue import MECHANISMS

        return MECHANISMS

    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.sequences.job import prepare_sequences

        return prepare_sequences(plan)

    def replan(self, job: "Job", plan: Any) -> "Job":
        """Sets up the job of a plan that differs in nothing but privacy and mechanism."""
        from hushway.families.sequences.job import prepare_sequences

        return prepare_sequences(plan, like=job)

    @property
    def invented_rows(self) -> "Callable[[Job, ExpectedPopulation], Counter]":
        """Counts invented rows of a guessed crowd instead of a plan's."""
        from hushway.families.sequences.planning.invented_rows import invented_sequences

        return invented_sequences

    @property
    def known(self) -> "Callable[[Any], Known]":
        """Says how much of a published table is known."""
        from hushway.families.sequences.files.published import known_records

        return known_records

    def coarser(self, plan: Any) -> "Iterable[Coarser]":
        """Returns plans without times, and of places by their public columns."""
        from hushway.families.sequences.planning.coarser import coarser_sequences

        return coarser_sequences(plan)

    @property
    def true_errors(self) -> "TrueComparison":
        """Compares a release with the exact rows of its plan."""
        from hushway.families.sequences.planning.evaluation import true_errors

        return true_errors

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.sequences.fit.table import SequenceTable

        return SequenceTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.sequences.files.check import contents_of

        return contents_of(table)

    def facts_fit(self, facts: Mapping[str, Any]) -> bool:
        """Whether the facts of a data package are enough to read its files."""
        from hushway.families.sequences.files.published import facts_fit

        return facts_fit(facts)

    def check(
        self, notes: "Notes", folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Description | None":
        """Checks the files of a release."""
        from hushway.families.sequences.files.check import check_files_of

        return check_files_of(notes, folder, certificate, facts)

    def asked(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "AskedCells":
        """Returns the published numbers of a release, to be added up."""
        from hushway.families.sequences.files.atlas import ask_sequences

        return ask_sequences(folder, certificate, facts)

    def drawing(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Drawing":
        """Returns what a page shows of a release that is as it was sealed."""
        from hushway.families.sequences.files.atlas import draw_sequences

        return draw_sequences(folder, certificate, facts)

    def synthesize(
        self,
        folder: Path,
        certificate: "Certificate",
        facts: Mapping[str, Any],
        file: "SyntheticFile",
    ) -> str:
        """Writes synthetic taps, or travellers."""
        from hushway.families.sequences.synthetic.taps import synthesize_taps

        if file.table:
            return super().synthesize(folder, certificate, facts, file)
        return synthesize_taps(folder, file)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.sequences.audit.suite import SUITE

        return SUITE

    def learning(
        self, mechanism: "Mechanism[Any, Any]", geography: Any, others: "Sequence[OtherRelease]"
    ) -> "Mechanism[Any, Any]":
        """Returns a mechanism whose fit learns from other releases."""
        from hushway.families.sequences.files.others import learning

        del geography
        return learning(mechanism, others)

    def refitting(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "tuple[Mechanism[Any, Any], Any]":
        """Returns the mechanism of a release and its public cells, to be fitted again."""
        from hushway.families.sequences.files.check import refitting

        return refitting(folder, certificate, facts)

    def limit_option(self, plan: Any) -> str | None:
        """Returns what a plan calls its contribution limit; it may leave no choice but 1."""
        return None if plan.most_records == 1 else super().limit_option(plan)

    @property
    def tables(self) -> tuple[type, ...]:
        """Trees of prefixes, and records that were learnt."""
        from hushway.families.sequences.fit.table import RecordTable

        return (self.table, RecordTable)

    def little_plan(self, folder: Path) -> dict[str, Any]:
        """Writes a made-up city of a few rows, and returns the tables of a plan for it."""
        from hushway.release.plans.little_city import TIME, write_places, write_taps

        return {
            "data": {"name": "little", "taps": write_taps(folder), "columns": {"person": "person"}},
            "places": write_places(folder),
            "time": TIME,
            "taxonomy": {"columns": ["zone"]},
            "records": {"max_stops": 4},
            "privacy": {"epsilon": "1"},
        }

    def reproduce(self, **chosen: Any) -> "Internal[Report]":
        """Repeats the experiments of the paper that the family is compared with."""
        from hushway.families.sequences.study.report import report
        from hushway.families.sequences.study.reproduce import reproduce_prefix_tree

        return report(reproduce_prefix_tree(**chosen))

    def example(self, folder: Path) -> Example:
        """Writes a day of a synthetic metro's cards."""
        from hushway.families.sequences.city.cards import metro

        city = metro(SEED, records=_CARDS)
        city.write(folder)
        return Example(title="Journeys by card: a synthetic metro", rows=f"{len(city):,} cards")
