import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from hushway.errors import PlanError
from hushway.families.sequences.mechanism.steps import (
    balanced_grain_shares,
    geometric_shares,
    paper_grain_shares,
    step_spends,
    uniform_shares,
)
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.loss import PureLoss, ZCDPLoss, total

MakeUniverse = Callable[..., SequenceUniverse]


def test_uniform_shares_are_the_papers() -> None:
    assert uniform_shares(12) == (Fraction(1, 12),) * 12


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(1), Fraction(7, 5), Fraction(10)])
@pytest.mark.parametrize("height", [1, 2, 7, 40])
def test_geometric_shares_are_positive_and_add_up_exactly(height: int, ratio: Fraction) -> None:
    shares = geometric_shares(height, ratio=ratio)
    assert sum(shares) == 1
    assert min(shares) > 0
    assert list(shares) == sorted(shares, reverse=ratio < 1)


def test_geometric_shares_grow_by_their_ratio() -> None:
    shares = geometric_shares(4, ratio=Fraction(2))
    assert [float(s) for s in shares] == pytest.approx([1 / 15, 2 / 15, 4 / 15, 8 / 15], abs=2e-6)


@pytest.mark.parametrize(("height", "ratio"), [(0, Fraction(1)), (3, Fraction(0))])
def test_a_tree_without_stops_or_without_shares_is_refused(height: int, ratio: Fraction) -> None:
    with pytest.raises(PlanError, match="at least one stop"):
        geometric_shares(height, ratio=ratio)


def test_without_groups_a_stop_is_one_step(make_universe: MakeUniverse) -> None:
    assert paper_grain_shares(make_universe(5).taxonomy) == (1,)


def test_groups_get_two_over_their_fan_out(make_universe: MakeUniverse) -> None:
    taxonomy = make_universe(40, [i // 20 for i in range(40)]).taxonomy
    assert paper_grain_shares(taxonomy) == (Fraction(1, 10), Fraction(9, 10))


@pytest.mark.parametrize("members", [1, 2, 3, 4])
def test_groups_of_few_locations_get_half_and_no_more(
    members: int, make_universe: MakeUniverse
) -> None:
    taxonomy = make_universe(12, [i // members for i in range(12)]).taxonomy
    assert paper_grain_shares(taxonomy) == (Fraction(1, 2), Fraction(1, 2))


def test_each_level_takes_its_part_of_what_is_left(make_universe: MakeUniverse) -> None:
    zones, lines = [i // 40 for i in range(80)], [i // 8 for i in range(80)]
    taxonomy = make_universe(80, zones, lines).taxonomy
    # Two zones of five lines: 2/5. Ten lines of eight stops: 1/4 of the other 3/5.
    assert paper_grain_shares(taxonomy) == (Fraction(2, 5), Fraction(3, 20), Fraction(9, 20))


def test_shares_of_an_uneven_fan_out_are_whole_millionths(make_universe: MakeUniverse) -> None:
    shares = paper_grain_shares(make_universe(17, [i % 3 for i in range(17)]).taxonomy)
    assert shares == (Fraction(352941, 10**6), Fraction(647059, 10**6))


def test_balanced_shares_go_as_the_logarithm_of_the_candidates(make_universe: MakeUniverse) -> None:
    taxonomy = make_universe(68, [i // 17 for i in range(68)]).taxonomy
    groups, places = balanced_grain_shares(taxonomy)
    assert groups + places == 1
    assert float(groups / places) == pytest.approx(math.log(1 + 4) / math.log(1 + 17), abs=1e-5)


@pytest.mark.parametrize("moments", [1, 24])
def test_balanced_shares_leave_half_to_the_locations(
    moments: int, make_universe: MakeUniverse
) -> None:
    lines, zones = [i // 2 for i in range(80)], [i // 40 for i in range(80)]
    shares = balanced_grain_shares(make_universe(80, zones, lines).taxonomy, moments=moments)
    assert len(shares) == 3
    assert sum(shares) == 1
    assert float(shares[-1]) == pytest.approx(0.5, abs=2e-6)


def test_without_groups_balanced_shares_are_one(make_universe: MakeUniverse) -> None:
    assert balanced_grain_shares(make_universe(5).taxonomy, moments=24) == (1,)


@pytest.mark.parametrize("budget", [PureLoss(Fraction(7, 11)), ZCDPLoss(Fraction(1, 13))])
def test_spends_add_up_to_the_budget_exactly(
    budget: PureLoss | ZCDPLoss, make_universe: MakeUniverse
) -> None:
    grains = paper_grain_shares(make_universe(17, [i % 3 for i in range(17)]).taxonomy)
    spends = step_spends(budget, geometric_shares(9, ratio=Fraction(6, 5)), grains)
    assert len(spends) == 18
    assert total(spends) == budget


@pytest.mark.parametrize("shares", [(), (Fraction(1, 2),), (Fraction(3, 2), Fraction(-1, 2))])
def test_shares_that_do_not_add_up_are_refused(shares: tuple[Fraction, ...]) -> None:
    with pytest.raises(PlanError, match="add up to exactly 1"):
        step_spends(PureLoss(Fraction(1)), shares, (Fraction(1),))
