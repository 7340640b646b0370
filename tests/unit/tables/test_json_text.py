"""Texts of GeoJSON are Unicode, or refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.read import read_roads
from hushway.tables.areas import read_areas
from hushway.tables.locations import read_locations

HALF = "caf\ud800"
SHAPES = {
    read_locations: {"type": "Point", "coordinates": [0, 0]},
    read_areas: {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]},
    read_roads: {"type": "LineString", "coordinates": [[0, 0], [0.01, 0]]},
}


@pytest.mark.parametrize("read", SHAPES)
@pytest.mark.parametrize("place", ["id", "name", HALF])
def test_half_a_character_is_refused(read: Any, place: str, tmp_path: Path) -> None:
    properties = {"id": "a", "class": "primary", place: HALF}
    feature = {"type": "Feature", "properties": properties, "geometry": SHAPES[read]}
    file = tmp_path / "file.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    with pytest.raises(GeographyError, match="half of a pair of surrogates") as caught:
        read(file)
    assert caught.value.advice


@pytest.mark.parametrize("coordinates", [[10**400, 0], [[[[1e308, 1e308], [-1e308, 1e308]]]]])
def test_numbers_that_are_too_large_are_refused(coordinates: Any, tmp_path: Path) -> None:
    kind = "Point" if isinstance(coordinates[0], int) else "MultiPolygon"
    geometry = {"type": kind, "coordinates": coordinates}
    feature = {"type": "Feature", "properties": {"id": "a"}, "geometry": geometry}
    file = tmp_path / "file.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    with pytest.raises(GeographyError):
        read_locations(file)
