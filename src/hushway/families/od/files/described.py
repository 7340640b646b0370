"""What the files of an OD release say of themselves: descriptions and columns."""

from typing import Any, Final

from hushway.families.od.files.margins import schema_of
from hushway.families.od.files.names import FEATURES
from hushway.families.od.files.pairs import pair_columns
from hushway.families.od.files.rows import COLUMNS
from hushway.families.od.files.tides import COLUMNS as TIDES_COLUMNS
from hushway.families.od.files.view import ODView
from hushway.release.folder.published_file import columns_schema, table_schema
from hushway.release.formats.geoparquet import GEOMETRY


def rows_words(view: ODView) -> str:
    """Returns what the table says of cells without a row."""
    if view.zeros_left_out:
        return "The published table. A cell without a row is published as 0."
    if view.threshold is None:
        return "The published table. Every public cell has a row, those with a count of 0 too."
    return (
        f"The published table. A cell without a row was measured below {view.threshold}; it is not "
        "known to be 0."
    )


def _error_of(view: ODView) -> str:
    if not view.margins:
        return "the noise in the count"
    if view.margins[0].errors is None:
        return "the noise in the cell's own measurement, before the fit"
    return "the error that is left in the count, as learnt from all noisy counts"


_INTERVAL_WORDS: Final = (
    ("number", "Lower end of an interval of 95%: 1.96 standard errors below the count, or 0."),
    ("number", "Upper end of it: 1.96 standard errors above the count."),
)


def trips_schema(view: ODView) -> dict[str, Any]:
    """Returns the columns of the table."""
    error = f"Standard deviation of {_error_of(view)}, in trips."
    words = (
        ("string", "Label of the period, as in periods.csv."),
        ("string", "Id of the place where trips start, as in places.csv."),
        ("string", "Id of the place where trips end, as in places.csv."),
        ("integer", "Published number of trips over all days of the window."),
        ("number", error),
        *_INTERVAL_WORDS,
    )
    return columns_schema(COLUMNS, words, key=["period", "origin", "destination"])


def lines_schema(view: ODView) -> dict[str, Any]:
    """Returns the columns of flows as lines."""
    schema = trips_schema(view)
    line = {"name": GEOMETRY, "type": "any", "description": "A line string, as WKB."}
    return {**schema, "fields": [*schema["fields"], line]}


def flows_words(view: ODView) -> str:
    """Returns what the times of flows mean."""
    cycle = view.universe.periods.cycle
    which = {"week": " with its weekday", "day_type": " of its type"}.get(cycle, "")
    when = "its day" if cycle == "window" else f"the first day of the window{which}"
    count = "of that day" if cycle == "window" else f"over all{' such' if which else ''} days"
    return (
        f"The rows above 0. The time is the start of the period on {when}, because viewers want a "
        f"date; the count is {count}."
    )


def omx_words(view: ODView) -> str:
    """Returns how matrices are arranged."""
    return (
        "One matrix a period, named after it; rows are origins, columns are destinations, in the "
        "order of places.csv. A cell without a row is "
        f"{'published as ' if view.zeros_left_out else ''}0."
    )


def margins_words(view: ODView) -> str:
    """Returns what sums are over."""
    titles = ", ".join(feature.title for feature in view.features)
    return (
        f"The trips of every element of the published totals: {titles}. A count is the sum of "
        "the rows of "
        "trips.parquet in the element, exactly."
    )


_MARGIN_WORDS: Final = (
    ("string", f"Title of the published total, as in {FEATURES}."),
    ("string", "Class of the periods that are summed over; empty if it is all of them."),
    ("string", "Class of the pairs that are summed over; empty if it is all of them."),
    ("integer", "Published number of trips: the sum of the published rows."),
    ("integer", "Noisy number of trips, as measured before the fit; may be negative."),
    ("number", "Standard deviation of the noise in the measurement, in trips."),
    ("integer", "The count minus the measurement."),
)
_MEASURED_INTERVAL_WORDS: Final = (
    ("number", "Lower end of an interval of 95% around the measurement, not below 0."),
    ("number", "Upper end of it, not below 0."),
)
_LEARNT_ERROR: Final = ("number", "Standard deviation of the error in the count, in trips.")


def is_learnt(view: ODView) -> bool:
    """Whether errors of sums were learnt."""
    return bool(view.margins) and view.margins[0].errors is not None


def margins_schema(view: ODView) -> dict[str, Any]:
    """Returns the columns of sums."""
    learnt = is_learnt(view)
    own = (_LEARNT_ERROR, *_INTERVAL_WORDS) if learnt else _MEASURED_INTERVAL_WORDS
    return columns_schema(
        schema_of(view.margins).names,
        (*_MARGIN_WORDS, *own),
        key=["published_total", "period", "pair"],
    )


def pairs_schema(view: ODView) -> dict[str, Any]:
    """Returns the columns of labels of pairs."""
    columns = pair_columns(view.features).labels
    return table_schema(
        ("origin", "string", "Id of the place where trips start, as in places.csv."),
        ("destination", "string", "Id of the place where trips end, as in places.csv."),
        *((name, "string", "Class of the pair of places.") for name in columns),
        key=["origin", "destination"],
    )


def tides_schema() -> dict[str, Any]:
    """Returns the columns of TIDES' station activities."""
    words = {
        "service_date": ("date", "Day of service."),
        "stop_id": ("string", "Id of the place, as in places.csv."),
        "time_period_start": ("datetime", "Start of the period on the wall clock."),
        "time_period_end": ("datetime", "End of the period on the wall clock."),
        "time_period_category": ("string", "Name of the part of the day."),
        "total_entries": ("integer", "Published number of trips that start there and then."),
    }
    unknown = ("integer", "Not known: empty.")
    return columns_schema(
        TIDES_COLUMNS,
        [words.get(name, unknown) for name in TIDES_COLUMNS],
        key=["service_date", "stop_id", "time_period_start", "time_period_end"],
    )
