from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.product import Product
from hushway.errors import AuditError
from hushway.families.density.audit.stage import (
    CELLS,
    LONE_SITES,
    SHARED,
    SITES,
    TOGETHER,
    Stay,
    staged,
)
from hushway.families.density.audit.whole import SpreadCheck, parts_missing

STAGE = staged(Product(), Fraction(1), corners=3, bins=2, most=4)
DISTRICT = STAGE.district


def test_a_scene_plays_at_every_corner_with_people_of_its_own() -> None:
    rows = STAGE.play((Stay(site=1, bin=0, times=2), Stay(site=2, bin=1, person=1)))
    assert rows["person"].tolist() == [0, 0, 2, 2, 4, 4, 1, 3, 5]
    assert rows["site"].tolist() == [1, 1, 13, 13, 25, 25, 2, 14, 26]
    assert rows["bin"].tolist() == [0] * 6 + [1] * 3


def test_nobody_has_no_events() -> None:
    rows = STAGE.play(())
    assert len(rows["person"]) == len(rows["site"]) == len(rows["bin"]) == 0


def test_cells_of_a_corner_hold_no_ground_of_another() -> None:
    cover = DISTRICT.universe.cover
    assert (cover.cell // CELLS == cover.pieces.site // SITES).all()
    assert (cover.pieces.area // 4 == cover.pieces.site // SITES).all()
    assert cover.is_site.tolist() == [False, False, False, True] * 3


def test_sites_lie_in_the_cells_that_their_names_say() -> None:
    cell, site, _ = DISTRICT.universe.cover.quantised(1024)
    held = {number: cell[site == number].tolist() for number in range(SITES)}
    assert [held[number] for number in LONE_SITES] == [[0], [1], [2], [3]]
    assert [held[number] for number in TOGETHER] == [[0]] * 8
    assert held[SHARED] == [0, 1, 2]


@pytest.mark.parametrize("quanta", [1, 7, 1000, 1024])
@pytest.mark.parametrize("site", range(SITES))
def test_a_visit_at_any_site_is_one_visit(site: int, quanta: int) -> None:
    assert parts_missing(STAGE, site, quanta).tolist() == [0] * 3


def test_a_series_is_looked_at_corner_by_corner() -> None:
    values = np.arange(3 * CELLS * 2)
    assert DISTRICT.series_by_corner(values)[2, 1].tolist() == [18, 19]


def check(*widths: float) -> SpreadCheck:
    def sample(runs: int) -> IntArray:
        rng = np.random.default_rng(3)
        squares = 1000 * (np.array(widths) * rng.standard_normal((runs, len(widths)))) ** 2
        return np.rint(squares).astype(np.int64)

    return SpreadCheck(
        name="spread",
        statistics=tuple(f"question {number}" for number in range(len(widths))),
        epsilon=Fraction(1),
        delta=Fraction(1, 100),
        sample=sample,
    )


def test_noise_as_wide_as_was_paid_for_passes() -> None:
    assert check(1, 1, 1).examine(5000).passed


@pytest.mark.parametrize("width", [0.0, 0.5, 1.5])
def test_one_question_with_other_noise_fails_and_is_named(width: float) -> None:
    finding = check(1, 1, width, 1).examine(5000)
    assert not finding.passed
    assert finding.event.startswith("question 2 has")


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(AuditError, match="show nothing"):
        check(1).examine(10)
