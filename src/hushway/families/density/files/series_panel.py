"""The panels in the picture of a density that show series over the window."""

import math
from datetime import date

import numpy as np
from matplotlib.axes import Axes

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.table import DensityTable
from hushway.geography.areas import Areas
from hushway.geography.periods import Periods
from hushway.geography.service_day import WEEKDAYS
from hushway.release.drawing.ground import INK, LINE, set_grid, set_title, shortened

_SERIES, _MARK = "#3a7c8b", "#D55E00"
_TWO_ERRORS = 2.0
_FEW_BINS, _MANY_BINS = 40, 400
_MOST_LABELS = 8
_MOST_LETTERS = 44
_HALF_A_BIN = 0.5
_WITHOUT_DIGITS = 10


def areas_shown(totals: FloatArray) -> IntArray:
    """Returns the busiest area, one that few are busier than, and the one in the middle."""
    order = np.argsort(-totals, kind="stable")
    ranks = dict.fromkeys((0, len(order) // 10, len(order) // 2))
    return np.array([order[rank] for rank in ranks], dtype=np.int64)


def draw_total(axes: Axes, table: DensityTable, bins: IntArray) -> None:
    """Draws the visits of the whole city, and marks the bins that are shown as maps."""
    totals = table.counts.sum(axis=0)
    if len(totals) > 1:
        axes.fill_between(np.arange(len(totals)), totals, color=_SERIES, alpha=0.16, linewidth=0)
    else:
        axes.bar(0, totals, width=0.2, color=_SERIES, alpha=0.5)
    _draw_line(axes, totals)
    axes.scatter(bins, totals[bins], s=30, color=_MARK, edgecolors="white", lw=0.8, zorder=4)
    _set_days(axes, table.universe.periods, labels=True)
    _set_scale(axes, float(totals.max()))
    set_title(axes, "All areas together")


def draw_area(axes: Axes, table: DensityTable, area: int, *, number: int, last: bool) -> None:
    """Draws the series of one area between two standard errors below and above."""
    counts, errors = table.counts[area], table.standard_error[area]
    low, high = np.maximum(counts - _TWO_ERRORS * errors, 0), counts + _TWO_ERRORS * errors
    at = np.arange(len(counts))
    if len(counts) > 1:
        axes.fill_between(at, low, high, color=_SERIES, alpha=0.28, linewidth=0)
    else:
        axes.vlines(at, low, high, color=_SERIES, alpha=0.5, linewidth=4)
    _draw_line(axes, counts)
    _set_days(axes, table.universe.periods, labels=last)
    _set_scale(axes, float(high.max()))
    axes.locator_params(axis="y", nbins=3)
    axes.text(
        0.0,
        1.03,
        f"{number}  {_name(table.universe.areas, area)}",
        transform=axes.transAxes,
        fontsize=8.5,
        color=INK,
        va="bottom",
        parse_math=False,
    )


def _name(areas: Areas, area: int) -> str:
    return shortened(areas.areas[area].name or areas.ids[area], _MOST_LETTERS)


def _draw_line(axes: Axes, values: FloatArray) -> None:
    few = len(values) <= _FEW_BINS
    axes.plot(
        np.arange(len(values)),
        values,
        color=_SERIES,
        linewidth=1.4 if len(values) <= _MANY_BINS else 0.8,
        marker="o" if few else None,
        markersize=3.5,
    )


def _set_days(axes: Axes, periods: Periods, *, labels: bool) -> None:
    """Marks where days begin; in a window of one day, where some of its bins do."""
    bins, parts = len(periods), periods.parts
    axes.set_xlim(-_HALF_A_BIN, bins - _HALF_A_BIN)
    shown = days_shown(periods)
    if len(shown) == 1:
        step = math.ceil(bins / _MOST_LABELS)
        at: FloatArray = np.arange(0, bins, step, dtype=np.float64)
        words = [periods.part_clocks[int(i)][0] for i in at]
        if bins == 1:
            words = [day_words(periods, 0)]
        centred = True
    else:
        step = _day_step(len(shown))
        days = np.arange(0, len(shown), step)
        at = (days * parts).astype(np.float64) - (_HALF_A_BIN if parts > 1 else 0.0)
        words = [_day_label(periods, day) for day in days.tolist()]
        centred = parts == 1
    axes.set_xticks(at, words if labels else [""] * len(at))
    axes.tick_params(axis="x", length=0, labelsize=8)
    for text in axes.get_xticklabels():
        text.set_horizontalalignment("center" if centred else "left")
    axes.grid(axis="x", color=LINE, linewidth=0.8)


def _day_step(days: int) -> int:
    """Returns how many days lie between two labels: whole weeks if there are many."""
    if days <= _MOST_LABELS:
        return 1
    return 7 * math.ceil(days / (7 * _MOST_LABELS))


def _day_label(periods: Periods, day: int) -> str:
    weekday, _, date = day_words(periods, day).partition(" ")
    dated = date and (day == 0 or _day_step(len(periods.days)) > 1)
    return f"{weekday}\n{date}" if dated else weekday


def _set_scale(axes: Axes, most: float) -> None:
    axes.set_ylim(0, 1.08 * most if most > 0 else 1.0)
    # Few visits need digits behind the point, many need marks between thousands.
    axes.yaxis.set_major_formatter("{x:,.0f}" if most >= _WITHOUT_DIGITS else "{x:g}")
    axes.tick_params(axis="y", length=0, labelsize=8)
    set_grid(axes, "y")


MOST_MAPS = 4

_SATURDAY = 5
# Night, morning, midday and evening, in minutes after midnight.
_MOMENTS = (4 * 60, 9 * 60, 13 * 60, 21 * 60)


def bins_shown(periods: Periods, totals: FloatArray) -> IntArray:
    """Returns the bins to show: night, morning, midday and evening of the busiest working day.

    Days of few parts are shown with all of them; a series of days with some days of the window.
    """
    parts = periods.parts
    if parts == 1:
        shown = np.linspace(0, len(periods) - 1, min(MOST_MAPS, len(periods)))
        return np.rint(shown).astype(np.int64)
    if parts <= MOST_MAPS:
        part = np.arange(parts)
    else:
        wanted = (np.array(_MOMENTS) - periods.opens) // periods.minutes
        part = np.unique(np.clip(wanted, 0, parts - 1))
    return np.asarray(_busiest_day(periods, totals) * parts + part, dtype=np.int64)


def bin_words(periods: Periods, at: int) -> str:
    """Returns when a bin is, for readers: Thu 13 Sep, 09:00-10:00."""
    day, part = divmod(at, periods.parts)
    start, end = periods.part_clocks[part]
    words = day_words(periods, day)
    return words if periods.parts == 1 else f"{words}, {start}-{end}"


def days_shown(periods: Periods) -> tuple[date, ...]:
    """Returns a day for every day of bins: those of the window, or one of each weekday."""
    return periods.example_days[:: periods.parts]


def day_words(periods: Periods, number: int) -> str:
    """Returns a day of the bins for readers: Thu 13 Sep, or Thu if it stands for all of them."""
    if periods.cycle == "day_type":
        return periods.day_types[number].name
    day = days_shown(periods)[number]
    weekday = WEEKDAYS[day.weekday()]
    return weekday if periods.cycle == "week" else f"{weekday} {day.day} {day:%b}"


def _busiest_day(periods: Periods, totals: FloatArray) -> int:
    by_day = totals.reshape(-1, periods.parts).sum(axis=1)
    shown = days_shown(periods)
    working = [i for i, day in enumerate(shown) if day.weekday() < _SATURDAY]
    days = working or list(range(len(shown)))
    return max(days, key=lambda day: float(by_day[day]))
