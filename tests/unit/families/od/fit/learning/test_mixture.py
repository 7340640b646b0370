import numpy as np

from hushway.families.od.fit.learning.likelihood import (
    COLUMNS,
    REACH,
    UNCHANGED,
    factors,
    mixture_components,
)


def test_every_law_is_made_of_probabilities() -> None:
    laws = mixture_components()
    assert laws.shape[1] == COLUMNS
    assert laws.min() >= 0
    np.testing.assert_allclose(laws.sum(axis=1), 1, rtol=1e-13)


def test_every_law_has_mean_one_so_that_an_expectation_stays_what_it_was() -> None:
    np.testing.assert_allclose(mixture_components() @ factors(), 1, rtol=1e-12)


def test_a_factor_may_be_nothing_or_one_or_any_step_up_and_down() -> None:
    found = factors()
    assert found[0] == 0
    assert found[UNCHANGED] == 1
    assert len(found) == COLUMNS == 2 * REACH + 2
    np.testing.assert_allclose(found[1:] * found[:0:-1], 1)


def test_laws_reach_from_no_spread_at_all_to_almost_all_counts_empty() -> None:
    laws = mixture_components()
    variances = laws @ factors() ** 2 - 1
    assert variances.min() < 1e-12
    assert variances.max() > 100
    assert laws[:, 0].max() > 0.99
    assert len(np.unique(laws.round(9), axis=0)) == len(laws)
