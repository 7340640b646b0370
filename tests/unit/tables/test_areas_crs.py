"""Coordinates of a file to degrees, and CRS that cannot be right."""

import math
import struct
from typing import Any

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from pyproj import CRS, Transformer
from pyproj.network import is_network_enabled, set_network_enabled

from hushway.errors import GeographyError
from hushway.tables.crs import known_crs, to_degrees

PARIS = shapely.box(2.30, 48.80, 2.31, 48.81)


def shapes(*each: shapely.Geometry) -> NDArray[Any]:
    return np.array(each, dtype=object)


def moved_to(crs: str, shape: shapely.Geometry = PARIS) -> shapely.Geometry:
    forward = Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    return shapely.transform(shape, lambda xy: np.column_stack(forward.transform(*xy.T)))


def with_a_corner_at(lat: float) -> shapely.Geometry:
    """A damaged file may hold such a shape; shapely itself would not draw it."""
    wkb = bytearray(shapely.to_wkb(PARIS, byte_order=1))
    wkb[37:45] = struct.pack("<d", lat)
    with np.errstate(invalid="ignore"):
        return shapely.from_wkb(bytes(wkb))


def refusal(shape: shapely.Geometry, crs: str) -> str:
    with pytest.raises(GeographyError) as caught:
        to_degrees(shapes(shape), known_crs(crs, "the file"), "the file")
    assert caught.value.advice
    return str(caught.value)


@pytest.mark.parametrize("crs", ["EPSG:2154", "EPSG:32631", "EPSG:3857", "EPSG:4807", "EPSG:3035"])
def test_any_map_of_paris_leads_back_to_its_degrees(crs: str) -> None:
    found = to_degrees(shapes(moved_to(crs)), known_crs(crs, "it"), "it")
    assert shapely.equals_exact(found[0], PARIS, tolerance=1e-6)


@pytest.mark.parametrize("crs", ["EPSG:4326", "OGC:CRS84", CRS("EPSG:4326").to_json_dict()])
def test_degrees_are_left_alone_longitude_first(crs: Any) -> None:
    found = to_degrees(shapes(PARIS), known_crs(crs, "it"), "it")
    assert shapely.equals_exact(found[0], PARIS, tolerance=0)


@pytest.mark.parametrize("crs", ["EPSG:999999", "nonsense", "", {}, {"type": "x"}, 3.5, ["a"]])
def test_an_unknown_crs_is_refused(crs: Any) -> None:
    with pytest.raises(GeographyError, match="CRS of the file is unknown") as caught:
        known_crs(crs, "the file")
    assert "EPSG" in caught.value.advice
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("crs", ["EPSG:5773", "EPSG:4978"], ids=["heights", "geocentric"])
def test_a_crs_without_a_map_is_refused(crs: str) -> None:
    with pytest.raises(GeographyError, match="not a map or degrees"):
        known_crs(crs, "the file")


def test_a_crs_whose_unit_is_nothing_is_refused() -> None:
    wkt = CRS("EPSG:4326").to_wkt("WKT1_ESRI").replace("0.0174532925199433", "0.0")
    with pytest.raises(GeographyError, match="not a map or degrees"):
        known_crs(wkt, "the file")


@pytest.mark.parametrize(
    ("shape", "crs"),
    [
        (shapely.box(650_000, 6_860_000, 651_000, 6_861_000), "EPSG:4326"),
        (shapely.box(181, 40, 182, 41), "EPSG:4269"),
        (shapely.box(201, 40, 202, 41), "EPSG:4807"),
        (PARIS, "EPSG:2154"),
        (PARIS, "EPSG:2263"),
        (shapely.box(1e12, 1e12, 2e12, 2e12), "EPSG:32631"),
        (with_a_corner_at(math.inf), "EPSG:4326"),
        (with_a_corner_at(math.nan), "EPSG:4326"),
    ],
    ids=[
        "metres as degrees",
        "once around",
        "once around in grads",
        "degrees as metres",
        "degrees as feet",
        "not on earth",
        "infinite",
        "not a number",
    ],
)
def test_coordinates_that_cannot_be_in_their_crs_are_refused(
    shape: shapely.Geometry, crs: str
) -> None:
    assert "The coordinates of the file cannot be in the CRS" in refusal(shape, crs)


@pytest.mark.parametrize("crs", ["EPSG:4326", "OGC:CRS84", "EPSG:4269"])
def test_a_latitude_beyond_90_degrees_looks_swapped(crs: str) -> None:
    said = refusal(shapely.box(35, 139, 36, 140), crs)
    assert "Coordinates of the file have a latitude beyond 90 degrees" in said
    assert "look swapped" in said


def test_nothing_is_fetched_from_the_network() -> None:
    set_network_enabled(active=True)
    try:
        to_degrees(shapes(moved_to("EPSG:2154")), known_crs("EPSG:2154", "it"), "it")
        assert not is_network_enabled()
    finally:
        set_network_enabled(active=False)


def test_heights_are_left_out() -> None:
    found = to_degrees(shapes(shapely.force_3d(PARIS, 35.0)), known_crs("EPSG:4326", "it"), "it")
    assert not shapely.has_z(found[0])
