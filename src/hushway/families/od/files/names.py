"""What the files of an OD release are called."""

from typing import Final

PARQUET: Final = "trips.parquet"
CSV: Final = "trips.csv"
OMX: Final = "trips.omx"
FLOWS: Final = "flowmap/flows.csv"
FLOW_LOCATIONS: Final = "flowmap/locations.csv"
LINES: Final = "flows.parquet"
LOCATIONS: Final = "places.csv"
MARGINS: Final = "margins.parquet"
MARGINS_CSV: Final = "margins.csv"
ADDS_UP: Final = "adds-up.json"
FEATURES: Final = "published_totals.json"
PAIRS: Final = "pairs.parquet"
ESTIMATES: Final = "estimates.parquet"
TIDES: Final = "tides/station_activities.csv"
TIDES_PACKAGE: Final = "tides/datapackage.json"
