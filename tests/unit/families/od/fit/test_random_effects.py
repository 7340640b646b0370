"""Variances of sums, beside a covariance that is written out."""

from dataclasses import replace

import numpy as np
import pytest

from hushway.families.od.fit.random_effects import RandomEffects, are_effects
from hushway.families.od.fit.table import ODTable


def test_variances_of_sums_are_those_of_the_whole_covariance(learnt: ODTable) -> None:
    effects = RandomEffects(
        origin=0.3,
        destination=0.2,
        origin_by_period=0.4,
        destination_by_period=0.6,
        period=0.1,
        pair=0.5,
    )
    universe, cells = learnt.universe, learnt.cells
    own = learnt.standard_errors**2
    period, origin, destination = (np.equal.outer(x, x) for x in universe.decode(cells))
    shared = np.zeros((len(cells), len(cells)))
    for same, effect in (
        (period, 0.1),
        (origin, 0.3),
        (destination, 0.2),
        (period & origin, 0.4),
        (period & destination, 0.6),
    ):
        every, groups = same @ own, np.sum(1 / same.sum(axis=1))
        shared += effect * same * (every + own.sum() / groups) / 2 / every**2
    pair = origin & destination
    covariance = np.outer(own, own) * (shared + 0.5 * pair / (pair @ own))
    np.fill_diagonal(covariance, own)
    sums = np.arange(len(cells)) % 3
    inside = np.equal.outer(np.arange(4), sums)
    expected = np.diag(inside @ covariance @ inside.T)
    np.testing.assert_allclose(effects.variances(universe, cells, own, sums, 4), expected)
    rest = replace(effects, unlisted=3.0)
    errors = learnt.standard_errors / 2
    np.testing.assert_allclose(rest.variances_of_rows(universe, cells, errors, sums, 4), expected)


GOOD = {
    "origin": 0.0,
    "destination": 0.1,
    "origin_by_period": 0.1,
    "destination_by_period": 0.1,
    "period": 0.1,
    "pair": 0.1,
    "unlisted": 0.5,
}


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"origin": 0.1, "destination": 0.1},
        GOOD | {"pair": 1},
        GOOD | {"pair": -0.1},
        GOOD | {"destination": float("nan")},
        GOOD | {"more": 0.1},
    ],
)
def test_only_amounts_by_name_are_effects(wrong: object) -> None:
    assert are_effects(GOOD)
    assert not are_effects(wrong)
