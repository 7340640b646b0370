import struct
from collections.abc import Callable

import numpy as np
import pytest

from hushway.artefact.flows import sums_by_pair, sums_by_period
from hushway.artefact.picture import draw_picture
from hushway.privacy.certificate import Certificate, Randomness
from hushway.releases.od.table import ODTable

Certify = Callable[..., Certificate]

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
def test_every_table_has_a_picture(
    table: ODTable, certify: Certify, make: Callable[[ODTable], ODTable]
) -> None:
    picture = draw_picture(make(table), certify(table))
    assert picture.startswith(PNG)
    assert struct.unpack(">II", picture[16:24]) == (1680, 924)


def test_the_same_release_gives_the_same_picture(table: ODTable, certify: Certify) -> None:
    assert draw_picture(table, certify(table)) == draw_picture(table, certify(table))


def test_the_stamp_is_in_the_picture(table: ODTable, certify: Certify) -> None:
    unprotected = Randomness(sampler="exact", source="a seed", private=False)
    stamped = draw_picture(table, certify(table, randomness=unprotected))
    assert stamped != draw_picture(table, certify(table))


def test_letters_that_the_font_lacks_do_not_stop_a_picture(
    table: ODTable, certify: Certify
) -> None:
    picture = draw_picture(table, certify(table, title="東京の移動 $x^2$ \\frac"))
    assert picture.startswith(PNG)


def test_sums_carry_their_noise(table: ODTable) -> None:
    periods = sums_by_period(table)
    assert periods.totals.tolist() == table.counts.reshape(4, 20).sum(axis=1).tolist()
    variances = (table.standard_errors**2).reshape(4, 20)
    np.testing.assert_allclose(periods.standard_errors, np.sqrt(variances.sum(axis=1)))
    pairs = sums_by_pair(table)
    assert pairs.totals.tolist() == table.counts.reshape(4, 20).sum(axis=0).tolist()
    np.testing.assert_allclose(pairs.standard_errors, np.sqrt(variances.sum(axis=0)))


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
