"""Densities, as the rest of the product knows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.progress import Progress, quiet
from hushway.release.family import SEED, Example, Family
from hushway.release.forecast.compared import ComparedTable
from hushway.release.plans.first_plan import LAT, LON, PERSON, TIME, TOWER, Intake
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
    from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
    from hushway.release.forecast.known import Known
    from hushway.release.job import Job
    from hushway.release.mechanism import Mechanism
    from hushway.release.others import OtherRelease
    from hushway.release.plans.sections import AnyPlan
    from hushway.release.questions.cells import AskedCells
    from hushway.study.results import Report

_PEOPLE, _TOWERS, _AREAS = 20_000, 60, 40
# The template is for a city of millions. In one of 20,000 people so few visits need less noise.
_FOR_A_SMALL_CITY = {'epsilon = "0.3" ': 'epsilon = "1"   '}

# The squares of the rehearsed plan.
_HALF_DEGREES = 0.005
_CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
_AREA_FILE = {"areas.file": "the public areas"}
_PLACE_FILE = {"places.file": "the public list of the places that events name"}


class DensityFamily(Family):
    """Densities."""

    name = "density"
    title = "people in areas, hour by hour"
    contribution_limit = "max_visits"
    guessed = "visits"
    intake = Intake(
        rows="events",
        columns={
            "person": PERSON,
            "place": tuple(f"{name}{more}" for name in TOWER for more in ("", "_id")),
            "lon": LON,
            "lat": LAT,
            "time": TIME,
        },
        optional=("place", "lon", "lat"),
        either=(("place",), ("lon", "lat")),
        signs=("person", "place"),
        files=_AREA_FILE | _PLACE_FILE,
        # Positions lie in areas by themselves.
        files_with={"place": _AREA_FILE | _PLACE_FILE, "lon": _AREA_FILE},
        left_out_without={"place": "places"},
    )
    compared = ComparedTable(file="density.parquet", keys=("area", "starts"))
    study = Study(
        name="density",
        help="Densities: figures 3 to 11 of the case study of call records in Paris (KDD 2014).",
        runs=20,
        run_of="method and setting",
        options=(
            StudyOption(name="people", help="People of the city.", least=1000, default=1_992_846),
            StudyOption(name="seed", help="Chooses the city.", least=0, default=2014),
        ),
    )

    @property
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""
        from hushway.families.density.plan import DensityPlan

        return DensityPlan

    @property
    def catalogue(self) -> "Catalogue[Any, Any]":
        """Its mechanisms."""
        from hushway.families.density.mechanism.catalogue import MECHANISMS

        return MECHANISMS

    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.density.job import prepare_density

        return prepare_density(plan)

    def replan(self, job: "Job", plan: Any) -> "Job":
        """Sets up the job of a plan that differs in nothing but privacy and mechanism."""
        from hushway.families.density.job import prepare_density

        return prepare_density(plan, like=job)

    @property
    def crowd_forecast(self) -> "Callable[[Job, ExpectedPopulation], CrowdForecast]":
        """Predicts errors from a public guess of the crowd, reading no row."""
        from hushway.families.density.planning.forecast import forecast_density

        return forecast_density

    def recommend(
        self, job: "Job", crowd: "ExpectedPopulation", *, runs: int = 1, progress: Progress = quiet
    ) -> "Advice":
        """Says what to put into a plan for a guessed crowd, and whether that is enough."""
        from hushway.families.density.planning.forecast import recommend_density

        return recommend_density(job, crowd, runs=runs, progress=progress)

    @property
    def invented_rows(self) -> "Callable[[Job, ExpectedPopulation], Counter]":
        """Counts invented rows of a guessed crowd instead of a plan's."""
        from hushway.families.density.planning.forecast import invented_density

        return invented_density

    @property
    def known(self) -> "Callable[[Any], Known]":
        """Says how much of a published table is known."""
        from hushway.families.density.files.published import known_visits

        return known_visits

    def coarser(self, plan: Any) -> "Iterable[Coarser]":
        """Returns plans of longer periods."""
        from hushway.release.forecast.coarser import longer_periods

        return longer_periods(plan, plan.time.periods)

    @property
    def true_errors(self) -> "TrueComparison":
        """Compares a release with the exact rows of its plan."""
        from hushway.families.density.planning.evaluation import true_errors

        return true_errors

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.density.fit.table import DensityTable

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

    def asked(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "AskedCells":
        """Returns the published numbers of a release, to be added up."""
        from hushway.families.density.files.atlas import ask_density

        return ask_density(folder, certificate, facts)

    def refitting(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "tuple[Mechanism[Any, Any], Any]":
        """Returns the mechanism of a release and its public cells, to be fitted again."""
        from hushway.families.density.files.check import refitting

        return refitting(folder, certificate, facts)

    def drawing(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Drawing":
        """Returns what a page shows of a release that is as it was sealed."""
        from hushway.families.density.files.atlas import draw_density

        return draw_density(folder, certificate, facts)

    def learning(
        self, mechanism: "Mechanism[Any, Any]", geography: Any, others: "Sequence[OtherRelease]"
    ) -> "Mechanism[Any, Any]":
        """Returns a mechanism whose fit learns from other releases."""
        from hushway.families.density.files.others import learning

        return learning(mechanism, geography, others)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.density.audit.suite import SUITE

        return SUITE

    def little_plan(self, folder: Path) -> dict[str, Any]:
        """Writes a made-up city of a few rows, and returns the tables of a plan for it."""
        from hushway.release.plans import little_city as city

        shapes = (({"id": key}, _square(lon, lat)) for key, lon, lat in city.PLACES)
        city.write_shapes(folder / "areas.geojson", shapes)
        return {
            "data": {
                "name": "little",
                "events": city.write_taps(folder),
                "columns": {"person": "person", "place": "place"},
            },
            "places": city.write_places(folder),
            "areas": {"file": "areas.geojson"},
            "time": city.TIME,
            "privacy": {"max_visits": 4, "max_visits_in_total": 9, "epsilon": "1", "delta": "1e-6"},
        }

    def reproduce(self, **chosen: Any) -> "Internal[Report]":
        """Repeats the experiments of the paper that the family is compared with."""
        from hushway.families.density.study.report import report
        from hushway.families.density.study.reproduce import reproduce_density

        return report(reproduce_density(**chosen))

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


def _square(lon: float, lat: float) -> dict[str, Any]:
    ring = [[lon + _HALF_DEGREES * x, lat + _HALF_DEGREES * y] for x, y in _CORNERS]
    return {"type": "Polygon", "coordinates": [ring]}
