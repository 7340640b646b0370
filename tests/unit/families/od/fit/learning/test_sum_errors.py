"""What sums say about cells, with noise that is known."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.families.od.fit.learning.empirical_bayes import Posterior
from hushway.families.od.fit.learning.sum_errors import SumErrors, SumsOfCells, random_effects
from hushway.families.od.fit.table import ODTable
from hushway.privacy.noise.laplace import DiscreteLaplace

COUNT = 400


def look(missed: float, noise: float, *, own: float = 4.0, seed: int = 2) -> SumErrors:
    """Sums that cells miss by normal errors of some deviation, and the noise besides."""
    rng = np.random.default_rng(seed)
    truth = np.full(COUNT, 1000.0)
    each = np.full(COUNT, own)
    noisy = truth + np.sqrt(noise) * rng.standard_normal(COUNT)
    return SumErrors.of(
        noisy=np.rint(noisy).astype(np.int64),
        noise=noise,
        cells=SumsOfCells(
            estimates=truth + missed * rng.standard_normal(COUNT), variances=each, yielding=each
        ),
    )


def test_cells_that_are_as_good_as_they_say_are_believed() -> None:
    found = look(missed=2.0, noise=100.0)
    assert found.noise == pytest.approx(100.0)


def test_one_sum_says_no_more_of_its_cells_than_its_noise_lets_it() -> None:
    few, cells = np.array([10.0]), np.array([600.0])
    found = SumErrors.of(
        noisy=np.array([-56]),
        noise=900.0**2,
        cells=SumsOfCells(estimates=few, variances=cells, yielding=cells, noise=24 * cells),
    )
    alone = 24 * cells[0] / (24 * cells[0] + 900.0**2)
    assert cells[0] / (cells[0] + found.noise) == pytest.approx(alone, rel=0.05)


def test_cells_that_miss_by_more_give_way() -> None:
    found = look(missed=40.0, noise=100.0)
    assert found.noise < 1.0
    # The variance of a sum is 1,600 and that of its cells 4.
    assert found.effect == pytest.approx(400, rel=0.25)
    assert np.sqrt(found.variances.mean()) == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("seed", range(8))
def test_noise_that_hides_everything_is_not_taken_for_a_lesson(seed: int) -> None:
    found = look(missed=2.0, noise=1e6, seed=seed)
    # Eight draws of which one in six would do so by chance without the allowance for noise.
    assert found.noise > 1e3


def test_errors_are_no_smaller_than_those_of_what_is_published() -> None:
    found = look(missed=2.0, noise=100.0)
    assert np.all(np.sqrt(found.variances) >= 1.9)


@pytest.mark.parametrize("effect", [0.0, 0.05])
def test_effects_of_places_are_found_under_noise(learnt: ODTable, effect: float) -> None:
    universe = learnt.universe
    shape, own, law = (len(universe.periods), universe.pairs), 4.0, DiscreteLaplace(Fraction(1))
    _, origin, destination = universe.decode(np.arange(universe.pairs))
    lines = np.full(universe.pairs, own * shape[0])
    every = np.full(shape, own)
    posterior = Posterior(mean=every, variance=every, line_factor=lines, line_variance=1.5 * lines)
    rng = np.random.default_rng(4)
    places = len(universe.locations)
    found = []
    for _ in range(200):
        effects = np.sqrt(effect) * rng.standard_normal((2, places))
        error = own * (effects[0, origin] + effects[1, destination])
        missed = error + np.sqrt(float(law.variance)) * rng.standard_normal(shape)
        found.append(random_effects(universe, missed, posterior, law))
    assert all(one.pair == pytest.approx(0.5) for one in found)
    # Products of one period are those of places in it; all others are those of places.
    together = effect * own * universe.pairs / places
    for names, usual in (
        (("origin", "destination"), (shape[0] - 1) * together),
        (("origin_by_period", "destination_by_period"), together),
    ):
        means = np.mean([[getattr(one, name) for name in names] for one in found], axis=0)
        # So few places tell little, and what is usual is believed instead.
        assert np.all((means > 0.5 * usual) & (means < 2 * usual + 0.5))
