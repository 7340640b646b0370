"""A picture of a density release, drawn from the published numbers alone."""

from matplotlib.figure import Figure

from hushway.arrays import IntArray
from hushway.families.density.files.area_map import shapes_of
from hushway.families.density.files.hour_maps import (
    Box,
    draw_hours,
    draw_noise,
    draw_noise_legend,
    height_of_map,
    height_of_maps,
)
from hushway.families.density.files.hours_shown import bins_shown
from hushway.families.density.files.series_panel import areas_shown, draw_area, draw_total
from hushway.families.density.mechanism.table import DensityTable
from hushway.privacy.certificate import Certificate
from hushway.release.poster import TALL, png_of, poster, write_words
from hushway.release.wording import claim_text

# In parts of the figure.
_LEFT, _WIDTH, _BOTTOM = 0.015, 0.97, 0.185
_LOWEST_MAPS, _HIGHEST_MAPS = 0.12, 0.29


def draw_density_picture(table: DensityTable, certificate: Certificate) -> bytes:
    """Returns a PNG: maps of some hours, series of the city and of areas, and the noise."""
    bins = bins_shown(table.universe.periods, table.counts.sum(axis=0))
    areas = areas_shown(table.counts.sum(axis=1))
    shapes = shapes_of(table.universe.areas)
    with poster(TALL) as figure:
        high = height_of_maps(figure, _WIDTH, shapes, len(bins))
        high = min(max(high, _LOWEST_MAPS), _HIGHEST_MAPS)
        figure.text(_LEFT, 0.89, "Visits per square kilometre", fontsize=11)
        draw_hours(figure, (_LEFT, 0.85 - high, _WIDTH, high), shapes, table, bins)
        # Flat cities leave room for the panels below.
        top = 0.85 - high - 0.08
        draw_total(figure.add_axes((0.06, _BOTTOM, 0.25, top - _BOTTOM)), table, bins)
        _draw_series(figure, (0.37, _BOTTOM, 0.25, top - _BOTTOM), table, areas)
        high = min(top - _BOTTOM - 0.01, height_of_map(figure, 0.325, shapes))
        noise = figure.add_axes((0.66, top - high, 0.325, high))
        draw_noise(noise, shapes, table, areas)
        noise.set_title("Standard error as a share of the mean", loc="left", fontsize=11, pad=6)
        draw_noise_legend(figure, (0.66, top - high - 0.015))
        write_words(figure, certificate, _caption(table, certificate))
        return png_of(figure)


def _draw_series(figure: Figure, box: Box, table: DensityTable, areas: IntArray) -> None:
    """Draws the series of some areas, one below the other."""
    left, bottom, width, height = box
    top = bottom + height
    figure.text(left, top + 0.0115, "Single areas, ±2 standard errors", fontsize=11)
    each = height / len(areas)
    for i, area in enumerate(areas.tolist()):
        axes = figure.add_axes((left, top - (i + 1) * each, width, each - 0.035))
        draw_area(axes, table, area, number=i + 1, last=i == len(areas) - 1)


def _caption(table: DensityTable, certificate: Certificate) -> str:
    universe = table.universe
    return (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. A visit is one "
        f"{certificate.terms.unit} seen in one bin of time. Upper maps: "
        f"{_several(len(universe.areas), 'area')}, all with one scale; their bins are the "
        "orange dots below. Series: "
        f"{_several(universe.bins, 'bin')} on the wall clock of {universe.periods.zone}. Bands "
        "show what each count is expected to be off by. Counts of one area err together, and so do "
        f"those of areas that were measured in one cluster ({len(table.measured_series):,} in "
        "all), so their sum has no band. Last map: root mean square of the standard errors of an "
        "area, divided by its mean count."
    )


def _several(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
