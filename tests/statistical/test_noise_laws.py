"""Draws have the law they claim. Fixed seeds: no luck, good or bad, after the first run."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hushway.privacy.noise.exponential import exponential_choice, uniform_below
from hushway.privacy.noise.gaussian import DiscreteGaussian, StepCoin
from hushway.privacy.noise.grouped_draws import binomial, uniform_subsets
from hushway.privacy.noise.inversion import InversionTable, NoiseLaw
from hushway.privacy.noise.laplace import (
    DiscreteLaplace,
    _magnitudes,
    bernoulli,
    exactly,
    geometric,
    geometric_below,
    signed,
)
from hushway.privacy.randomness import SeededSource
from support.goodness_of_fit import chi_square, kolmogorov
from support.long import often

Cumulative = Callable[[NDArray[np.int64]], NDArray[np.float64]]
Law = tuple[NoiseLaw, float]

DRAWS = 400_000
ENOUGH = 1e-4  # one in ten thousand seeds would fail; the seeds below do not

SMALL: list[Law] = [
    (DiscreteLaplace(Fraction(1, 3)), 1 / 3),
    (DiscreteLaplace(Fraction(1)), 1.0),
    (DiscreteLaplace(Fraction(10)), 10.0),
    (DiscreteLaplace(Fraction(1000)), 1000.0),
    (DiscreteLaplace(Fraction(3000)), 3000.0),
    (DiscreteGaussian(Fraction(1, 9)), 1 / 3),
    (DiscreteGaussian(Fraction(1)), 1.0),
    (DiscreteGaussian(Fraction(100)), 10.0),
    (DiscreteGaussian(Fraction(10**6)), 1000.0),
    (DiscreteGaussian(Fraction(9 * 10**6)), 3000.0),
]
LARGE: list[Law] = [
    (DiscreteLaplace(Fraction(10**5)), 1e5),
    (DiscreteLaplace(Fraction(10**7)), 1e7),
    (DiscreteGaussian(Fraction(10**10)), 1e5),
    (DiscreteGaussian(Fraction(10**14)), 1e7),
]


def log_weight(law: NoiseLaw, z: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    if isinstance(law, DiscreteLaplace):
        return -np.abs(z) / scale
    return -((z / scale) ** 2) / 2


def masses(law: NoiseLaw, scale: float, low: int, high: int) -> NDArray[np.float64]:
    """P(Z = low .. high-1 | low <= Z < high), in floating point."""
    logs = log_weight(law, np.arange(low, high, dtype=np.float64), scale)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def cumulative(law: NoiseLaw, scale: float) -> Cumulative:
    """P(Z <= k) of a wide law; for the Gaussian by the midpoint rule, exact to 1e-10 here."""
    if isinstance(law, DiscreteLaplace):
        ratio = np.exp(-1 / scale)
        return lambda k: np.where(
            k >= 0,
            1 - np.exp(-(np.maximum(k, 0) + 1) / scale) / (1 + ratio),
            np.exp(np.minimum(k, 0) / scale) / (1 + ratio),
        )
    return lambda k: stats.norm.cdf((k + 0.5) / scale)


@pytest.mark.parametrize(("law", "scale"), SMALL, ids=str)
def test_noise_of_a_small_scale_has_its_law(law: NoiseLaw, scale: float) -> None:
    reach = int(40 * scale) + 2
    draws = law.draw(SeededSource(11), DRAWS)
    observed = np.bincount(draws + reach, minlength=2 * reach + 1)
    assert chi_square(observed, masses(law, scale, -reach, reach + 1)) > ENOUGH


@pytest.mark.parametrize(("law", "scale"), LARGE, ids=str)
def test_noise_of_a_large_scale_has_its_law(law: NoiseLaw, scale: float) -> None:
    draws = law.draw(SeededSource(12), DRAWS)
    assert kolmogorov(draws, cumulative(law, scale)) > ENOUGH


@pytest.mark.parametrize(("law", "scale"), LARGE, ids=str)
def test_the_low_digits_of_noise_of_a_large_scale_are_uniform(law: NoiseLaw, scale: float) -> None:
    digits = law.draw(SeededSource(13), DRAWS) % 512
    assert scale > 512
    assert chi_square(np.bincount(digits, minlength=512), np.full(512, 1 / 512)) > ENOUGH


@pytest.mark.parametrize(("law", "scale"), SMALL + LARGE, ids=str)
def test_noise_has_mean_zero_and_its_stated_variance(law: NoiseLaw, scale: float) -> None:
    draws = law.draw(SeededSource(14), DRAWS).astype(np.float64)
    variance = float(law.variance)
    if isinstance(law, DiscreteGaussian) and scale < 1:
        probabilities = masses(law, scale, -20, 21)
        variance = float((probabilities * np.arange(-20, 21) ** 2).sum())
    assert abs(draws.mean()) < 4 * np.sqrt(variance / DRAWS)
    fourth = np.mean(draws**4)
    assert abs(np.mean(draws**2) - variance) < 4 * np.sqrt((fourth - variance**2) / DRAWS)


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian])
def test_noise_of_the_smallest_scale_is_zero_for_all_we_can_see(
    law: Callable[[Fraction], NoiseLaw],
) -> None:
    assert not law(Fraction(1, 100)).draw(SeededSource(15), DRAWS).any()


def assert_law(law: NoiseLaw, scale: float, draws: NDArray[np.int64]) -> None:
    low, high = int(draws.min()), int(draws.max()) + 1
    assert chi_square(np.bincount(draws - low), masses(law, scale, low, high)) > ENOUGH


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2), Fraction(50)])
def test_laplace_noise_put_together_from_digits_has_the_law_of_the_table(scale: Fraction) -> None:
    """The way of the large scales, at scales where every single value can be compared."""
    law = DiscreteLaplace(scale)
    assert_law(law, float(scale), law._from_geometric(SeededSource(51), DRAWS))


@pytest.mark.parametrize("sigma", [Fraction(1, 2), Fraction(5, 3), Fraction(20)])
def test_gaussian_noise_kept_from_laplace_noise_has_the_law_of_the_table(sigma: Fraction) -> None:
    law = DiscreteGaussian(sigma**2)
    assert_law(law, float(sigma), law._from_laplace(SeededSource(52), 200_000))


@pytest.mark.parametrize("window", [(4, 9), (4, None), (30, 33), (12, 13)], ids=str)
def test_gaussian_noise_above_a_threshold_has_the_law_of_the_table(
    window: tuple[int, int | None],
) -> None:
    low, high = window
    law = DiscreteGaussian(Fraction(25))
    draws = law._excess(SeededSource(53), 30_000, low, high)
    end = low + 60 if high is None else high
    assert draws.min() >= low
    assert draws.max() < end
    if end - low > 1:
        observed = np.bincount(draws - low, minlength=end - low)
        assert chi_square(observed, masses(law, 5.0, low, end)) > ENOUGH


@pytest.mark.parametrize("window", [(-3, 4), (0, None), (-40, 2)], ids=str)
def test_gaussian_noise_kept_inside_a_window_has_the_law_of_the_table(
    window: tuple[int, int | None],
) -> None:
    low, high = window
    law = DiscreteGaussian(Fraction(25))
    draws = law._by_rejection(SeededSource(54), 30_000, low, high)
    end = 60 if high is None else high
    assert draws.min() >= low
    assert draws.max() < end
    observed = np.bincount(draws - low, minlength=end - low)
    assert chi_square(observed, masses(law, 5.0, low, end)) > ENOUGH


@pytest.mark.parametrize("scale", [Fraction(1, 5), Fraction(3), Fraction(40), Fraction(2000)])
def test_geometric_numbers_have_their_law(scale: Fraction) -> None:
    draws = geometric(SeededSource(16), DRAWS, scale)
    size = int(60 * scale) + 40
    ratio = np.exp(-1 / float(scale))
    assert (
        chi_square(np.bincount(draws, minlength=size), (1 - ratio) * ratio ** np.arange(size))
        > ENOUGH
    )


@pytest.mark.parametrize("limit", [2, 7, 1024, 1025, 3000, 4096])
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(700), Fraction(10**7)])
def test_geometric_numbers_below_a_limit_have_their_law(scale: Fraction, limit: int) -> None:
    draws = geometric_below(SeededSource(17), 200_000, scale, limit)
    weights = np.exp(-np.arange(limit) / float(scale))
    assert chi_square(np.bincount(draws, minlength=limit), weights / weights.sum()) > ENOUGH


WINDOWS = [
    (0, 1000),
    (-3, 4),
    (-1, 2),
    (2, 9),
    (-9, -2),
    (-200, 1),
    (-200, 0),
    (-5, None),
    (0, None),
    (1, None),
    (60, None),
    (60, 64),
    (-64, -60),
    (500, None),
    (-2500, 3),
    (-70_000, -30),
    (-70_000, 25),
    (30, 70_000),
]


CONDITIONED: list[Law] = [
    (DiscreteLaplace(Fraction(1, 2)), 0.5),
    (DiscreteLaplace(Fraction(20)), 20.0),
    (DiscreteLaplace(Fraction(2500)), 2500.0),
    (DiscreteGaussian(Fraction(1, 4)), 0.5),
    (DiscreteGaussian(Fraction(400)), 20.0),
    (DiscreteGaussian(Fraction(6_250_000)), 2500.0),
]


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@pytest.mark.parametrize(("law", "scale"), CONDITIONED, ids=str)
def test_noise_given_a_window_has_its_conditional_law(
    law: NoiseLaw, scale: float, window: tuple[int, int | None]
) -> None:
    """Beyond the ends used here the law has less mass than 1e-16 of the window's."""
    low, high = window
    top = high if high is not None else max(low, 0) + int(45 * scale) + 3
    bottom = max(low, min(0, top) - int(45 * scale) - 3)
    draws = law.draw_between(SeededSource(18), 30_000, low, high)
    assert bottom <= draws.min()
    assert draws.max() < top
    observed = np.bincount(draws - bottom, minlength=top - bottom)
    probabilities = masses(law, scale, bottom, top)
    if probabilities.max() > 1 - 1e-3:
        assert observed[probabilities.argmax()] >= 29_900
    else:
        assert chi_square(observed, probabilities) > ENOUGH


