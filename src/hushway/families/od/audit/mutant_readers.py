"""A wrong reader: people whose trips lie in several files count once in each."""

from typing import Any

from hushway.audit.mutant_readers import Summed, files_of
from hushway.families.od.rows.duckdb import DuckDBTrips
from hushway.families.od.rows.trips import TripsSource
from hushway.privacy.query import Counter


def trips_file_by_file(*, source: TripsSource, **options: Any) -> Counter:
    """Returns a counter of trips that bounds people in each file by itself."""
    return Summed([DuckDBTrips(source=one, **options) for one in files_of(source)])
