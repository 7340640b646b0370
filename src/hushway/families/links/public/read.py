"""Reads the public road network. Public, so its errors may name ids and places in the file."""

import zlib
from pathlib import Path

import numpy as np

from hushway.errors import GeographyError
from hushway.families.links.public.cleaning import network_of
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.geoparquet import is_links_parquet, read_links_parquet
from hushway.families.links.public.gmns import gmns_roads
from hushway.families.links.public.graphml import graphml_roads
from hushway.families.links.public.lines import RoadColumns, geojson_roads, geoparquet_roads
from hushway.families.links.public.osm import osm_roads
from hushway.families.links.public.report import RoadsReport
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.words import SpeedUnit
from hushway.tables.unpacking import refuse_unfit

__all__ = ["RoadColumns", "read_roads"]

_OSM = (".osm.pbf", ".pbf", ".osm", ".osm.gz", ".osm.bz2")
_GEOJSON = (".geojson", ".json", ".geojson.gz", ".json.gz")
_PARQUET = (".parquet", ".geoparquet", ".pq")
_LINK_FILE = "link.csv"


def read_roads(
    path: Path | str,
    *,
    columns: RoadColumns | None = None,
    crs: str | None = None,
    service: bool = False,
    speed_unit: SpeedUnit | None = None,
) -> tuple[RoadNetwork, RoadsReport]:
    """Reads roads, turns them into WGS84 degrees and cleans them.

    Args:
        path: OpenStreetMap as .pbf, .osm, .osm.gz or .osm.bz2; .graphml as osmnx writes it; a
            folder with link.csv and node.csv (GMNS); or lines as .geojson, .json, .parquet or
            .geoparquet.
        columns: Which column of GeoJSON or GeoParquet holds what.
        crs: What the coordinates mean, such as EPSG:2154; None for what the file says.
            OpenStreetMap is always in degrees.
        service: Whether service roads of OpenStreetMap are read.
        speed_unit: What speeds without a unit mean in GMNS, GeoJSON and GeoParquet; None for what
            the file says, or else km/h.

    Raises:
        GeographyError: The file cannot be used; the message says why.
    """
    given = Path(path)
    file = given.parent if given.name == _LINK_FILE else given
    refuse_unfit(file)
    try:
        if file.name.lower().endswith(_PARQUET) and is_links_parquet(file):
            return _as_kept(read_links_parquet(file))
        # Corners that are no numbers are refused later, once and by name of the file.
        with np.errstate(invalid="ignore"):
            draft = _draft(file, columns or RoadColumns(), crs, speed_unit, service=service)
    except FileNotFoundError as missing:
        name = Path(missing.filename).name if missing.filename else file.name
        raise GeographyError(f"There is no roads file {name}.", advice="Check its path.") from None
    except UnicodeDecodeError:
        raise GeographyError(
            f"The roads file {file.name} is not UTF-8.", advice="Save it as UTF-8."
        ) from None
    except (OSError, EOFError, zlib.error):
        raise GeographyError(
            f"The roads file {file.name} cannot be read.",
            advice="Check that it is a file, that it is whole and that you may read it.",
        ) from None
    return network_of(draft, file.name)


def _draft(
    file: Path,
    columns: RoadColumns,
    crs: str | None,
    speed_unit: SpeedUnit | None,
    *,
    service: bool,
) -> RoadDraft:
    name = file.name.lower()
    if not file.exists():
        raise FileNotFoundError(file.name)
    if file.is_dir():
        return gmns_roads(file, crs=crs, speed_unit=speed_unit)
    if name.endswith(_OSM):
        return osm_roads(file, service=service)
    if name.endswith(".graphml"):
        return graphml_roads(file, crs=crs)
    if name.endswith(_GEOJSON):
        return geojson_roads(file, columns, crs=crs, speed_unit=speed_unit)
    if name.endswith(_PARQUET):
        return geoparquet_roads(file, columns, crs=crs, speed_unit=speed_unit)
    raise GeographyError(
        f"The roads file {file.name} has an unknown format.",
        advice="Give .osm.pbf, .osm, .graphml, .geojson, .parquet, or a folder with link.csv.",
    )


def _as_kept(roads: RoadNetwork) -> tuple[RoadNetwork, RoadsReport]:
    """Returns a network that was cleaned before it was written."""
    report = RoadsReport(
        read=roads.links,
        kept=roads.links,
        dropped={},
        cut_off=0,
        turned=0,
        assumed_speeds=0,
        unknown_classes=(),
    )
    return roads, report
