"""Areas that overlap: slivers are given to the first area, anything more is refused by name."""

import numpy as np
import pytest
import shapely

from hushway.errors import GeographyError
from hushway.families.density.public.tower_geometry import tessellation
from hushway.geography.areas import Area, Areas

STEP = 0.01


def areas_of(*shapes: shapely.Geometry) -> Areas:
    return Areas(
        areas=tuple(Area(id=f"a{i}", name="", shape=shape) for i, shape in enumerate(shapes))
    )


def block(
    column: float, row: float = 0.0, *, wide: float = 1.0, high: float = 1.0
) -> shapely.Polygon:
    return shapely.box(
        2.3 + column * STEP,
        48.8 + row * STEP,
        2.3 + (column + wide) * STEP,
        48.8 + (row + high) * STEP,
    )


def test_areas_that_only_share_borders_are_left_as_they_are() -> None:
    areas = areas_of(block(0), block(1), block(0, 1), block(1, 1))
    assert shapely.equals_exact(tessellation(areas), areas.projected).all()


def test_a_sliver_in_two_areas_is_given_to_the_first() -> None:
    areas = areas_of(block(0, wide=1 + 5e-5), block(1))
    shapes = tessellation(areas)
    sizes = shapely.area(shapes)
    assert sizes[0] == pytest.approx(areas.sizes[0], rel=1e-12)
    assert sizes[1] == pytest.approx(areas.sizes[1] * (1 - 5e-5), rel=1e-9)
    assert sizes.sum() == pytest.approx(shapely.union_all(areas.projected).area, rel=1e-9)


def test_a_sliver_in_three_areas_is_given_once() -> None:
    wide = 1 + 4e-5
    areas = areas_of(block(0, wide=wide), block(1), block(0, 0.99998, wide=2))
    shapes = tessellation(areas)
    whole = shapely.union_all(areas.projected).area
    assert shapely.area(shapes).sum() == pytest.approx(whole, rel=1e-9)
    assert areas.sizes.sum() > whole * (1 + 1e-6)


def test_areas_that_overlap_are_refused_with_the_worst_pairs_first() -> None:
    shapes = [block(2 * i, wide=1.0) for i in range(8)]
    extra = [block(2 * i + 0.5, wide=0.5 + 0.01 * i) for i in range(1, 8)]
    with pytest.raises(GeographyError) as caught:
        tessellation(areas_of(*shapes, block(0.9), *extra))
    message = str(caught.value)
    assert message.startswith("Areas overlap each other: 'a1' and 'a9' (98.04% of the smaller), ")
    assert message.index("'a2'") < message.index("'a3'") < message.index("'a5'")
    assert "'a6'" not in message
    assert "and 3 more pairs" in message
    assert caught.value.advice


@pytest.mark.parametrize("shared", [0.011, 0.02, 0.5])
def test_more_than_a_sliver_is_refused(shared: float) -> None:
    with pytest.raises(GeographyError, match="'a0' and 'a1'"):
        tessellation(areas_of(block(0, wide=1 + shared), block(1)))


def test_an_area_inside_another_one_is_refused() -> None:
    with pytest.raises(GeographyError, match=r"100\.00% of the smaller"):
        tessellation(areas_of(block(0), block(0.4, 0.4, wide=0.01, high=0.01)))


def test_an_area_in_the_hole_of_another_one_is_fine() -> None:
    hole = block(0.4, 0.4, wide=0.1, high=0.1)
    areas = areas_of(shapely.difference(block(0), hole), hole)
    assert shapely.area(tessellation(areas)) == pytest.approx(areas.sizes)


def test_the_list_of_areas_itself_is_not_changed() -> None:
    areas = areas_of(block(0, wide=1 + 5e-5), block(1))
    before = areas.projected.copy()
    tessellation(areas)
    assert all(one is other for one, other in zip(areas.projected, before, strict=True))
    assert np.isfinite(areas.sizes).all()
