"""OD tables, as the rest of the product knows them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.privacy.bound import Unit
from hushway.progress import Progress, quiet
from hushway.release.family import SEED, Example, Family
from hushway.release.forecast.compared import ComparedTable
from hushway.release.plans.first_plan import LAT, LON, PERSON, STOP, TIME, Intake
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
    from hushway.release.forecast.advice import Advice
    from hushway.release.forecast.coarser import Coarser
    from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation
    from hushway.release.forecast.known import Known
    from hushway.release.forecast.series import SeriesForecast
    from hushway.release.job import Job
    from hushway.release.mechanism import Mechanism
    from hushway.release.others import OtherRelease
    from hushway.release.plans.sections import AnyPlan
    from hushway.release.questions.cells import AskedCells
    from hushway.release.synthetic_file import SyntheticFile
    from hushway.study.results import Report


# Usual names of the ends of a trip, as in `PERSON`.
ORIGIN = (
    *("origin", "origin_id", "from", "start", "start_station_id", "start_station", "from_stop"),
    *("from_station", "von", "startort", "starthaltestelle", "einstieg", "origine", "origen"),
    *("origem",),
)
DESTINATION = (
    *("destination", "destination_id", "to", "end", "end_station_id", "end_station", "to_stop"),
    *("to_station", "nach", "ziel", "zielort", "zielhaltestelle", "ausstieg", "destino"),
)
_ENDS = ("origin", "destination")
_POINTS = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")
# Single taps, by the usual names of exports of fare collection. What of them got off nobody can
# tell from names, so whoever has such taps says so in the plan.
_TAPS = Intake(
    rows="trips",
    columns={
        "person": ("token_id", *PERSON),
        "time": ("event_timestamp", "transaction_time", "tap_on_time", "boarding_time", *TIME),
        "stop": tuple(f"{name}{more}" for name in ("boarding_stop", *STOP) for more in ("", "_id")),
        "lon": ("tap_lon", "stop_lon", *LON),
        "lat": ("tap_lat", "stop_lat", *LAT),
        "line": ("line", "line_id", "route", "route_id", "linie", "ligne", "linea", "linha"),
        "trip": ("trip_id_performed", "trip_id", "trip"),
        "tap_id": ("transaction_id", "tap_id"),
    },
    optional=("stop", "lon", "lat", "line", "trip", "tap_id"),
    either=(("stop", "trip"), ("stop",), ("lon", "lat"), ("trip",)),
    signs=(),
    files={
        "taps.timetable": "a GTFS feed of the lines",
        "places.file": "the public list of places, which may be the same feed",
    },
    left_out=("places.pairs",),
    only_unit=Unit.DEVICE,
    section="taps.columns",
    fixed={"data.format": "taps", "data.columns": None},
)
# Fare transactions of TIDES, which have words of their own for getting on and off.
_TIDES = replace(
    _TAPS,
    columns={**_TAPS.columns, "person": ("token_id",), "action": ("fare_action",)},
    signs=("person", "time", "action"),
    fixed={
        **_TAPS.fixed,
        "taps.entries": ["Enter", "Transfer entrance"],
        "taps.exits": ["Exit", "Transfer exit"],
    },
)


class ODFamily(Family):
    """OD tables."""

    name = "od"
    title = "trips by period, origin and destination"
    contribution_limit = "max_trips"
    guessed = "trips"
    intake = Intake(
        rows="trips",
        columns={
            "person": PERSON,
            "origin": ORIGIN,
            "destination": DESTINATION,
            "time": TIME,
            "trip_id": ("trip_id", "ride_id"),
            "origin_lon": ("origin_lon", "start_lon", "start_lng", "pickup_longitude"),
            "origin_lat": ("origin_lat", "start_lat", "pickup_latitude"),
            "destination_lon": (
                "destination_lon",
                "end_lon",
                "end_lng",
                "to_lon",
                "dropoff_longitude",
            ),
            "destination_lat": ("destination_lat", "end_lat", "dropoff_latitude"),
        },
        optional=("trip_id", *_ENDS, *_POINTS),
        either=(_ENDS, _POINTS),
        signs=(),
        files={"places.file": "the public list of places"},
        files_with={"origin_lon": {"places.areas": "the public areas"}},
        left_out=("places.pairs",),
        left_out_without={"origin": "places.columns"},
        without_person=Unit.TRIP,
        instead=(_TIDES, _TAPS),
    )
    compared = ComparedTable(file="trips.parquet", keys=("period", "origin", "destination"))
    study = Study(
        name="cbdp",
        help="OD tables: table 2 and figure 5 of constraint-based differential privacy (AAMAS "
        "2018).",
        runs=50,
        run_of="mechanism and budget",
    )

    @property
    def plan(self) -> "type[AnyPlan]":
        """The model of its plans."""
        from hushway.families.od.plan import ODPlan

        return ODPlan

    @property
    def catalogue(self) -> "Catalogue[Any, Any]":
        """Its mechanisms."""
        from hushway.families.od.mechanism.catalogue import MECHANISMS

        return MECHANISMS

    def prepare(self, plan: Any) -> "Job":
        """Reads the public files of a plan and sets up its mechanism."""
        from hushway.families.od.job import prepare_od

        return prepare_od(plan)

    def replan(self, job: "Job", plan: Any) -> "Job":
        """Sets up the job of a plan that differs in nothing but privacy and mechanism."""
        from hushway.families.od.job import prepare_od

        return prepare_od(plan, like=job)

    @property
    def crowd_forecast(self) -> "Callable[[Job, ExpectedPopulation], CrowdForecast]":
        """Predicts errors from a public guess of the crowd, reading no row."""
        from hushway.families.od.planning.forecast import forecast_od

        return forecast_od

    @property
    def series_forecast(self) -> "Callable[..., SeriesForecast]":
        """Predicts errors of a year of a series likewise, first and revised."""
        from hushway.families.od.planning.series import forecast_series

        return forecast_series

    def recommend(
        self, job: "Job", crowd: "ExpectedPopulation", *, runs: int = 1, progress: Progress = quiet
    ) -> "Advice":
        """Says what to put into a plan for a guessed crowd, and whether that is enough."""
        from hushway.families.od.planning.advice import recommend_od

        return recommend_od(job, crowd, runs=runs, progress=progress)

    @property
    def invented_rows(self) -> "Callable[[Job, ExpectedPopulation], Counter]":
        """Counts invented rows of a guessed crowd instead of a plan's."""
        from hushway.families.od.planning.forecast import invented_od

        return invented_od

    @property
    def known(self) -> "Callable[[Any], Known]":
        """Says how much of a published table is known."""
        from hushway.families.od.files.known import known_trips
        from hushway.families.od.files.view import view_of

        return lambda table: known_trips(view_of(table))

    def foreseen(
        self, job: "Job", crowd: "ExpectedPopulation", *, progress: Progress = quiet
    ) -> "Known":
        """Says how much of the release of a guessed crowd would be known, and rightly so."""
        from hushway.families.od.planning.foreseen import foreseen_od

        progress("Trying the plan on invented trips")
        return foreseen_od(job, crowd)

    def coarser(self, plan: Any) -> "Iterable[Coarser]":
        """Returns plans of longer periods, and of places by their public columns."""
        from hushway.families.od.planning.coarser import coarser_od

        return coarser_od(plan)

    @property
    def true_errors(self) -> "TrueComparison":
        """Compares a release with the exact rows of its plan."""
        from hushway.families.od.planning.evaluation import true_errors

        return true_errors

    @property
    def table(self) -> type:
        """The class of what its mechanisms publish."""
        from hushway.families.od.fit.table import ODTable

        return ODTable

    def contents(self, table: Any) -> "Contents":
        """Returns a published table as files that can be written."""
        from hushway.families.od.files.published import ODContents

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

    def asked(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "AskedCells":
        """Returns the published numbers of a release, to be added up."""
        from hushway.families.od.files.asked import ask_od

        return ask_od(folder, certificate, facts)

    def refitting(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "tuple[Mechanism[Any, Any], Any]":
        """Returns the mechanism of a release and its public cells, to be fitted again."""
        from hushway.families.od.files.check import refitting

        return refitting(folder, certificate, facts)

    def learning(
        self, mechanism: "Mechanism[Any, Any]", geography: Any, others: "Sequence[OtherRelease]"
    ) -> "Mechanism[Any, Any]":
        """Returns a mechanism whose fit learns from other releases."""
        from hushway.families.od.files.others import learning

        del geography  # the mechanism has it
        return learning(mechanism, others)

    def drawing(
        self, folder: Path, certificate: "Certificate", facts: Mapping[str, Any]
    ) -> "Drawing":
        """Returns what a page shows of a release that is as it was sealed."""
        from hushway.families.od.files.atlas import draw_od

        return draw_od(folder, certificate, facts)

    def synthesize(
        self,
        folder: Path,
        certificate: "Certificate",
        facts: Mapping[str, Any],
        file: "SyntheticFile",
    ) -> str:
        """Writes synthetic trips, travellers or a drawn table."""
        from hushway.families.od.synthetic.published import read_published_trips
        from hushway.families.od.synthetic.trips import synthesize_trips

        published = read_published_trips(folder, certificate, facts)
        return synthesize_trips(published, file)

    @property
    def suite(self) -> "Suite[Any]":
        """Its audits, and the mistakes that they must catch."""
        from hushway.families.od.audit.suite import SUITE

        return SUITE

    def little_plan(self, folder: Path) -> dict[str, Any]:
        """Writes a made-up city of a few rows, and returns the tables of a plan for it."""
        from hushway.families.od.little import little_od

        return little_od(folder)

    def reproduce(self, **chosen: Any) -> "Internal[Report]":
        """Repeats the experiments of the paper that the family is compared with."""
        from hushway.families.od.study.report import report
        from hushway.families.od.study.reproduce import reproduce_cbdp

        return report(reproduce_cbdp(**chosen))

    def example(self, folder: Path) -> Example:
        """Writes a synthetic weekday of Ann Arbor."""
        from hushway.families.od.city.ann_arbor import ann_arbor

        city = ann_arbor(seed=SEED)
        city.write(folder)
        riders = len(set(city.trips.rider.tolist()))
        return Example(
            title="A synthetic city, with the published figures of Ann Arbor",
            rows=f"{len(city.trips.rider):,} trips of {riders:,} riders",
            # When it runs.
            changes={'opens = "00:00"': 'opens = "06:00"', 'closes = "24:00"': 'closes = "20:00"'},
        )
