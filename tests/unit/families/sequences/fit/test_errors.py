"""Errors of prefixes are learnt from the last look, and enlarged with caution.

Seeds are fixed, so nothing here fails by chance.
"""

import numpy as np

from hushway.families.sequences.fit.errors import (
    SURE,
    PublishedPrefixes,
    enlargement,
    once_chosen,
    standard_errors,
)
from hushway.families.sequences.fit.table import ends_of

BINS, PREFIXES, NOISE = 400, 80, 25.0


def factors(truly: float) -> list[float]:
    """Returns what is learnt in many bins of prefixes whose variances are too small by a factor."""
    rng = np.random.default_rng(1)
    own, noise = np.ones(PREFIXES), np.full(PREFIXES, NOISE)
    found = []
    for _ in range(BINS):
        wrong = rng.normal(0, truly**0.5, PREFIXES)
        apart = wrong - rng.normal(0, NOISE**0.5, PREFIXES)
        found.append(enlargement(apart**2 - NOISE, own, noise))
    return found


def test_what_few_prefixes_tell_is_seldom_too_little() -> None:
    # The estimate itself would be too small in half of the bins.
    assert np.mean(np.array(factors(8.0)) < 8.0) < 0.47


def test_caution_is_no_exaggeration() -> None:
    assert np.median(factors(8.0)) < 12.0


def test_errors_are_never_made_smaller() -> None:
    own, noise = np.full(PREFIXES, 4.0), np.full(PREFIXES, NOISE)
    assert enlargement(np.zeros(PREFIXES), own, noise) == 1.0


def test_no_prefixes_tell_nothing() -> None:
    nothing = np.zeros(0)
    assert enlargement(nothing, nothing, nothing) == 1.0


def test_long_prefixes_do_not_lend_their_errors_to_short_ones() -> None:
    rng = np.random.default_rng(2)
    depth = np.repeat([0, 2, 5], [1, PREFIXES, PREFIXES])
    wrong = rng.normal(0, np.where(depth > 2, 30.0, 1.0))
    through = rng.uniform(500, 600, len(depth))
    errors = standard_errors(
        PublishedPrefixes(
            through=through,
            depth=depth,
            measured=through - wrong,
            noise=np.full(len(depth), 1.0),
            own=np.ones(len(depth)),
        ),
        np.ones(len(depth), dtype=np.bool_),
    )
    assert np.median(errors[depth == 5]) > 10 * np.median(errors[depth == 2])


def test_counts_that_noise_made_sure_have_larger_errors() -> None:
    """Many true counts of about two errors: published are those that came out larger."""
    rng = np.random.default_rng(3)
    true = np.full(100_000, 2.0)
    found = true + rng.standard_normal(len(true))
    chosen = found >= SURE
    plain = np.abs(found - true)[chosen] <= 1.96
    errors = once_chosen(found[chosen], np.ones(int(chosen.sum())))
    enlarged = np.abs(found - true)[chosen] <= 1.96 * errors
    assert enlarged.mean() > plain.mean() + 0.005


def test_counts_that_are_well_sure_keep_their_errors() -> None:
    errors = np.array([1.0, 2.0])
    assert once_chosen(np.array([100.0, 10.0]), errors).tolist() == [1.0, 2.0]


def test_without_groups_records_end_where_no_child_continues_them() -> None:
    parent = np.array([-1, -1, 0, 0, 2])
    counts = np.array([10, 4, 5, 3, 5])
    prefixes = np.ones(5, dtype=np.bool_)
    assert ends_of(parent, prefixes, counts).tolist() == [2, 4, 0, 3, 5]


def test_records_lost_in_a_group_end_at_the_prefix_before_it() -> None:
    # group 0 > stop 1 > groups 2 and 3; group 2 > stop 4; group 3 has no kept location.
    parent = np.array([-1, 0, 1, 1, 2])
    prefixes = np.array([False, True, False, False, True])
    counts = np.array([20, 15, 8, 4, 6])
    assert ends_of(parent, prefixes, counts).tolist() == [0, 9, 0, 0, 6]


def test_records_lost_on_several_levels_of_groups_end_at_the_same_prefix() -> None:
    # stop 2 lies below groups 0 and 1, stop 5 below stop 2 and groups 3 and 4.
    parent = np.array([-1, 0, 1, 2, 3, 4])
    prefixes = np.array([False, False, True, False, False, True])
    counts = np.array([30, 25, 20, 12, 9, 7])
    assert ends_of(parent, prefixes, counts).tolist() == [0, 0, 13, 0, 0, 7]


def test_a_tree_without_nodes_has_no_ends() -> None:
    nobody = np.empty(0, dtype=np.int64)
    assert ends_of(nobody, nobody.astype(np.bool_), nobody).tolist() == []
