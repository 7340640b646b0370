"""What is learnt from values that show and from how many do not, against learning from all."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.families.od.fit.learning.censored import Candidates, learn_censored
from hushway.families.od.fit.learning.empirical_bayes import empirical_bayes
from hushway.families.od.fit.learning.factor_model import Blocks, CellList, FactorModel
from hushway.families.od.fit.learning.likelihood import likelihood_of, value_classes, with_censored
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource

PERIODS, PLACES = 4, 60
ALIKE = np.zeros(PLACES, dtype=np.int32)
NOBODY = np.zeros(0, dtype=np.int64)
NONE = CellList(period=NOBODY, origin=NOBODY, destination=NOBODY)


@pytest.mark.parametrize(
    "law",
    [DiscreteLaplace(Fraction(2)), DiscreteGaussian(Fraction(9)), DiscreteGaussian(Fraction(1))],
)
@pytest.mark.parametrize("threshold", [-3, 1, 6])
def test_hidden_and_shown_values_together_are_all_there_are(law: NoiseLaw, threshold: int) -> None:
    values = np.arange(-60, 200)
    classes = value_classes(values, 1e-9)
    tables = likelihood_of(law, classes, 5.0)
    place = classes.of(values[values >= threshold])
    found = with_censored(tables, law, threshold)
    rows = tables.expectations < 5
    assert found.probability[rows, -1] + found.probability[rows][:, place].sum(
        axis=1
    ) == pytest.approx(np.ones(rows.sum()), abs=1e-6)
    means = found.first[rows, -1] + found.first[rows][:, place].sum(axis=1)
    assert means == pytest.approx(tables.expectations[rows], rel=1e-3, abs=1e-6)


def test_little_is_lost_by_not_looking_at_small_values() -> None:
    rng = np.random.default_rng(6)
    expected = FactorModel(
        blocks=Blocks(origin=ALIKE, destination=ALIKE, rows=1, columns=1),
        origins=rng.gamma(0.5, 1, (PERIODS, PLACES)),
        destinations=rng.gamma(0.5, 1, (PERIODS, PLACES)),
        between=np.full((PERIODS, 1, 1), 1.5),
    )
    period, origin, destination = (part.ravel() for part in np.indices((PERIODS, PLACES, PLACES)))
    rates = expected.at(CellList(period=period, origin=origin, destination=destination))
    lines = rng.gamma(0.4, 2.5, PLACES**2)
    counts = rng.poisson(rates * np.tile(lines, PERIODS))
    law = DiscreteLaplace(Fraction(3, 2))
    values = counts + law.draw(SeededSource(3), len(counts))
    seen = values.reshape(PERIODS, -1)
    whole = empirical_bayes(seen, rates.reshape(seen.shape), law).mean.ravel()

    threshold = 3
    chosen = np.flatnonzero((values >= threshold) | (rates >= 0.25))
    chosen = chosen[np.argsort(chosen % PLACES**2, kind="stable")]
    found = learn_censored(
        Candidates(
            cells=CellList(
                period=period[chosen], origin=origin[chosen], destination=destination[chosen]
            ),
            values=values[chosen],
            threshold=threshold,
        ),
        expected,
        NONE,
        law,
    )
    guess = rates.copy()
    guess[chosen] = found.mean
    errors = [float(np.sqrt(np.mean((each - counts) ** 2))) for each in (whole, guess, values)]
    assert errors[1] < 1.15 * errors[0] < 0.8 * errors[2]
    # Errors are as large as they are said to be, within a third.
    off = np.mean((found.mean - counts[chosen]) ** 2)
    assert off == pytest.approx(np.mean(found.variance), rel=0.33)