@pytest.mark.parametrize(("low", "high"), [(-(10**7), 10**7), (5 * 10**6, None), (-(10**8), -3)])
def test_noise_of_the_largest_scale_given_a_window_has_its_conditional_law(
    low: int, high: int | None
) -> None:
    law = DiscreteLaplace(Fraction(10**7))
    whole = cumulative(law, 1e7)
    under = whole(np.array(low - 1))
    over = 1.0 if high is None else whole(np.array(high - 1))
    draws = law.draw_between(SeededSource(19), 100_000, low, high)
    assert kolmogorov(draws, lambda k: (whole(k) - under) / (over - under)) > ENOUGH


@pytest.mark.parametrize("low", [-(10**5), 0, 10**5, 3 * 10**5])
def test_wide_gaussian_noise_above_a_threshold_has_its_conditional_law(low: int) -> None:
    law = DiscreteGaussian(Fraction(10**10))
    draws = law.draw_between(SeededSource(20), 50_000, low, None)
    over = stats.norm.sf((low - 0.5) / 1e5)
    assert kolmogorov(draws, lambda k: 1 - stats.norm.sf((k + 0.5) / 1e5) / over) > ENOUGH


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 1000), Fraction(999, 1000)])
def test_coins_have_their_chance(chance: Fraction) -> None:
    heads = int(bernoulli(SeededSource(21), DRAWS, exactly(chance)).sum())
    p = float(chance)
    assert chi_square([heads, DRAWS - heads], [p, 1 - p]) > ENOUGH


