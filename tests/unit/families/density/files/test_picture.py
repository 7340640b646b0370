import dataclasses
import struct
from datetime import date

import numpy as np
import pytest
from matplotlib.figure import Figure

from hushway.families.density.files.picture import (
    draw_areas,
    draw_density_picture,
    relative_errors,
    shapes_of,
)
from hushway.families.density.files.series_panel import (
    areas_shown,
    bin_words,
    bins_shown,
    draw_area,
    draw_total,
)
from hushway.families.density.fit.table import DensityTable
from support.density_scenes import (
    bins_of,
    by_positions,
    density_certificate,
    density_of,
    rectangles,
)
from support.long import often

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("grid", "window"),
    often(
        [((5, 1), (1, 1440)), ((1, 5), (31, 60)), ((25, 20), (2, 720)), ((70, 72), (7, 60))],
        first=2,
    ),
    ids=["one period", "a month", "half days", "5,040 areas"],
)
def test_every_density_has_a_picture(*, grid: tuple[int, int], window: tuple[int, int]) -> None:
    table = density_of(by_positions(rectangles(*grid), bins_of(*window)))
    picture = draw_density_picture(table, density_certificate(table))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 1036)


def test_an_empty_city_has_a_picture(density: DensityTable) -> None:
    empty = dataclasses.replace(density, counts=np.zeros_like(density.counts))
    assert draw_density_picture(empty, density_certificate(density)).startswith(PNG)


def test_maps_show_four_hours_of_the_busiest_working_day() -> None:
    periods = bins_of(7, 60, date(2007, 9, 10))
    totals = np.ones(168)
    totals[3 * 24 + 5] = 9
    totals[5 * 24 + 5] = 99
    assert bins_shown(periods, totals).tolist() == [72 + hour for hour in (4, 9, 13, 21)]
    assert bin_words(periods, 72 + 9) == "Thu 13 Sep, 09:00-10:00"
    weekend = bins_of(2, 60, date(2007, 9, 15))
    assert bins_shown(weekend, np.arange(48.0)).tolist() == [24 + hour for hour in (4, 9, 13, 21)]


@pytest.mark.parametrize(
    ("days", "minutes", "expected"),
    [
        (1, 1440, [0]),
        (3, 1440, [0, 1, 2]),
        (31, 1440, [0, 10, 20, 30]),
        (2, 720, [2, 3]),
        (1, 360, [0, 1, 2, 3]),
        (1, 180, [1, 3, 4, 7]),
    ],
)
def test_short_days_and_long_bins_are_shown_as_far_as_they_go(
    *, days: int, minutes: int, expected: list[int]
) -> None:
    periods = bins_of(days, minutes)
    assert bins_shown(periods, np.arange(float(len(periods)))).tolist() == expected


def test_hours_outside_the_service_day_are_shown_at_its_ends() -> None:
    periods = dataclasses.replace(bins_of(1, 60), opens=360, closes=1200)
    assert bins_shown(periods, np.ones(14)).tolist() == [0, 3, 7, 13]


def test_areas_are_chosen_from_the_busiest_to_the_middle() -> None:
    assert areas_shown(np.array([3.0])).tolist() == [0]
    assert areas_shown(np.array([1.0, 5.0, 3.0])).tolist() == [1, 2]
    assert areas_shown(np.arange(100.0)).tolist() == [99, 89, 49]


def test_relative_errors_are_those_of_the_mean(density: DensityTable) -> None:
    counts, errors = density.counts.copy(), density.standard_error
    counts[1] = 0
    shares = relative_errors(dataclasses.replace(density, counts=counts))
    assert shares[0] == pytest.approx(np.sqrt((errors[0] ** 2).mean()) / counts[0].mean())
    assert shares[1] == np.inf


def test_outlines_keep_holes_and_parts() -> None:
    areas = rectangles(3, 2)
    shapes = shapes_of(areas)
    for outline, shape in zip(shapes.outlines, areas.projected, strict=True):
        polygons = outline.to_polygons(closed_only=True)
        assert len(polygons) == 1 + (shape is areas.projected[0] or shape is areas.projected[-1])
        # Holes run the other way round, so their signed size is taken off.
        size = sum(
            0.5 * float(np.sum(p[:-1, 0] * p[1:, 1] - p[1:, 0] * p[:-1, 1])) for p in polygons
        )
        assert size == pytest.approx(shape.area, rel=0.01)
    axes = Figure().add_subplot()
    draw_areas(axes, shapes, np.tile([0.1, 0.2, 0.3, 1.0], (len(areas), 1)))
    (drawn,) = axes.collections
    assert len(drawn.get_paths()) == len(areas)


def test_the_series_show_the_published_numbers(density: DensityTable) -> None:
    axes = Figure().add_subplot()
    draw_total(axes, density, np.array([1, 2]))
    assert axes.lines[0].get_ydata().tolist() == density.counts.sum(axis=0).tolist()
    axes = Figure().add_subplot()
    draw_area(axes, density, 2, number=1, last=True)
    assert axes.lines[0].get_ydata().tolist() == density.counts[2].tolist()
    (band,) = axes.collections
    high = density.counts[2] + 2 * density.standard_error[2]
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(high.max())
    assert [text.get_text() for text in axes.texts] == ["1  Quarter 2 “$x$”"]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["Mon\n2 Mar", "Tue"]
