"""What other steps say helps where it still holds, and does no harm where it does not."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.od.fit.learning.empirical_bayes import Posterior, empirical_bayes
from hushway.families.od.fit.learning.prior import NoisySums, prior_mean
from hushway.families.od.fit.learning.series import NoisyStep, Pool, learn_from_steps
from hushway.families.od.fit.partitions import Partition
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace

PLACES, PERIODS = 12, 3
PAIRS = PLACES * PLACES
BY_ORIGIN = Partition(
    period_class=np.arange(PERIODS, dtype=np.int32),
    pair_class=np.repeat(np.arange(PLACES, dtype=np.int32), PLACES),
    periods=PERIODS,
    classes=PLACES,
)
BY_DESTINATION = Partition(
    period_class=np.arange(PERIODS, dtype=np.int32),
    pair_class=np.tile(np.arange(PLACES, dtype=np.int32), PLACES),
    periods=PERIODS,
    classes=PLACES,
)
LAWS: dict[str, NoiseLaw] = {
    "gaussian": DiscreteGaussian(Fraction(400)),
    "laplace": DiscreteLaplace(Fraction(14)),
}
DISTANCE = np.zeros(PAIRS, dtype=np.int32)
EVERY = np.ones(PAIRS, dtype=bool)


def rates(seed: int) -> FloatArray:
    """Returns trips to expect, which margins do not explain."""
    rng = np.random.default_rng(seed)
    size = np.exp(rng.normal(1.0, 1.5, (PLACES, PLACES)))
    return np.repeat(size.reshape(1, PAIRS), PERIODS, axis=0)


def noisy(rng: np.random.Generator, counts: IntArray, law: NoiseLaw) -> IntArray:
    deviation = float(law.variance) ** 0.5
    if isinstance(law, DiscreteGaussian):
        drawn = rng.normal(0, deviation, counts.shape)
    else:
        drawn = rng.laplace(0, deviation / 2**0.5, counts.shape)
    return np.asarray(counts + np.rint(drawn).astype(np.int64))


def step(rng: np.random.Generator, counts: IntArray, law: NoiseLaw) -> NoisyStep:
    sums = [
        NoisySums(partition=each, values=noisy(rng, summed(each, counts), law), law=law)
        for each in (BY_ORIGIN, BY_DESTINATION)
    ]
    return NoisyStep(cells=noisy(rng, counts, law), law=law, sums=sums, known=EVERY)


def summed(partition: Partition, counts: IntArray) -> IntArray:
    return np.rint(partition.sums(counts.astype(np.float64))).astype(np.int64)


def alone(one: NoisyStep) -> Posterior:
    told = [each for each in one.sums if each is not None]
    return empirical_bayes(one.cells, prior_mean(told, one.cells, one.law, DISTANCE), one.law)


def together(one: NoisyStep, others: list[NoisyStep], *, known: BoolArray = EVERY) -> Posterior:
    pool = Pool(partitions=[BY_ORIGIN, BY_DESTINATION], known=known)
    for other in others:
        pool.add(other, 1.0)
    told = [each for each in one.sums if each is not None]
    return learn_from_steps(alone(one), pool.learnt(DISTANCE), told, one.cells, one.law)


def error(posterior: Posterior, counts: IntArray) -> float:
    return float(np.sqrt(np.mean((posterior.mean - counts) ** 2)))


@pytest.mark.parametrize(("law", "gain"), [*zip(LAWS.values(), (1.4, 1.2), strict=True)], ids=LAWS)
def test_steps_before_help_where_nothing_changed(law: NoiseLaw, gain: float) -> None:
    rng = np.random.default_rng(1)
    now, *before = (rng.poisson(rates(7)) for _ in range(7))
    one = step(rng, now, law)
    found = together(one, [step(rng, each, law) for each in before])
    assert error(found, now) < error(alone(one), now) / gain
    assert np.mean((found.mean - now) ** 2) < 2 * found.variance.mean()


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_another_city_before_does_hardly_any_harm(law: NoiseLaw) -> None:
    rng = np.random.default_rng(2)
    now = rng.poisson(20 * rates(7))
    before = [step(rng, rng.poisson(20 * rates(99)), law) for _ in range(6)]
    one = step(rng, now, law)
    assert error(together(one, before), now) < 1.1 * error(alone(one), now)


def test_a_place_that_closed_is_not_smoothed_away() -> None:
    rng, law = np.random.default_rng(3), LAWS["gaussian"]
    before = [step(rng, rng.poisson(5 * rates(7)), law) for _ in range(6)]
    after = rng.poisson(5 * rates(7))
    busiest = int(np.argmax(rates(7)[0].reshape(PLACES, PLACES).sum(axis=1)))
    after.reshape(PERIODS, PLACES, PLACES)[:, busiest] = 0
    one = step(rng, after, law)
    place = together(one, before).mean.reshape(PERIODS, PLACES, PLACES)[:, busiest]
    usual = 5 * rates(7).reshape(PERIODS, PLACES, PLACES)[:, busiest]
    assert place.sum() < 0.1 * usual.sum()


def test_pairs_that_no_other_step_knows_stand_alone() -> None:
    rng, law = np.random.default_rng(4), LAWS["gaussian"]
    one, other = (step(rng, rng.poisson(rates(7)), law) for _ in range(2))
    known = np.arange(PAIRS) % 5 > 0
    found = together(one, [other], known=known)
    assert (found.mean[:, ~known] == alone(one).mean[:, ~known]).all()
    assert (found.mean[:, known] != alone(one).mean[:, known]).any()


def test_a_pool_is_as_large_as_one_step_and_less_noisy_for_its_level() -> None:
    rng, law = np.random.default_rng(5), LAWS["gaussian"]
    pool = Pool(partitions=[BY_ORIGIN, BY_DESTINATION], known=EVERY)
    counts = rng.poisson(30 * rates(7))
    for _ in range(9):
        pool.add(step(rng, counts, law), 1.0)
    assert pool.steps == 9
    learnt = pool.learnt(DISTANCE)
    scaled = learnt.scaled(counts.sum() / learnt.mean.sum())
    assert np.sqrt(np.mean((scaled.mean - counts) ** 2)) < 0.6 * float(law.variance) ** 0.5
