"""A density as a page draws it: areas with their visits in every period."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely

from hushway.arrays import FloatArray
from hushway.families.density.files.averages import average_days
from hushway.families.density.files.check import MOST_CELLS
from hushway.families.density.files.published import PARQUET
from hushway.families.density.files.rows import read_density_parquet
from hushway.families.density.files.universe import read_universe
from hushway.geography.areas import Areas
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.atlas import AtlasPlaces, Drawing, Numbers, Rings
from hushway.release.drawing.atlas_parts import kept_starts, shown_periods, thinned
from hushway.release.folder.guard import check_size
from hushway.release.terms import check_domain

COUNTED = "visits"


def draw_density(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    """Returns what a density shows, as `Family.drawing` asks."""
    universe, _ = read_universe(folder, facts)
    check_domain(certificate, universe)
    check_size(universe.size, MOST_CELLS)
    counts, errors = read_density_parquet(folder / PARQUET, universe)
    periods = universe.averages or universe.periods
    if universe.averages is not None:
        counts, errors = average_days(universe, counts), average_days(universe, errors)
    return Drawing(
        counted=COUNTED,
        window=universe.counted,
        periods=shown_periods(periods),
        places=_places(universe.areas),
        totals=Numbers(
            count=counts.ravel(),
            error=errors.ravel(),
            meaning="Published visits of an area in a period, "
            f"{universe.counted}. The error is what the count is "
            "expected to be off by.",
        ),
        notes=(
            known_words(counts, errors),
            "How far a sum over several areas or periods may be off is not published.",
        ),
    )


# A count is known if 1.96 of its errors are at most this share of it.
_KNOWN: Final = 0.5


def known_words(counts: FloatArray, errors: FloatArray) -> str:
    """Returns how much of what is published is known, and that it is no map if that is little."""
    sure = counts[1.96 * errors <= _KNOWN * counts].sum() / max(float(counts.sum()), 1e-9)
    words = f"{sure:.0%} of the visits are in counts that are known to within half of themselves."
    if sure < _KNOWN:
        words += (
            " This is no map of where people are: busy areas may be several times as busy as "
            "published, and what is known is sums over many areas or periods."
        )
    return words


def _places(areas: Areas) -> AtlasPlaces:
    points = shapely.point_on_surface(areas.shapes)
    return AtlasPlaces(
        ids=areas.ids,
        names=[area.name for area in areas.areas],
        lon=np.asarray(shapely.get_x(points), dtype=np.float64),
        lat=np.asarray(shapely.get_y(points), dtype=np.float64),
        shapes=_rings(areas),
    )


def _rings(areas: Areas) -> Rings:
    parts, place = shapely.get_parts(areas.shapes, return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    positions = shapely.get_coordinates(rings)
    sizes = shapely.get_num_coordinates(rings)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    lon, lat = positions[:, 0], positions[:, 1]
    keep = thinned(lon, lat, starts)
    if keep is not None:
        lon, lat, starts = lon[keep], lat[keep], kept_starts(starts, keep)
    return Rings(lon=lon, lat=lat, starts=starts, place=place[part].astype(np.int64))
