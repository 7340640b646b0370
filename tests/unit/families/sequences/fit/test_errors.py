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
