"""From a plan to a job: public files are read here, and no row."""

from hushway import families as hw

from hushway_visits.check import TapRows
from hushway_visits.files import MOST_CELLS
from hushway_visits.mechanism import MECHANISMS, VisitsSetting, visit_terms
from hushway_visits.plan import VisitsPlan
from hushway_visits.public import StopHours
from hushway_visits.rows import TapColumns, TapsSource


def prepare_visits(plan: VisitsPlan) -> hw.Job:
    """Reads the stops and the periods, and sets up the mechanism.

    Raises:
        GeographyError: The stops or the window are wrong.
        DataError: There would be too many counts.
    """
    columns = hw.LocationColumns(**plan.stops.columns.model_dump())
    stops = hw.read_locations(plan.path(plan.stops.file), columns)
    cells = StopHours(stops=stops, periods=plan.time.periods)
    if cells.size > MOST_CELLS:
        raise hw.DataError(
            f"A release has at most {MOST_CELLS:,} counts.",
            advice="Use longer periods or fewer stops.",
        )
    mechanism = MECHANISMS[plan.mechanism.name].from_plan(VisitsSetting(plan=plan))
    named = plan.data.columns
    words = f"{hw.plural(len(stops), 'stop')}, {hw.plural(len(cells.periods), 'period')}"
    return hw.Job(
        plan=plan,
        geography=cells,
        bound=mechanism.bound(cells),
        mechanism=mechanism,
        terms=visit_terms(mechanism, cells, plan.privacy.unit),
        window=hw.window_of_periods(cells.periods, clock=plan.data.clock),
        rows=TapRows(
            source=TapsSource(
                plan.rows_path(plan.data.taps),
                TapColumns(person=named.person, location=named.stop, time=named.time),
                plan.data.clock,
            ),
            cells=cells,
            max_visits=plan.privacy.max_visits,
            unit=plan.privacy.unit,
            policy=hw.Policy(**dict(plan.problems)),
        ),
        wording=hw.Wording(rows="taps", counted="visits", universe=f"{words}."),
    )
