"""Counts of road links, as the rest of the product knows them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.progress import Progress, quiet
from hushway.release.family import SEED, Example, Family
from hushway.release.forecast.compared import ComparedTable
from hushway.release.plans.first_plan import LAT, LON, PERSON, TIME, Intake
from hushway.release.study import Study, StudyOption

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
    from hushway.release.forecast.advice import Advice
    from hushway.release.forecast.coarser import Coarser
    from hushway.release.forecast.crowd import ExpectedPopulation
    from hushway.release.forecast.known import Known
    from hushway.release.job import Job
    from hushway.release.mechanism import Mechanism
    from hushway.release.others import OtherRelease
    from hushway.release.plans.sections import AnyPlan
    from hushway.release.questions.cells import AskedCells
    from hushway.study.results import Report

# So few roads and so many people that most links clearly show at the template's budget.
_LINKS, _PEOPLE = 1_200, 10_000
# The crossings of the rehearsed plan's two streets.
_COLUMNS = [-8.60 + 0.0015 * step for step in range(6)]


class LinksFamily(Family):
    """Counts of road links."""

    name = "links"
    title = "traffic on roads, link by link"
    contribution_limit = "max_items"
    guessed = "links travelled"
    intake = Intake(
        rows="traces",
        columns={
            "person": PERSON,
            "trip": ("trip", "trip_id", "journey", "journey_id"),
            "time": TIME,
            "lon": LON,
            "lat": LAT,
        },
        optional=("trip",),
        signs=("person", "lon", "lat"),
        files={"roads.file": "the public road network"},
    )
    compared = ComparedTable(file="links.parquet", keys=("period", "link_id"))
    study = Study(
        name="dp-ani",
        help="Road networks: figures 4 to 8 of DP-ANI, attacks on it, and the sound counts beside "
        "it.",
        runs=5,
        run_of="method and budget",
        options=(
            StudyOption(name="seed", help="Chooses the people of the city.", least=0, default=2019),
        ),
    )

    @property
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""
        from hushway.families.links.plan import LinksPlan

        return LinksPlan

    @property
    def catalogue(self) -> "Catalogue[Any, Any]":
        """Its mechanisms."""
        from hushway.families.links.mechanism.catalogue import MECHANISMS

        return MECHANISMS

    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.links.job import prepare_links

        return prepare_links(plan)

    def replan(self, job: "Job", plan: Any) -> "Job":
        """Sets up the job of a plan that differs in nothing but privacy and mechanism."""
        from hushway.families.links.job import prepare_links

        return prepare_links(plan, like=job)

    @property
    def invented_rows(self) -> "Callable[[Job, ExpectedPopulation], Counter]":
        """Counts invented rows of a guessed crowd instead of a plan's."""
        from hushway.families.links.planning.invented_rows import invented_links

        return invented_links

    @property
    def known(self) -> "Callable[[Any], Known]":
        """Says how much of a published table is known."""
        from hushway.families.links.files.published import known_travellers

        return known_travellers

    def recommend(
        self, job: "Job", crowd: "ExpectedPopulation", *, runs: int = 1, progress: Progress = quiet
    ) -> "Advice":
        """Tries limits, and leaves the choice to the release where it can choose."""
        advice = super().recommend(job, crowd, runs=runs, progress=progress)
        # What a limit leaves out must be asked for, to choose one.
        plan: Any = job.plan
        can_choose = plan.mechanism.left_out > 0
        return replace(advice, lines='[privacy]\nmax_items = "auto"\n') if can_choose else advice

    def coarser(self, plan: Any) -> "Iterable[Coarser]":
        """Returns plans of longer periods."""
        from hushway.release.forecast.coarser import longer_periods

        return longer_periods(plan, plan.time.periods)

    @property
    def true_errors(self) -> "TrueComparison":
        """Compares a release with the exact rows of its plan."""
        from hushway.families.links.planning.evaluation import true_errors

        return true_errors

    def learning(
        self, mechanism: "Mechanism[Any, Any]", geography: Any, others: "Sequence[OtherRelease]"
    ) -> "Mechanism[Any, Any]":
        """Returns a mechanism whose fit learns from other releases."""
        from hushway.families.links.files.others import learning

        return learning(mechanism, geography, others)

    def refitting(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "tuple[Mechanism[Any, Any], Any]":
        """Returns the mechanism of a release and its public cells, to be fitted again."""
        from hushway.families.links.files.check import refitting

        return refitting(folder, certificate, facts)

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.links.fit.table import LinkTable

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

    def asked(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "AskedCells":
        """Returns the published numbers of a release, to be added up."""
        from hushway.families.links.files.atlas import ask_links

        return ask_links(folder, certificate, facts)

    def drawing(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Drawing":
        """Returns what a page shows of a release that is as it was sealed."""
        from hushway.families.links.files.atlas import draw_links

        return draw_links(folder, certificate, facts)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.links.audit.suite import SUITE

        return SUITE

    def little_plan(self, folder: Path) -> dict[str, Any]:
        """Writes a made-up city of a few rows, and returns the tables of a plan for it."""
        from hushway.release.plans.little_city import PEOPLE, TIME, clock, write_rows, write_shapes

        traces = (
            (f"u{i}", clock(8, step), lon, 41.10)
            for i in range(PEOPLE)
            for step, lon in enumerate(_COLUMNS)
        )
        write_rows(folder / "traces.csv", ("person", "time", "lon", "lat"), traces)
        write_shapes(folder / "roads.geojson", _streets())
        return {
            "data": {"name": "little", "traces": "traces.csv"},
            "roads": {"file": "roads.geojson"},
            "time": TIME,
            "privacy": {"max_items": 8, "epsilon": "1", "delta": "1e-6"},
        }

    def reproduce(self, **chosen: Any) -> "Internal[Report]":
        """Repeats the experiments of the paper that the family is compared with."""
        from hushway.families.links.study.report import report
        from hushway.families.links.study.reproduce import reproduce_dp_ani

        return report(reproduce_dp_ani(**chosen))

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
            rows=f"{len(city.lon):,} positions of {_PEOPLE:,} people",
            changes={
                "America/Los_Angeles": city.zone,
                "first_day = 2019-01-14": f"first_day = {city.first_day}",
                "last_day = 2019-01-14": f"last_day = {city.last_day}",
            },
        )


def _streets() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields the blocks of two streets side by side, and two that join them."""
    rows = [[[lon, lat] for lon in _COLUMNS] for lat in (41.10, 41.101)]
    blocks = [pair for row in rows for pair in pairwise(row)]
    blocks += [(rows[0][at], rows[1][at]) for at in (0, -1)]
    for number, ends in enumerate(blocks):
        facts = {"link_id": f"b{number}", "class": "primary", "speed": 50}
        yield facts, {"type": "LineString", "coordinates": list(ends)}
