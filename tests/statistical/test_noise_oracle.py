"""OpenDP's exact samplers as a second opinion.

OpenDP draws from the operating system, so these tests can fail by chance: with 1e-7 for each of
them, less than once in a million runs of all.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from numpy.typing import NDArray

from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import os_source
from support.goodness_of_fit import two_sample
from support.long import often

Sampler = Callable[[int], NDArray[np.int64]]

DRAWS = 60_000
FALSE_ALARM = 1e-7

dp.enable_features("contrib")


def laplace_of_opendp(scale: float, count: int) -> NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return np.array(dp.m.make_laplace(*space, scale)([0] * count), dtype=np.int64)


def gaussian_of_opendp(sigma: float, count: int) -> NDArray[np.int64]:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    return np.array(dp.m.make_gaussian(*space, sigma)([0] * count), dtype=np.int64)


@pytest.mark.parametrize("scale", often([Fraction(1, 2), Fraction(10), Fraction(3000)]), ids=str)
def test_our_discrete_laplace_agrees_with_the_one_of_opendp(scale: Fraction) -> None:
    ours = DiscreteLaplace(scale).draw(os_source(), DRAWS)
    assert two_sample(ours, laplace_of_opendp(float(scale), DRAWS)) > FALSE_ALARM


@pytest.mark.parametrize("sigma", often([Fraction(1, 2), Fraction(10), Fraction(3000)]), ids=str)
def test_our_discrete_gaussian_agrees_with_the_one_of_opendp(sigma: Fraction) -> None:
    ours = DiscreteGaussian(sigma**2).draw(os_source(), DRAWS)
    assert two_sample(ours, gaussian_of_opendp(float(sigma), DRAWS)) > FALSE_ALARM


@pytest.mark.parametrize(
    ("law", "theirs"),
    [
        (DiscreteLaplace(Fraction(12)), lambda n: laplace_of_opendp(10.0, n)),
        (DiscreteGaussian(Fraction(144)), lambda n: gaussian_of_opendp(10.0, n)),
    ],
    ids=["laplace", "gaussian"],
)
def test_the_comparison_sees_a_scale_that_is_a_fifth_off(law: NoiseLaw, theirs: Sampler) -> None:
    assert two_sample(law.draw(os_source(), DRAWS), theirs(DRAWS)) < FALSE_ALARM
