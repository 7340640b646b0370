import dataclasses
import struct
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure

from hushway.families.od.files.adds_up import (
    PublishedSums,
    published_sums,
    sums_by_pair,
    sums_by_period,
)
from hushway.families.od.files.error_panel import MOST_SHOWN, draw_errors
from hushway.families.od.files.picture import draw_periods, draw_picture, measured_periods
from hushway.families.od.fit.table import ODTable
from support.od_scenes import small_certificate

PNG = b"\x89PNG\r\n\x1a\n"


def empty(table: ODTable) -> ODTable:
    nothing = np.zeros(0, dtype=np.int64)
    return ODTable(
        universe=table.universe,
        cells=nothing,
        counts=nothing,
        standard_errors=np.zeros(0),
        threshold=1000,
    )


@pytest.mark.parametrize("make", [lambda t: t, empty], ids=["full", "empty"])
def test_every_table_has_a_picture(table: ODTable, make: Callable[[ODTable], ODTable]) -> None:
    picture = draw_picture(make(table), small_certificate(table))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 924)


def test_letters_that_the_font_lacks_do_not_stop_a_picture(table: ODTable) -> None:
    picture = draw_picture(table, small_certificate(table, title="東京の移動 $x^2$ \\frac"))
    assert picture.startswith(PNG)


def test_sums_carry_their_noise(table: ODTable) -> None:
    periods = sums_by_period(table)
    assert periods.totals.tolist() == table.counts.reshape(4, 20).sum(axis=1).tolist()
    variances = (table.standard_errors**2).reshape(4, 20)
    np.testing.assert_allclose(periods.standard_errors, np.sqrt(variances.sum(axis=1)))
    pairs = sums_by_pair(table)
    assert pairs.totals.tolist() == table.counts.reshape(4, 20).sum(axis=0).tolist()
    np.testing.assert_allclose(pairs.standard_errors, np.sqrt(variances.sum(axis=0)))


def test_zeros_that_are_left_out_carry_noise_too(summed: ODTable) -> None:
    periods = sums_by_period(summed)
    for period, error in enumerate(periods.standard_errors):
        own = summed.standard_errors[summed.cells // 20 == period]
        assert error == pytest.approx(np.sqrt(20 * np.mean(own**2)))


def axes_of(draw: Callable[[Axes], object]) -> Axes:
    figure = Figure()
    axes = figure.add_subplot()
    draw(axes)
    return axes


def texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_picture_with_sums_is_taller(summed: ODTable) -> None:
    picture = draw_picture(summed, small_certificate(summed))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 1036)


def test_intervals_of_periods_come_from_their_own_measurement(summed: ODTable) -> None:
    margins = published_sums(summed)
    found = measured_periods(margins)
    assert found is margins[1]
    axes = axes_of(lambda axes: draw_periods(axes, summed, margins))
    assert axes.get_title(loc="left") == "Trips of each period, ±2 standard errors"
    [bars] = [c for c in axes.containers if isinstance(c, ErrorbarContainer)]
    [(_, top), *_] = bars.lines[2][0].get_segments()
    first = summed.counts[summed.cells < 20].sum()
    assert top[1] == pytest.approx(first + 2 * margins[1].standard_error)


def test_periods_that_were_not_measured_have_no_intervals(summed: ODTable) -> None:
    margins = published_sums(summed)[2:]
    assert measured_periods(margins) is None
    axes = axes_of(lambda axes: draw_periods(axes, summed, margins))
    assert not any(isinstance(each, ErrorbarContainer) for each in axes.containers)


def test_the_errors_of_all_features_are_shown_with_their_numbers(summed: ODTable) -> None:
    margins = published_sums(summed)
    axes = axes_of(lambda axes: draw_errors(axes, margins))
    assert axes.get_xscale() == "log"
    shown = texts(axes)
    for words in ("total", "1 sum", "zones", "16 sums", "5", f"{margins[0].standard_error:.3g}"):
        assert words in shown


def test_sums_without_noise_or_residual_can_be_drawn(summed: ODTable) -> None:
    exact = [
        PublishedSums(
            feature=sums.feature, counts=sums.counts, measured=sums.counts, standard_error=0.0
        )
        for sums in published_sums(summed)
    ]
    assert texts(axes_of(lambda axes: draw_errors(axes, exact))).count("0") == 10


def test_long_titles_and_many_features_find_room(summed: ODTable) -> None:
    sums = published_sums(summed)[1]
    feature = dataclasses.replace(sums.feature, title="trips of each period of the day")
    many = [dataclasses.replace(sums, feature=feature)] * 9
    axes = axes_of(lambda axes: draw_errors(axes, many))
    assert texts(axes).count("trips of each …") == MOST_SHOWN


def test_pairs_without_rows_are_not_enumerated(table: ODTable) -> None:
    few = ODTable(
        universe=table.universe,
        cells=np.array([3, 23, 45], dtype=np.int64),
        counts=np.array([10, 20, 40], dtype=np.int64),
        standard_errors=np.array([3.0, 4.0, 1.0]),
        threshold=5,
    )
    sums = sums_by_pair(few)
    assert sums.keys.tolist() == [3, 5]
    assert sums.totals.tolist() == [30, 40]
    assert sums.standard_errors.tolist() == [5, 1]