@pytest.mark.parametrize("steps", [0, 1, 255, 256, 70_000, 123_456, 1_000_003])
def test_step_coins_have_their_chance(steps: int) -> None:
    tossed = StepCoin(Fraction(1, 10**5)).toss(SeededSource(22), np.full(DRAWS, steps))
    chance = np.exp(-steps / 10**5)
    assert stats.binomtest(int(tossed.sum()), DRAWS, chance).pvalue > ENOUGH


def test_step_coins_of_different_steps_do_not_disturb_each_other() -> None:
    steps = np.tile(np.array([0, 1, 300, 80_000, 200_000], dtype=np.int64), 50_000)
    tossed = StepCoin(Fraction(1, 10**5)).toss(SeededSource(23), steps)
    for kind in (0, 1, 300, 80_000, 200_000):
        heads = int(tossed[steps == kind].sum())
        assert stats.binomtest(heads, 50_000, np.exp(-kind / 10**5)).pvalue > ENOUGH


@pytest.mark.parametrize(
    ("trials", "chance"),
    often(
        [(1, Fraction(1, 3)), (6, Fraction(1, 3)), (10, Fraction(9, 10)), (40, Fraction(1, 20))],
        first=2,
    ),
)
def test_binomial_draws_have_their_law(trials: int, chance: Fraction) -> None:
    source = SeededSource(24)
    draws = [binomial(source, trials, exactly(chance)) for _ in range(2000)]
    observed = np.bincount(draws, minlength=trials + 1)
    law = stats.binom.pmf(np.arange(trials + 1), trials, float(chance))
    assert chi_square(observed, law) > ENOUGH


