"""The picture of an OD release: the strongest flows, the trips of every period, and sums."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from hushway.arrays import FloatArray
from hushway.families.od.files.adds_up import (
    PublishedSums,
    published_sums,
    sums_by_pair,
    sums_by_period,
)
from hushway.families.od.files.error_panel import MOST_SHOWN, draw_errors
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import NOT_KNOWN
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.ground import (
    INK,
    MOST_FLOWS,
    TALL,
    WIDE,
    draw_places,
    draw_strongest,
    plane,
    png_of,
    poster,
    set_grid,
    set_title,
    write_words,
)
from hushway.release.wording import Sums, claim_text


def draw_map(axes: Axes, table: ODTable) -> int:
    """Draws the places and the strongest flows; returns how many flows are clear of the noise."""
    places = table.universe.locations
    points = plane(places)
    sums = sums_by_pair(table)
    draw_places(axes, points, [place.zone for place in places.places], _visits(table, sums))
    _, origin, destination = table.universe.decode(sums.keys)
    unknown = places.index.get(NOT_KNOWN, -1)
    # Flows within a place are not drawn, nor are those to a place that is nowhere.
    nowhere = (origin == unknown) | (destination == unknown)
    return draw_strongest(axes, points, sums, origin, np.where(nowhere, origin, destination))


def _visits(table: ODTable, sums: Sums) -> FloatArray:
    """Returns the published trips of each place, in and out."""
    places = len(table.universe.locations)
    _, origin, destination = table.universe.decode(sums.keys)
    ends = np.bincount(origin, sums.totals, places)
    return (ends + np.bincount(destination, sums.totals, places)).astype(np.float64)


_BAR = "#3a7c8b"
_95_PERCENT = 1.96
_TWO_ERRORS = 2.0
_WITHOUT_DIGITS = 10
_MOST_LABELS, _MOST_FLAT_LABELS = 15, 6


def draw_periods(axes: Axes, table: ODTable, margins: Sequence[PublishedSums]) -> None:
    """Draws the trips of every period, with the noise that they carry if it is known.

    The cells of a fitted table do not err independently, so only a measurement of the periods
    themselves tells their noise.
    """
    sums, periods = sums_by_period(table), table.universe.periods
    title = "Trips of each period" + (", average day" if periods.average else "")
    half = np.zeros(len(sums.keys))
    if not margins:
        half = _95_PERCENT * sums.standard_errors
        title += ", with 95% noise intervals"
    elif (measured := measured_periods(margins)) is not None:
        half = np.full(len(sums.keys), _TWO_ERRORS * measured.standard_error)
        title += ", ±2 standard errors"
    days = np.array(periods.days_counted if periods.average else [1])
    totals, half = sums.totals / days, half / days
    axes.bar(sums.keys, totals, width=0.82, color=_BAR, linewidth=0)
    if np.any(half):
        _draw_intervals(axes, totals, half)
    _set_ticks(axes, table.universe)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}" if totals.max() >= _WITHOUT_DIGITS else "{x:g}")
    set_grid(axes, "y")
    if periods.cycle == "day" and not periods.named:
        # Labels such as "Mon 08:00" need the room, and no explanation.
        axes.set_xlabel("start of the period", fontsize=8.5)
    set_title(axes, title)


def measured_periods(margins: Sequence[PublishedSums]) -> PublishedSums | None:
    """Returns the sums over single periods, if they were measured."""
    for sums in margins:
        feature = sums.feature
        if feature.pair_classes == 1 and feature.size == len(feature.universe.periods):
            return sums
    return None


def _draw_intervals(axes: Axes, totals: FloatArray, half: FloatArray) -> None:
    axes.errorbar(
        np.arange(len(totals)),
        totals,
        yerr=np.stack([np.minimum(half, totals), half]),
        fmt="none",
        ecolor=INK,
        elinewidth=1.1,
        capsize=2.2,
    )


def _set_ticks(axes: Axes, universe: ODCells) -> None:
    labels = universe.periods.labels
    step = math.ceil(len(labels) / _MOST_LABELS)
    positions = range(0, len(labels), step)
    axes.set_xticks(positions, universe.periods.short_labels[::step])
    flat = len(labels) <= _MOST_FLAT_LABELS
    axes.tick_params(axis="x", rotation=0 if flat else 60, length=0)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(-0.7, len(labels) - 0.3)


def draw_picture(table: ODTable, certificate: Certificate) -> bytes:
    """Returns a PNG: the flows that stand out from the noise, and the trips of every period.

    A table with sums that add up has a third panel: how far they are from what was measured.
    """
    margins = published_sums(table)
    with poster(TALL if margins else WIDE) as figure:
        flows = figure.add_axes(
            (0.015, 0.165, 0.52, 0.72) if margins else (0.015, 0.135, 0.52, 0.735)
        )
        clear = draw_map(flows, table)
        set_title(flows, "Flows that stand out from the noise")
        if margins:
            draw_periods(figure.add_axes((0.605, 0.57, 0.38, 0.315)), table, margins)
            draw_errors(figure.add_axes((0.695, 0.185, 0.215, 0.235)), margins)
        else:
            draw_periods(figure.add_axes((0.605, 0.215, 0.38, 0.655)), table, margins)
        write_words(figure, certificate, _caption(table, certificate, clear, margins))
        return png_of(figure)


def _caption(
    table: ODTable, certificate: Certificate, clear: int, margins: Sequence[PublishedSums]
) -> str:
    shown = "all" if clear <= MOST_FLOWS else f"the {MOST_FLOWS} largest"
    flows = (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. Lines bend to the "
        f"right of their way and are as wide as their trips: {shown} of the {clear:,} flows whose "
        "sum over all periods exceeds two standard errors of its noise; the weakest may be chance. "
    )
    return flows + (_sums_words(margins) if margins else _noise_words(table))


def _noise_words(table: ODTable) -> str:
    if table.zeros_left_out:
        lean = "cells without a row are published as 0"
    elif table.threshold is None:
        lean = "counts are never negative, so sums of many small ones lean upwards"
    else:
        lean = (
            f"only cells measured at {table.threshold} or more are in the table, so sums leave "
            "out the others and those near the threshold lean upwards"
        )
    return f"Sums take the errors of cells as independent. Intervals show noise alone: {lean}."


def _sums_words(margins: Sequence[PublishedSums]) -> str:
    periods = (
        "The periods were measured themselves: intervals show the noise of that measurement. "
        if measured_periods(margins) is not None
        else "The periods were not measured themselves, so no intervals are shown. "
    )
    which = "" if len(margins) <= MOST_SHOWN else f" (the {MOST_SHOWN} with the fewest sums)"
    return (
        "The noise of a flow is taken as that of its cells before the fit. "
        f"{periods}All sums add up exactly. Rings{which}: standard error of the noise that was "
        "added to a sum when it was measured. Dots: root mean square of published minus measured. "
        "A dot at or left of its ring means that the sums moved no further than the noise explains."
    )