@pytest.mark.parametrize("mean", often([Fraction(3, 2), Fraction(400)]))
def test_binomial_draws_of_a_trillion_trials_have_their_law(mean: Fraction) -> None:
    source = SeededSource(25)
    trials = 10**12
    chance = exactly(mean / trials)
    draws = [binomial(source, trials, chance) for _ in range(300)]
    assert kolmogorov(draws, lambda k: stats.poisson.cdf(k, float(mean))) > ENOUGH


def test_binomial_draws_of_a_billion_fair_coins_are_nearly_normal() -> None:
    draws = np.array([binomial(SeededSource(s), 10**9, exactly(Fraction(1, 2))) for s in range(12)])
    scores = (draws - 5e8) / np.sqrt(2.5e8)
    assert abs(scores).max() < 4
    assert stats.kstest(scores, "norm").pvalue > ENOUGH


@pytest.mark.parametrize("limit", [3, 10, 3 << 61, (1 << 63) - 1, 1 << 63])
def test_uniform_numbers_fill_equal_parts_equally(limit: int) -> None:
    parts = min(limit, 12)
    draws = uniform_below(SeededSource(26), DRAWS, limit)
    edges = [-(-limit * i // parts) for i in range(parts)]
    observed = np.bincount(np.searchsorted(edges, draws, side="right") - 1, minlength=parts)
    sizes = np.diff([*edges, limit]).astype(np.float64)
    assert chi_square(observed, sizes / sizes.sum()) > ENOUGH


@pytest.mark.parametrize("limit", [3 << 61, (1 << 63) - 1, 1 << 63])
def test_the_residues_of_wide_uniform_numbers_are_equally_likely(limit: int) -> None:
    draws = uniform_below(SeededSource(26), DRAWS, limit)
    assert chi_square(np.bincount(draws % 3, minlength=3), np.full(3, 1 / 3)) > ENOUGH


@pytest.mark.parametrize(
    ("count", "universe"), often([(2, 5), (3, 5), (1, 4), (3, 6), (4, 6)], first=2)
)
def test_every_subset_is_equally_likely(count: int, universe: int) -> None:
    source = SeededSource(27)
    subsets = {subset: i for i, subset in enumerate(combinations(range(universe), count))}
    observed = np.zeros(len(subsets))
    for _ in range(8000):
        observed[subsets[tuple(uniform_subsets(source, [count], [universe]).tolist())]] += 1
    assert chi_square(observed, np.full(len(subsets), 1 / len(subsets))) > ENOUGH


def test_a_subset_of_a_trillion_is_spread_evenly() -> None:
    subset = uniform_subsets(SeededSource(28), [100_000], [10**12])
    assert kolmogorov(subset, lambda k: (k + 1) / 1e12) > ENOUGH


def test_choices_have_the_weights_of_the_exponential_mechanism() -> None:
    scores = np.array([3, 0, 1, 1, 7, 0], dtype=np.int64)
    source = SeededSource(29)
    chosen = [exponential_choice(source, scores, Fraction(2, 5)) for _ in range(6000)]
    weights = np.exp(-0.4 * scores)
    assert chi_square(np.bincount(chosen, minlength=6), weights / weights.sum()) > ENOUGH


def test_a_table_rounded_to_53_bits_passes_the_chi_square_test() -> None:
    """Which is why the tables are certified entry by entry, and not only tested like this."""
    exact = _magnitudes(Fraction(10))
    mutant = InversionTable(exact._law)
    mutant.thresholds = exact.thresholds.astype(np.float64).astype(np.uint64)
    mutant.thresholds[-1] = exact.thresholds[-1]
    assert (mutant.thresholds != exact.thresholds).any()
    draws = signed(mutant, SeededSource(30), DRAWS)
    observed = np.bincount(draws + 500, minlength=1001)
    law = DiscreteLaplace(Fraction(10))
    assert chi_square(observed, masses(law, 10.0, -500, 501)) > ENOUGH


@pytest.mark.parametrize("wrong", [9.7, 10.3])
def test_a_scale_that_is_three_percent_off_fails_the_chi_square_test(wrong: float) -> None:
    law = DiscreteLaplace(Fraction(10))
    draws = law.draw(SeededSource(31), DRAWS)
    observed = np.bincount(draws + 500, minlength=1001)
    assert chi_square(observed, masses(law, wrong, -500, 501)) < ENOUGH
